"""`transduce export`: write a model as files that another program loads."""

import json
from pathlib import Path
from typing import Any

import click

from transduce.cli import display, options
from transduce.cli.file_path import FilePath


@click.command("export")
@click.argument("model", type=FilePath(path_type=Path))
@click.option(
    "--to",
    required=True,
    type=click.Choice(["ctranslate2", "huggingface", "argos", "onnx"]),
    help="The program that is to load it.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(path_type=Path),
    required=True,
    help="The folder to write; for argos a file, NAME.argosmodel.",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "int8"]),
    default="float32",
    show_default=True,
    help="Number format of the weights; int8 for ctranslate2 and argos.",
)
@click.option(
    "--prove",
    type=FilePath(path_type=Path),
    help="Source lines to translate by the other program and by MODEL, at most 1,000 "
    "(default: 64 lines of random pieces).",
)
@options.languages
@options.force
@options.as_json
@options.quiet
def command(
    *,
    model: Path,
    as_json: bool,
    quiet: bool,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Write MODEL as files that another program loads, and compare the outputs.

    MODEL is a model folder, or a run, whose newest checkpoint is used. If that program is
    installed, it translates some lines before the result gets its name, and the numbers of equal
    outputs and the differences of log P are printed. Standard error says what the other program
    does differently; a model that it cannot compute is refused.

    \b
    transduce export model --to ctranslate2 -o model.ct2 --prove test.en
    """
    from transduce.exports.export import export
    from transduce.machine.process_settings import keep_freed_memory

    keep_freed_memory()
    found = export(model, **option_values)
    for one in () if quiet else found.differences:
        display.print_message(f"note: {one}")
    if found.unproved:
        display.print_message(f"note: {found.unproved}")
    if as_json:
        display.print_result(json.dumps(found.as_json()))
    elif not quiet:
        for line in found.format_proof():
            display.print_message(line)
        display.print_message(f"exported: {found.path}")
