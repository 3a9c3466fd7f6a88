"""`transduce export`: write a model as files that another program loads."""

from pathlib import Path

import click

from transduce.cli import display, options
from transduce.cli.options import argument, option
from transduce.machine.process_settings import keep_freed_memory


@options.make_command("export", options.quiet, options.no_progress)
def command(
    *,
    model: Path = argument(),
    to: str = option(
        "The program that is to load it.",
        required=True,
        type=click.Choice(["ctranslate2", "huggingface", "argos", "bergamot", "onnx"]),
    ),
    output: Path = options.output_folder("The folder to write; for argos a file, NAME.argosmodel."),
    precision: str = option(
        "Number format of the weights; ctranslate2, argos and bergamot accept int8.",
        type=click.Choice(["float32", "int8"]),
        default="float32",
        show_default=True,
    ),
    prove: Path | None = option(
        "A file of source lines, of which up to 1,000 are translated by the other program and by "
        "MODEL and compared (default: 64 lines of random pieces)."
    ),
    languages: tuple[str, ...] | None = options.languages,
    force: bool = options.force,
    as_json: bool = options.as_json,
) -> None:
    """Write MODEL as files that another program loads, and compare the outputs.

    MODEL is a model folder, or a run, whose newest checkpoint is used. If that program is
    installed, it translates some lines before OUTPUT appears, and the numbers of equal
    outputs and the differences of log P are printed. Standard error says what the other program
    does differently; a model that it cannot compute is refused.

    \b
    transduce export model --to ctranslate2 -o model.ct2 --prove test.en
    """
    from transduce.exports.export import export

    keep_freed_memory()
    with display.show_status("writing the export and comparing outputs"):
        found = export(
            model,
            to=to,
            output=output,
            precision=precision,
            prove=prove,
            languages=languages,
            force=force,
        )
    for one in filter(None, (*found.differences, found.unproved)):
        display.print_note(f"note: {one}")
    if as_json:
        display.print_json(found.as_json())
    else:
        display.print_note(*found.format_proof(), f"exported: {found.path}")
