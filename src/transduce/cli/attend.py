"""`transduce attend`: show what each head attends to, as a page, a record or a figure."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.attend_figure import (
    Numbers,
    draw_svg,
    figure_options,
    find_best_heads,
    find_figure_text,
    find_link,
)
from transduce.cli.attend_survey import survey_corpus, survey_options
from transduce.cli.file_path import FilePath
from transduce.cli.searching import (
    TranslatorChoice,
    beam_options,
    choose_translator,
    precision_option,
    warn_if_unfinished,
)
from transduce.errors import InputError
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.view.attention.record import AttentionView

LARGE = 20_000_000  # for a page of more bytes a message says how to make it smaller


@click.command("attend")
@click.argument("model", type=FilePath(path_type=Path))
@click.argument("text", required=False)
@options.output("The page (.html) or the figure (.svg) to write.")
@click.option(
    "--target", help="The output to show, instead of the model's own; with --survey a file."
)
@click.option(
    "--save", type=FilePath(path_type=Path), help="A new folder for all weights and steps."
)
@click.option("--layers", type=Numbers(), help="Layers of the page, such as 5,6 (default: all).")
@click.option(
    "--min",
    "minimum",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    help="Leave smaller weights out of the page; 0.004 makes it a third of its size.",
)
@click.option("--exact", is_flag=True, help="Two bytes a weight in the page, instead of one.")
@click.option("--plain", is_flag=True, help="No compression in the page, for old browsers.")
@figure_options
@survey_options
@beam_options
@precision_option
@options.as_json
@options.quiet
def command(
    *,
    model: Path,
    text: str | None,
    output: Path | None,
    save: Path | None,
    quiet: bool,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Show what each head of MODEL attends to in TEXT and its output: an HTML page.

    TEXT is one sentence, by default the line on standard input. The page needs no network. A record
    (--save) is a folder with the weights of every layer and head, the pieces, and each step of the
    search with its alternatives.

    --figure draws Figure 3, 4 or 5 of the paper, on the paper's sentence or on TEXT, from the
    paper's layer and heads or from others. Heads of another model have other tasks: --find prints
    how strongly each one shows the figure's effect, and draws the strongest.

    --survey surveys all heads on the pairs of a file TEXT, one pair a line with a tab between the
    sides, or with the target sides in the file --target: what each head tends to read, entropy,
    distance, the share of its weights on aligned words, and what the loss gains without it. Prints
    a table; -o writes a page.

    \b
    transduce attend model "The dog sees a cat." -o attention.html
    transduce attend model --figure 4 --find -o figure4.svg
    """
    choice = choose_translator((model,), {**option_values, "strict": False}, 1)
    if option_values["survey"]:
        options.require_writable(output)
        warn_if_unfinished(choice.folders)
        survey_corpus(choice, text, output, {**option_values, "save": save, "quiet": quiet})
        return
    require_consistent_options(output, save, option_values)
    warn_if_unfinished(choice.folders)
    view = record(choice, text, option_values)
    for note in () if quiet else view.notes:
        display.print_message(note)
    if save is not None:
        from transduce.view.attention.files import save_record

        save_record(view, save)
        if not quiet:
            display.print_message(f"the record: {save}")
    if option_values["find"]:
        option_values = find_best_heads(view, option_values)
    if output is not None:
        write_output(view, output, {**option_values, "quiet": quiet})


def require_consistent_options(
    output: Path | None, save: Path | None, option_values: dict[str, Any]
) -> None:
    """Refuse options by which nothing would be written, or which need an option that is missing."""
    require(bool(output or save or option_values["find"]), "nothing to write", "-o page.html")
    require(not option_values["gold"], "--gold is for a survey", "add --survey")
    figure = bool(option_values["figure"])
    require(figure or not option_values["find"], "--find is for a figure", "add --figure 3")
    for name in ("layer", "heads", "word", "read"):
        require(figure or not option_values[name], f"--{name} is for a figure", "add --figure 3")
    if output is not None:
        known = (".svg", ".html") if figure else (".html",)
        if output.suffix not in known:
            raise InputError(f"{output} is no {' or '.join(known)}", "-o page.html")
    options.require_writable(output)


def write_output(view: "AttentionView", output: Path, option_values: dict[str, Any]) -> None:
    """Write the attention page; to an .svg file, write the figure of the paper instead."""
    from transduce.durable import resolve_output, write_atomically

    written = f"the figure: {output}" if output.suffix == ".svg" else f"the page: {output}"
    if output.suffix == ".svg":
        write_atomically(resolve_output(output), draw_svg(view, option_values).encode())
    else:
        if option_values["figure"]:
            written = f"the figure: {output}#{find_link(view, option_values)}"
        write_page(view, output, option_values)
    if not option_values["quiet"]:
        display.print_message(written)


def record(
    choice: TranslatorChoice, text: str | None, option_values: dict[str, Any]
) -> "AttentionView":
    """Return the attention record of a text, by default the figure's or standard input's."""
    from transduce.machine.process_settings import keep_freed_memory
    from transduce.view.attention.recorder import record_attention

    keep_freed_memory()
    translator = choice.load()
    if text is None:
        figure, language = option_values["figure"], translator.recipe.data.source_language
        text = find_figure_text(figure, language) if figure else read_one_line()
    return record_attention(translator, text, option_values["target"])


def read_one_line() -> str:
    """Return the only line of standard input."""
    from transduce.text.files import read_lines

    lines = list(read_lines("-"))
    if len(lines) != 1:
        raise InputError(
            f"standard input has {len(lines):,} lines, and a page shows one",
            "transduce attend MODEL TEXT",
        )
    return lines[0]


def write_page(view: "AttentionView", output: Path, option_values: dict[str, Any]) -> None:
    """Write the HTML page of an attention record; print a message if the page is very large."""
    from transduce.durable import resolve_output, write_atomically
    from transduce.view.attention.encode import WeightEncoding
    from transduce.view.attention.page import build_attention_page

    encoding = WeightEncoding(
        "float16" if option_values["exact"] else "step8",
        option_values["minimum"],
        "none" if option_values["plain"] else "zlib",
    )
    shown = view.select_layers(option_values["layers"]) if option_values["layers"] else view
    page = build_attention_page(shown, encoding).encode()
    write_atomically(resolve_output(output), page)
    if len(page) > LARGE:
        display.print_message(
            f"{output} has {len(page) / 1e6:.0f} MB; --layers and --min make it smaller"
        )
