"""`transduce align`: print which words of a source and a target belong together."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.checkpoint.model_files import ALIGNMENT
from transduce.cli import display, options
from transduce.cli.line_outputs import WarningPrinter, open_output, write_lines
from transduce.cli.options import INPUT, Numbers, argument, flag, group, option
from transduce.cli.searching import (
    ModelOptions,
    TranslatorChoice,
    warn_if_unfinished,
    warn_of_sides,
)
from transduce.machine.process_settings import keep_freed_memory
from transduce.text.files import read_pairs, read_short_lines

if TYPE_CHECKING:
    from transduce.inference.choose_heads import AlignmentChoice, ScoredHeads
    from transduce.inference.outputs import Alignment


@options.make_command("align", options.quiet, options.no_progress)
def command(
    *,
    model: Path = argument(),
    source: Path = argument(type=INPUT),
    target: Path = argument(type=INPUT),
    output: Path | None = options.output("The file to write (default: standard output)."),
    layer: int | None = option("Layer of the decoder, from 1.", type=click.IntRange(min=1)),
    heads: tuple[int, ...] | None = option(
        "Heads, such as 1,4 (default: all of the layer).", type=Numbers()
    ),
    unshifted: bool = flag(
        "Use the attention of the step that predicts a word, not of the step that takes it as "
        "input."
    ),
    choose: Path | None = option(
        "Find the layer and heads that best match these gold links, such as 0-0 1p2 (p: possible), "
        "and store that choice in MODEL.",
        type=INPUT,
        metavar="GOLD",
    ),
    models: ModelOptions = group("precision", "strict", "workers", "threads"),
    as_json: bool = options.as_json,
) -> None:
    """Align the words of SOURCE and TARGET by the attention of MODEL, line by line.

    Prints a line of links for each pair, in Pharaoh's format. For example, 0-0 links the first
    words, and 1-2 the second word of SOURCE to the third of TARGET. Spaces separate words.

    A target word is linked to the source word that MODEL attends to most when the target word is
    its input (Chen et al. 2020). --choose finds the layer and heads with the lowest alignment error
    rate on pairs with gold links, and stores them in the model folder; `transduce align` and
    `translate --align` use them from then on. With 20 pairs or more they replace an earlier choice,
    such as `transduce average` makes by words that occur together in the training text.

    \b
    transduce align model dev.en dev.de --choose dev.align
    transduce align model a.en a.de -o a.align
    """
    options.require_one_standard_input(source, target, choose, hint="name the others")
    options.require_writable(output, source, target)
    if choose is not None:
        excluded = ("layer", "heads", "unshifted", "output")
        options.refuse_given(excluded, "and --choose exclude each other", "give one of them")
        without_effect = ("precision", "strict", "workers", "threads")
        options.refuse_given(without_effect, "has no effect with --choose")
        choose_and_store(model, (source, target, choose), as_json=as_json)
        return
    given = {"layer": layer, "heads": heads, "shifted": False if unshifted else None}
    changes = {name: value for name, value in given.items() if value is not None}
    on_warning = WarningPrinter()
    translator = TranslatorChoice(model, models).open(on_warning, source)
    pairs = warn_of_sides(translator, read_pairs(source, target, read_short_lines))
    found = translator.aligning(**changes).align_pairs(pairs)

    def format_line(number: int, one: "Alignment") -> str:
        return f"{json.dumps({'line': number, **one.as_json()}) if as_json else one}\n"

    write_lines(open_output(output), found, format_line, "align")
    on_warning.print_count("not aligned; --strict refuses such pairs")


def choose_and_store(model: Path, files: tuple[Path, Path, Path], *, as_json: bool) -> None:
    """Choose layer and heads by `files` (source, target, gold); print them; store in `model`."""
    from transduce.inference.choose_heads import choose_alignment_heads

    warn_if_unfinished((model,))
    keep_freed_memory()
    choice = choose_alignment_heads(model, *map(str, files))
    for warning in choice.warnings:
        display.print_message(f"warning: {warning}; left out")
    display.print_found(choice.as_json(), format_choice(choice), as_json=as_json)
    display.print_note(f"stored in {model / ALIGNMENT}")


def format_choice(choice: "AlignmentChoice") -> Iterator[str]:
    """Yield the lines of a table of each layer's best heads, then a line that names the choice.

    The table also has the last layer's mean of all heads, unshifted, and any earlier choice.
    """
    rows = [["layer", "heads", "AER", "precision", "recall"]]
    suffixes = {True: "", False: ", unshifted"}
    names = [f"{one.heads.layer}{suffixes[one.heads.shifted]}" for one in choice.layers]
    rows += map(format_row, names, choice.layers)
    rows.append(format_row("last, unshifted", choice.plain))
    if (before := choice.before) is not None:
        name = f"before: {before.heads.layer}{suffixes[before.heads.shifted]}"
        rows.append(format_row(name, before))
    yield from display.align_columns(rows, align_right=True)
    yield f"chosen on {choice.pairs:,} pairs: {choice.best.heads}"


def format_row(name: str, scored: "ScoredHeads") -> list[str]:
    """Return a table row: a name, the heads, and AER, precision and recall in percent."""
    found = scored.result
    figures = [f"{value:.2f}" for value in (found.score, found.precision, found.recall)]
    return [name, ",".join(map(str, scored.heads.heads)), *figures]
