"""`transduce prepare`: clean, encode and store a parallel text for training."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transduce.cli import display, options
from transduce.cli.inputs import TRAINING, TextOptions
from transduce.cli.options import argument, group
from transduce.recipes.choice import read_recipe
from transduce.settings import Recipe
from transduce.text.clean import EMPTY

if TYPE_CHECKING:
    from transduce.runs.prepared_corpus import PreparedCorpus


@options.make_command("prepare", options.quiet, options.no_progress)
def command(
    *,
    recipe: Recipe | None = argument(required=False),
    texts: TextOptions = group(*TRAINING),
    output: Path = options.output_folder("The folder of the prepared corpus."),
    languages: tuple[str, ...] | None = options.languages,
    scale: str | None = options.scale,
    changes: Sequence[tuple[str, str]] = options.settings,
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

    recipe = read_recipe(recipe, scale)
    with display.show_pair_count() as on_progress:
        corpus = prepare(
            output,
            texts.read_train(),
            texts.choose_dev(),
            recipe=recipe,
            settings=dict(changes),
            parent=texts.parent,
            old=texts.find_text("old_"),
            old_share=texts.old_share,
            languages=languages,
            on_progress=on_progress,
            on_message=display.print_note,
        )
    display.print_note(*describe_corpus(corpus))
    if other := [name for name, _ in changes if not name.startswith("data.")]:
        display.print_note(f"{', '.join(other)}: not stored in a corpus; give it to train as well")
    if recipe is None and texts.parent is None:
        display.print_note(f"hint: transduce train --store {shlex.quote(str(output))} -o RUN")


def describe_corpus(prepared: "PreparedCorpus") -> list[str]:
    """Return lines about a prepared corpus: pairs read, kept and left out, and vocabulary sizes."""
    from transduce.corpus.mixture import list_rows
    from transduce.tasks import find_task_kind

    lines, kind = [], find_task_kind(prepared.data)
    for name, store in (("train", prepared.train), ("dev", prepared.dev)):
        if store is None:
            continue
        cleaning: dict[str, Any] = dict(store.about["cleaning"])
        lines.append(f"{name}: {kind.count(cleaning['read'])} read, {len(store):,} kept")
        dropped = dict(cleaning["dropped"])
        if too_long := store.about["pairs"]["too_long"]:
            dropped["too many pieces"] = {"count": too_long, "samples": []}
        if unknown := store.about["pairs"].get("unknown_label", 0):
            dropped["a label that training lacks"] = {"count": unknown, "samples": []}
        for text, pairs, share, updates, _ in list_rows(store.mixture):
            lines.append(
                f"  {text}: {pairs} {kind.unit}s, {share} while all are read, updates {updates}"
            )
        for reason, found in dropped.items():
            why = kind.unusable if reason == EMPTY else reason
            lines.append(f"  left out, {why}: {found['count']:,}")
            lines += [
                f"    line {one['line']}: {one['source']} | {one['target']}"
                for one in found["samples"]
            ]
    source, target = prepared.vocabularies
    sizes = f"{len(source):,} symbols for both sides"
    if source is not target:
        sizes = f"{len(source):,} and {len(target):,} symbols"
    return [*lines, f"vocabulary: {sizes}", f"prepared in {prepared.folder}"]
