"""The jobs to train the rows of a table, each from one seed, and their folders.

Folders in a table's output folder OUT:

OUT/store/              the corpus, prepared once for all rows
OUT/rows/A-h1-seed1/    row A-h1 from seed 1: its run/ and, once measured, result.json
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from transduce.errors import InputError, NotEnoughMemoryError, suggest_names
from transduce.recipes.scale import Scale, scaled
from transduce.recipes.tables import match_training_cost
from transduce.runs.choice import Texts
from transduce.runs.machine_settings import memory_per_process, require_memory
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes

ROWS = "rows"
SEED = "training.seed"


@final
@dataclass(frozen=True, kw_only=True)
class RowJob:
    """The job to train a row of a table: the row's recipe at a scale, with a seed."""

    table: str
    row: str
    scale: Scale
    recipe: Recipe  # the row's recipe at the scale, with the seed

    @property
    def seed(self) -> int:
        """The seed of the data order, dropout and initial weights."""
        return self.recipe.training.seed

    @property
    def name(self) -> str:
        """The name of the job's folder, such as A-h1-seed1."""
        return f"{self.row}-seed{self.seed}"

    def folder(self, output: Path) -> Path:
        """Return the folder of this job in the table's folder `output`."""
        return output / ROWS / self.name


@final
@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """The options for a table: rows, scale, seeds, changed settings, texts and folders."""

    output: Path
    scale: Scale
    rows: Sequence[str] = ()  # names of rows; all rows if empty
    seeds: Sequence[int] = (1,)
    changes: Mapping[str, Value] = field(default_factory=dict)  # settings to change in every row
    train: Texts | None = None  # None means the corpus that the recipes name
    dev: Texts | None = None
    test: Texts | None = None
    store: Path | None = None  # the folder of a prepared corpus, given instead of `train` and `dev`
    gather: Sequence[Path] = ()  # folders of rows to report on without training
    plot: bool = False


def plan_jobs(table: str, recipes: Mapping[str, Recipe], request: TableRequest) -> list[RowJob]:
    """Return the jobs of the requested rows, seed after seed; InputError for an unknown row."""
    for row in request.rows:
        if row not in recipes:
            raise InputError(f"{table} has no row {row!r}", suggest_names(row, recipes))
    require(
        SEED not in request.changes,
        f"{SEED} cannot be one of the changed settings",
        "--seeds 3, or --seed 2",
    )
    require(bool(request.seeds), "no seed is given", "seeds=1, or a list of seeds")
    names = [row for row in recipes if row in request.rows or not request.rows]
    base = build_row_recipe(recipes["base"], request)
    row_recipes = {
        row: match_training_cost(base, build_row_recipe(recipes[row], request)) for row in names
    }
    return [
        RowJob(
            table=table,
            row=row,
            scale=request.scale,
            recipe=with_changes(row_recipes[row], {SEED: seed}),
        )
        for seed in request.seeds
        for row in names
    ]


def build_row_recipe(recipe: Recipe, request: TableRequest) -> Recipe:
    """Return a row's recipe at the requested scale, with the requested changes of settings."""
    return with_changes(scaled(recipe, request.scale), request.changes)


def require_row_fits_memory(job: RowJob) -> None:
    """Raise NotEnoughMemoryError if a job's training needs more memory than this machine has."""
    try:
        require_memory(job.recipe, memory_per_process(1))
    except NotEnoughMemoryError as fault:
        hint = "a smaller --scale, or --rows"
        raise NotEnoughMemoryError(f"row {job.row}: {fault.fact}", hint) from None
