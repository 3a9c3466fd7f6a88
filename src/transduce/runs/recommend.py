"""A recipe that fits a corpus and a machine, for whoever names only two files.

The sizes step with the pairs, since a small corpus is learned by heart by a large model; a machine
without a GPU stops a step earlier, since the step after it would train for days. Each choice is
said with its reason, and `--set` overrides it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from transduce.runs.prepare import lines_of
from transduce.runs.texts import Pairs, cleaned, first
from transduce.settings import Architecture, Data, Recipe
from transduce.settings.recipe import Value, with_changes
from transduce.text.clean import Cleaner
from transduce.vocabulary import max_vocabulary_size

PASSES = 30  # over the corpus, within the bounds below
FEWEST, MOST = 1_000, 100_000  # updates
PIECE = 4  # characters of a piece, about


@final
@dataclass(frozen=True)
class Size:
    """One step of the ladder."""

    up_to: int  # pairs
    architecture: Architecture
    symbols: int
    tokens: int  # of an update, each side
    passes: int


LADDER = (
    Size(
        100_000,
        Architecture(layers=4, d_model=128, d_ff=256, heads=4, d_k=32, d_v=32, dropout=0.3),
        8_000,
        4_096,
        PASSES,
    ),
    Size(
        1_000_000,
        Architecture(layers=3, d_model=256, d_ff=1024, heads=4, d_k=64, d_v=64, dropout=0.2),
        10_000,
        8_192,
        PASSES,
    ),
    Size(10**18, Architecture(), 37_000, 25_000, 12),
)


@final
@dataclass(frozen=True)
class Counted:
    """A corpus after cleaning."""

    pairs: int
    characters: int  # of the longer side of each pair
    words: int  # different ones, of both sides, as far as they were counted


def fitting(
    train: Pairs, changes: Mapping[str, Value], *, gpu: bool, told: Callable[[str, int], None]
) -> tuple[Recipe, list[str]]:
    """A recipe for this text on this machine; why each choice was made.

    What `changes` says holds from the start: the text is cleaned by it, the rest follows from it.
    """
    asked = with_changes(Recipe(name="as asked"), changes)
    counted = count(train, asked.data, told)
    allowed = LADDER if gpu else LADDER[:-1]
    size = next((step for step in allowed if counted.pairs <= step.up_to), allowed[-1])
    start = Recipe(
        name="fitted",
        about=f"chosen for {counted.pairs:,} pairs",
        architecture=size.architecture,
        data=Data(
            corpus="your own",
            source_language="source",
            target_language="target",
            vocabulary_size=asked.data.vocabulary_size
            if "data.vocabulary_size" in changes
            else fitting_symbols(train, asked, counted, size.symbols),
            source_tokens=size.tokens,
            target_tokens=size.tokens,
        ),
        because="chosen by the size of the corpus and of the machine",
    )
    sized = with_changes(start, changes)
    per_pass = counted.characters / PIECE / min(sized.data.source_tokens, sized.data.target_tokens)
    steps = int(max(FEWEST, min(MOST, size.passes * per_pass))) // 100 * 100
    if "training.steps" in changes:
        steps = sized.training.steps
    recipe = with_changes(sized, {**schedule(steps), **changes})
    return recipe, reasons(recipe, counted, steps / per_pass, gpu=gpu)


def schedule(steps: int) -> dict[str, Value]:
    """What follows from the number of updates.

    The narrower a model, the higher equation 3's peak, and post-norm stacks that climb to it too
    soon may learn the target language and never look at the source (docs/records/log.md):
    half the run,
    at most the paper's 4,000 steps.
    """
    return {
        "training.steps": steps,
        "training.warmup": max(200, min(4_000, steps // 2)),
        "training.snapshot_every": max(20, steps // 50),
        "training.validate_every": max(100, steps // 20),
    }


def count(train: Pairs, data: Data, told: Callable[[str, int], None]) -> Counted:
    """One pass over the text."""
    characters = 0
    words: set[str] = set()
    cleaner = Cleaner(data)
    for source, target in cleaned(cleaner, first(train, data.max_pairs)):
        characters += max(len(source), len(target))
        if len(words) < 200_000:
            words.update(source.split(), target.split())
        if cleaner.report.read % 10_000 == 0:
            told("counting", cleaner.report.read)
    return Counted(cleaner.report.kept, characters, len(words))


def fitting_symbols(train: Pairs, asked: Recipe, counted: Counted, most: int) -> int:
    """About half as many merges as there are words, and no more than the text supports."""
    wish = 258 + counted.words // 2 // 10 * 10
    if wish >= most:
        return most
    sides = (None,) if asked.data.shared_vocabulary else (0, 1)
    lines = (lines_of(train, asked.data, side, lambda _what, _pairs: None) for side in sides)
    return min(max_vocabulary_size(some, wish) for some in lines)


def reasons(recipe: Recipe, counted: Counted, passes: float, *, gpu: bool) -> list[str]:
    """What was chosen, and why."""
    sizes, data, training = recipe.architecture, recipe.data, recipe.training
    machine = "a GPU" if gpu else "no GPU"
    return [
        f"{counted.pairs:,} pairs after cleaning and {machine}: {sizes.layers} + {sizes.layers} "
        f"layers, d_model {sizes.d_model}, d_ff {sizes.d_ff}, dropout {sizes.dropout}",
        f"{counted.words:,} different words: a vocabulary of {data.vocabulary_size:,} symbols",
        f"updates of {data.source_tokens:,} tokens a side: {training.steps:,} of them are about "
        f"{passes:.0f} passes over the corpus",
        "another choice: --set architecture.layers=6 and so on, or a recipe by name",
    ]
