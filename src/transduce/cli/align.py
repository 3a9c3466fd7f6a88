"""`transduce align`: print which words of a source and a target belong together."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.attend_figure import Numbers
from transduce.cli.file_path import FilePath
from transduce.cli.line_search import FILE, open_output, show_line_count
from transduce.cli.pair_search import run_on_files
from transduce.cli.processes import Processes, process_options
from transduce.cli.searching import (
    TranslatorChoice,
    WarningPrinter,
    precision_option,
    strict_option,
    warn_if_unfinished,
)
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.inference.choose_heads import AlignmentChoice
    from transduce.inference.gold_pairs import ScoredHeads


@click.command("align")
@click.argument("model", type=FilePath(path_type=Path))
@click.argument("source", type=FILE)
@click.argument("target", type=FILE)
@options.output("The file to write (default: standard output).")
@click.option("--layer", type=click.IntRange(min=1), help="Layer of the decoder, from 1.")
@click.option("--heads", type=Numbers(), help="Heads, such as 1,4 (default: all of the layer).")
@click.option(
    "--unshifted",
    is_flag=True,
    help="Read the weights of the step that writes a word, not of the one that reads it.",
)
@click.option(
    "--choose",
    type=FILE,
    metavar="GOLD",
    help="Choose layer and heads by these gold links, 0-0 1p2 2-1, and store them with MODEL.",
)
@precision_option
@strict_option
@process_options
@options.as_json
@options.quiet
@options.no_progress
def command(
    *,
    model: Path,
    source: Path,
    target: Path,
    choose: Path | None,
    processes: Processes,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Align the words of SOURCE and TARGET by the attention of MODEL, line by line.

    Prints a line of links for each pair, in Pharaoh's format: 0-0 1-2 links the first words, and
    the second of SOURCE with the third of TARGET. Words are what blanks separate.

    A word is linked to the word that MODEL attends to most while it reads it (Chen et al. 2020).
    --choose finds the layer and heads with the lowest alignment error rate on pairs with gold
    links, and stores them in the model folder; `transduce align` and `translate --align` use them
    from then on. Without a choice all heads of the middle layer are read.

    \b
    transduce align model dev.en dev.de --choose dev.align
    transduce align model a.en a.de -o a.align
    """
    given = [str(path) for path in (source, target, choose)]
    fact = "standard input can be one of the files only"
    require(given.count("-") < 2, fact, "name the others")
    options.require_writable(option_values["output"], source, target)
    warn_if_unfinished((model,))
    if choose is not None:
        choose_and_store(model, (source, target, choose), option_values)
        return
    choice = TranslatorChoice(
        (model,),
        {},
        precision=option_values["precision"],
        strict=option_values["strict"],
        aligning=choose_heads(option_values),
    )
    write_alignments(choice, (source, target), processes, option_values)


def choose_heads(option_values: Mapping[str, Any]) -> dict[str, Any]:
    """Return --layer, --heads and --unshifted as keyword arguments of the alignment."""
    given = {
        name: option_values[name] for name in ("layer", "heads") if option_values[name] is not None
    }
    return {**given, "shifted": False} if option_values["unshifted"] else given


def write_alignments(
    choice: TranslatorChoice,
    files: tuple[Path, Path],
    processes: Processes,
    option_values: Mapping[str, Any],
) -> None:
    """Align each line of a source file with its line of a target file, and write the links."""
    from transduce.inference.alignment import Alignment

    on_warning = WarningPrinter()
    found = run_on_files(choice, "align_block", files, processes, on_warning)
    live = options.is_live(option_values) and option_values["output"] is not None
    with open_output(option_values["output"]) as file:
        for number, output in enumerate(show_line_count(found, live=live, verb="align"), start=1):
            one = output.alignment or Alignment()
            row = (
                json.dumps({"line": number, **one.as_json()})
                if option_values["as_json"]
                else str(one)
            )
            file.write(f"{row}\n")
    on_warning.print_count("not aligned; --strict refuses such pairs")


def choose_and_store(
    model: Path, files: tuple[Path, Path, Path], option_values: Mapping[str, Any]
) -> None:
    """Choose layer and heads by a file of gold links, store them in the model, and print them."""
    from transduce.checkpoint.alignment_file import ALIGNMENT
    from transduce.inference.choose_heads import choose_alignment_heads
    from transduce.machine.process_settings import keep_freed_memory

    for name in ("layer", "heads", "unshifted", "output"):
        require(
            not option_values[name], f"--{name} and --choose exclude each other", "give one of them"
        )
    keep_freed_memory()
    choice = choose_alignment_heads(model, *map(str, files))
    for warning in choice.warnings:
        display.print_message(f"warning: {warning}; left out")
    lines = [json.dumps(choice.as_json())] if option_values["as_json"] else format_choice(choice)
    for line in lines:
        display.print_result(line)
    display.print_message(f"stored in {model / ALIGNMENT}")


def format_choice(choice: "AlignmentChoice") -> Iterator[str]:
    """Yield table rows: each layer's best heads, the mean of all heads, the chosen heads."""
    rows = [["layer", "heads", "AER", "precision", "recall"]]
    names = {True: "", False: ", unshifted"}
    rows += [
        format_row(f"{one.heads.layer}{names[one.heads.shifted]}", one) for one in choice.layers
    ]
    rows.append(format_row("last, unshifted", choice.plain))
    yield from display.align_columns(display.align_right(rows))
    yield f"chosen on {choice.pairs:,} pairs: {choice.best.heads}"


def format_row(name: str, scored: "ScoredHeads") -> list[str]:
    """Return a table row: a name, the heads, AER, precision and recall in percent."""
    found = scored.result
    figures = [f"{value:.2f}" for value in (found.score, found.precision, found.recall)]
    return [name, ",".join(map(str, scored.heads.heads)), *figures]
