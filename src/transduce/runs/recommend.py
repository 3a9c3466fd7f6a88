"""Recommend a recipe for a corpus and a machine to users who name none

Each choice is shown with its reason, and `--set` overrides it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from transduce.corpus.store import Store
from transduce.recipes.fitted import ModelSize, SizeTable, find_size_table
from transduce.runs.development import clean_text, find_whole_text
from transduce.runs.prepared_corpus import PreparedCorpus, read_side
from transduce.runs.text_names import FITTED
from transduce.runs.texts import MixedPairs, Pairs, TaskFiles
from transduce.settings import Data, Recipe
from transduce.settings.recipe import Value, with_changes
from transduce.tasks import TASKS, find_task_kind
from transduce.text.arguments import ignore_event
from transduce.text.clean import Cleaner
from transduce.vocabulary.learn import WORD, max_vocabulary_size

FEWEST, MOST = 1_000, 100_000  # the fewest and the most updates that are recommended
MOST_PASSES = 300  # if FEWEST updates are more passes over a text than this, fewer are recommended
CHOSEN = "chosen by the size of the corpus and of the machine"
PIECE = 4  # average number of characters of a piece, roughly


@final
@dataclass(frozen=True)
class CorpusCounts:
    """Counts of a cleaned corpus: pairs, estimated pieces of the longer sides, different words."""

    pairs: int
    pieces: float  # sum over pairs of the longer side's pieces; in text, estimated by characters
    words: int  # number of different words of both sides, counted up to about 200,000


def recommend_recipe(
    train: Pairs,
    changes: Mapping[str, Value],
    *,
    has_gpu: bool,
    on_progress: Callable[[str, int], None],
) -> tuple[Recipe, list[str]]:
    """Return a recipe for a text, on a machine with or without a GPU, and a reason per choice.

    The text is cleaned by the settings in `changes` before it is counted.
    """
    table, wanted = choose_start_recipe(train, changes)
    kind = find_task_kind(wanted.data)
    counts = count_corpus(train, wanted.data, on_progress)
    cleaned = clean_text(Cleaner(wanted.data, kind.normalise), train, wanted.data.max_pairs)
    inferred = kind.infer_settings(cleaned)
    size = table.list_sizes(counts.pairs, has_gpu=has_gpu)[-1]
    data = replace(
        table.start.data,
        vocabulary_size=wanted.data.vocabulary_size
        if "data.vocabulary_size" in changes
        else recommend_vocabulary_size(train, wanted, counts, size.symbols),
        source_tokens=max(size.tokens, wanted.data.max_length),
        target_tokens=max(size.tokens, wanted.data.max_length),
    )
    start = with_changes(replace(table.start, data=data), inferred)
    recipe, _ = build_recipe(size, start, changes, (counts.pairs, counts.pieces))
    reason = explain_choice(recipe.data, counts.pairs, has_gpu=has_gpu)
    at_most = "at most " if recipe.data.vocabulary == WORD else ""
    vocabulary = (
        f"{counts.words:,} different words: a vocabulary of {at_most}"
        f"{recipe.data.vocabulary_size:,} symbols"
    )
    told = [
        f"{path}={value}, as the training text shows"
        for path, value in inferred.items()
        if path not in changes
    ]
    return recipe, [reason, vocabulary, *told]


def choose_start_recipe(train: object, changes: Mapping[str, Value]) -> tuple[SizeTable, Recipe]:
    """Return the `SizeTable` for the task of `train`, and that table's start recipe with `changes`.

    `train` is any text that `transduce.train` accepts; `changes` are settings by path. Files in the
    format of a task are for that task, other texts for translation.
    """
    whole = find_whole_text(train) if isinstance(train, Pairs) else train
    gold = whole.main if isinstance(whole, MixedPairs) else whole
    kind = gold.kind if isinstance(gold, TaskFiles) else None
    named = next((name for name in TASKS if find_task_kind(Data(task=name)) is kind), Data().task)
    task = changes.get("data.task", named)
    table = find_size_table(with_changes(Recipe(name="none"), {"data.task": task}).data)
    return table, with_changes(table.start, changes)


def recommend_for_corpus(
    corpus: PreparedCorpus, changes: Mapping[str, Value]
) -> tuple[Recipe, list[str]]:
    """Return a recipe for a prepared corpus on this machine, and the reasons."""
    pairs, on_gpu = len(corpus.train), has_gpu()
    size = find_size_table(corpus.data).list_sizes(pairs, has_gpu=on_gpu)[-1]
    recipe, _ = build_for_corpus(size, corpus, changes)
    return recipe, [explain_choice(recipe.data, pairs, has_gpu=on_gpu)]


def has_gpu() -> bool:
    """Return whether training on this machine would use a GPU."""
    from transduce.machine.device import select_device  # imports torch

    return select_device().type != "cpu"


def build_for_corpus(
    size: ModelSize, corpus: PreparedCorpus, changes: Mapping[str, Value]
) -> tuple[Recipe, float]:
    """Return a recipe of this size for a prepared corpus, and how often it reads the corpus."""
    if not corpus.data.shared_vocabulary:  # then the encoder has its own embedding
        size = replace(size, architecture=replace(size.architecture, tie_embeddings="target"))
    start = replace(find_size_table(corpus.data).start, data=corpus.data)
    counts = (len(corpus.train), count_store_pieces(corpus.train))
    return build_recipe(size, start, changes, counts)


def count_store_pieces(store: Store) -> float:
    """Return how many pieces a store has, counting the longer side of each pair, as a float."""
    return float(np.maximum(store.source_lengths, store.target_lengths).sum())


def build_recipe(
    size: ModelSize, start: Recipe, changes: Mapping[str, Value], counts: tuple[int, float]
) -> tuple[Recipe, float]:
    """Return `start` with this size and a schedule for `counts`, and its passes over the text.

    `counts` are the numbers of pairs and of pieces, counting the longer side of each pair.
    """
    pairs, pieces = counts
    fitted = replace(
        start,
        name=FITTED,
        about=f"chosen for {find_task_kind(start.data).count(pairs)}",
        architecture=size.architecture,
        because=CHOSEN,
    )
    sized = with_changes(fitted, changes)
    per_pass = pieces / min(sized.data.source_tokens, sized.data.target_tokens)
    fewest = min(FEWEST, MOST_PASSES * max(1.0, per_pass))
    steps = int(max(fewest, min(MOST, size.passes * per_pass))) // 100 * 100
    if "training.steps" in changes:
        steps = sized.training.steps
    return with_changes(sized, build_schedule(steps, changes)), steps / per_pass


def build_schedule(steps: int, changes: Mapping[str, Value]) -> dict[str, Value]:
    """Return settings of a schedule of `steps` updates, overridden and extended by `changes`.

    The narrower a model, the higher the peak of equation 3. Post-norm stacks that reach the peak
    too soon may learn the target language and ignore the source. So the
    warm-up takes half of the run, and at most the paper's 4,000 steps. The peak of a warm-up below
    200 steps is lowered to that of 200.
    """
    warmup = max(1, min(4_000, steps // 2))
    found: dict[str, Value] = {"training.steps": steps, "training.warmup": warmup}
    if warmup < 200 and "training.warmup" not in changes:
        found["training.learning_rate_factor"] = round((warmup / 200) ** 0.5, 4)
    return {**found, **list_intervals(steps), **changes}


def list_intervals(steps: int) -> dict[str, Value]:
    """Return settings for the steps between snapshots and between validations of a run."""
    return {
        "training.snapshot_every": max(20, steps // 50),
        "training.validate_every": -(-steps // max(1, min(20, steps // 100))),
    }


def count_corpus(train: Pairs, data: Data, on_progress: Callable[[str, int], None]) -> CorpusCounts:
    """Clean a text and count its pairs, pieces and different words in one pass."""
    kind, pieces = find_task_kind(data), 0.0
    words: set[str] = set()
    cleaner = Cleaner(data, kind.normalise)
    for source, target in clean_text(cleaner, train, data.max_pairs):
        text = kind.source_text(source)
        if kind.target_symbols is None:
            pieces += max(len(source), len(target)) / PIECE
            text = f"{text} {target}"
        else:
            pieces += max(len(text.split()), len(kind.target_symbols(data, target))) + 1  # END
        if len(words) < 200_000:
            words.update(text.split())
        if cleaner.report.read % 10_000 == 0:
            on_progress("counting", cleaner.report.read)
    return CorpusCounts(cleaner.report.kept, pieces, len(words))


def recommend_vocabulary_size(train: Pairs, wanted: Recipe, counts: CorpusCounts, most: int) -> int:
    """Return a vocabulary size of one byte-pair merge per two different words, at most `most`.

    If the text yields fewer merges, the size is smaller. For a vocabulary of words it is `most`.
    """
    if wanted.data.vocabulary == WORD:
        return most  # learning stops earlier if there are fewer words
    target = 258 + counts.words // 2 // 10 * 10
    if target >= most:
        return most
    sides = (0,) if wanted.data.shared_vocabulary else (0, 1)
    lines = (read_side(train, wanted.data, side, ignore_event) for side in sides)
    return min(max_vocabulary_size(some, target) for some in lines)


def explain_choice(data: Data, pair_count: int, *, has_gpu: bool) -> str:
    """Return a sentence on what decided a recommended recipe's sizes, and how to choose others."""
    machine = "a GPU" if has_gpu else "no GPU"
    return (
        f"{find_task_kind(data).count(pair_count)} after cleaning and {machine} decide the sizes; "
        "others: --set architecture.layers=6 and so on, or a recipe by name"
    )
