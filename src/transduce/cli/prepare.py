"""`transduce prepare`: clean, encode and store a parallel text for training."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.inputs import corpus_options, read_corpus_options
from transduce.recipes.choice import customise_recipe
from transduce.settings import Recipe

if TYPE_CHECKING:
    from transduce.runs.prepared_corpus import PreparedCorpus


@click.command("prepare")
@click.argument("recipe", type=options.RecipeName())
@corpus_options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder of the prepared corpus.",
)
@options.scale
@options.settings
@options.quiet
def command(
    *,
    recipe: Recipe,
    output: Path,
    scale: str | None,
    changes: Sequence[tuple[str, str]],
    quiet: bool,
    **files: Path | float | None,
) -> None:
    """Clean a parallel text, learn its vocabulary, and store it for training.

    After an interruption, the same command resumes. `transduce train` prepares its texts itself; a
    corpus that is prepared once can serve many runs (`--store`).
    """
    from transduce.runs.prepare import prepare

    with display.show_pair_count(live=not quiet) as on_progress:
        corpus = prepare(
            output,
            *read_corpus_options(files),
            recipe=customise_recipe(recipe, {}, scale),
            settings=dict(changes),
            on_progress=on_progress,
        )
    for line in () if quiet else describe_corpus(corpus):
        display.print_message(line)


def describe_corpus(prepared: "PreparedCorpus") -> list[str]:
    """Describe a prepared corpus in lines: pairs read, kept and left out, and vocabulary sizes."""
    lines = []
    for name, store in (("train", prepared.train), ("dev", prepared.dev)):
        if store is None:
            continue
        cleaning: dict[str, Any] = dict(store.about["cleaning"])
        lines.append(f"{name}: {cleaning['read']:,} pairs read, {len(store):,} kept")
        dropped = dict(cleaning["dropped"])
        if too_long := store.about["pairs"]["too_long"]:
            dropped["too many pieces"] = {"count": too_long, "samples": []}
        if unknown := store.about["pairs"].get("unknown_label", 0):
            dropped["a label that training lacks"] = {"count": unknown, "samples": []}
        for reason, found in dropped.items():
            lines.append(f"  left out, {reason}: {found['count']:,}")
            lines += [
                f"    line {one['line']}: {one['source']} | {one['target']}"
                for one in found["samples"]
            ]
    source, target = prepared.vocabularies
    sizes = f"{len(source):,} symbols for both sides"
    if source is not target:
        sizes = f"{len(source):,} and {len(target):,} symbols"
    return [*lines, f"vocabulary: {sizes}", f"prepared in {prepared.folder}"]
