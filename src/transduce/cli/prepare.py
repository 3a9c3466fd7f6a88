"""`transduce prepare`: clean, encode and store a parallel text for training."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.file_path import FilePath
from transduce.cli.inputs import (
    adaptation_options,
    choose_dev,
    corpus_options,
    no_dev,
    read_corpus_options,
    read_text_options,
)
from transduce.settings import Recipe
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.runs.prepared_corpus import PreparedCorpus


@click.command("prepare")
@click.argument("recipe", type=options.RecipeName(), required=False)
@corpus_options
@no_dev
@adaptation_options
@click.option(
    "-o",
    "--output",
    type=FilePath(path_type=Path),
    required=True,
    help="The folder of the prepared corpus.",
)
@options.languages
@options.scale
@options.settings
@options.quiet
@options.no_progress
def command(  # noqa: PLR0913 - one for each option
    *,
    recipe: Recipe | None,
    no_dev: bool,
    parent: Path | None,
    old_share: float | None,
    output: Path,
    languages: tuple[str, ...] | None,
    scale: str | None,
    changes: Sequence[tuple[str, str]],
    quiet: bool,
    no_progress: bool,
    **files: Path | float | None,
) -> None:
    """Clean a parallel text, learn its vocabulary, and store it for training.

    Without RECIPE one is chosen that fits the text. After an interruption, the same command
    resumes. `transduce train` prepares its texts itself; a corpus that is prepared once can serve
    many runs (`--store`). With --from, the text is encoded with that model's vocabulary, for runs
    that go on from it.

    \b
    transduce prepare --source a.en --target a.de -o STORE
    transduce prepare table3/base --source a.en --target a.de -o STORE
    transduce prepare --from MODEL --pairs new.tsv --old-pairs old.tsv -o STORE
    """
    from transduce.runs.prepare import prepare

    recipe = options.scale_recipe(recipe, scale, "transduce prepare table3/base --scale laptop")
    train, dev = read_corpus_options(files)
    require(
        any(one is not None for one in (recipe, parent, train)),
        "neither a recipe nor a text was named",
        "transduce prepare RECIPE, or --source FILE --target FILE; `transduce recipes` lists them",
    )
    with display.show_pair_count(live=not (quiet or no_progress)) as on_progress:
        corpus = prepare(
            output,
            train,
            choose_dev(dev, no_dev=no_dev),
            recipe=recipe,
            settings=dict(changes),
            parent=parent,
            old=read_text_options(files, "old_"),
            old_share=old_share,
            languages=languages,
            on_progress=on_progress,
            on_message=display.print_note,
        )
    for line in describe_corpus(corpus):
        display.print_note(line)
    if recipe is None and parent is None:
        display.print_note(f"hint: transduce train --store {output} -o RUN")


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
