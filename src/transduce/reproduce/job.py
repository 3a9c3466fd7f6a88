"""One training of one row: a command that can be stopped and gone on with.

OUT/store/              the corpus, prepared once for all rows
OUT/rows/A-h1-seed1/    run/ and, when it is over, result.json
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from transduce.errors import InputError, nearest
from transduce.recipes.scale import Scale, scaled
from transduce.recipes.table2 import match_training_cost
from transduce.runs.run_folder import memory_here, require_memory
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes

ROWS = "rows"
SEED = "training.seed"
LACKING = ("DefaultCPUAllocator", "not enough memory", "out of memory")  # in torch's own words


@final
@dataclass(frozen=True, kw_only=True)
class Job:
    """What is trained for a row of a table, and from which seed."""

    table: str
    row: str
    scale: Scale
    recipe: Recipe  # at the scale, with the seed

    @property
    def seed(self) -> int:
        """Of order, dropout and first weights."""
        return self.recipe.training.seed

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.row}-seed{self.seed}"

    def folder(self, output: Path) -> Path:
        """Where it lies."""
        return output / ROWS / self.name


@final
@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which rows of a table, how small, how often."""

    scale: Scale
    rows: Sequence[str] = ()  # none named: all
    seeds: Sequence[int] = (1,)
    changes: Mapping[str, Value] = field(default_factory=dict)  # made to every row


def jobs(table: str, recipes: Mapping[str, Recipe], wanted: Wanted) -> list[Job]:
    """Every training that is asked for: each row with the first seed, then with the others."""
    for row in wanted.rows:
        if row not in recipes:
            raise InputError(f"{table} has no row {row!r}", nearest(row, recipes))
    require(SEED not in wanted.changes, f"{SEED} is no change of a row", "--seeds 3, or --seed 2")
    names = [row for row in recipes if row in wanted.rows or not wanted.rows]
    base = recipe_of(recipes["base"], wanted)
    small = {row: match_training_cost(base, recipe_of(recipes[row], wanted)) for row in names}
    return [
        Job(
            table=table,
            row=row,
            scale=wanted.scale,
            recipe=with_changes(small[row], {SEED: seed}),
        )
        for seed in wanted.seeds
        for row in names
    ]


def recipe_of(recipe: Recipe, wanted: Wanted) -> Recipe:
    """The row's recipe at the scale, changed as every row is."""
    return with_changes(scaled(recipe, wanted.scale), wanted.changes)


def is_lack_of_memory(error: Exception) -> bool:
    """Whether Python or torch was given no more memory; torch has no one class for it."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in LACKING)


def require_fits(job: Job) -> None:
    """Refuse what this machine cannot hold, before any row is trained."""
    try:
        require_memory(job.recipe, memory_here(1))
    except InputError as fault:
        raise InputError(f"row {job.row}: {fault.fact}", "a smaller --scale, or --rows") from None
