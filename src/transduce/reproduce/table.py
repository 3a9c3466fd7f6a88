"""Build tables from results: a row per model, with one run per seed, under equal conditions."""

import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from transduce.errors import InputError
from transduce.recipes.catalogue import difference
from transduce.recipes.scale import scale_by_name, scaled
from transduce.reproduce.job import SEED
from transduce.reproduce.result import RowResult
from transduce.runs.text_names import CORPUS
from transduce.runs.training_run import RESOLVED
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value

STEPS = "training.steps"


@final
@dataclass(frozen=True)
class Measurements:
    """The values of one measure, such as BLEU, for one row: a value for each seed."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """The mean of the values over the seeds."""
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float | None:
        """The standard deviation of the values between seeds; None for a single seed.

        NaN if a value is not finite.
        """
        if len(self.values) < 2:
            return None
        return statistics.stdev(self.values) if all(map(math.isfinite, self.values)) else math.nan

    def format(self, digits: int) -> str:
        """Format the mean and, for several seeds, the standard deviation, as in 25.31 ± 0.12."""
        spread = "" if self.spread is None else f" ± {self.spread:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


@final
@dataclass(frozen=True)
class TableRow:
    """A row of a table: the runs of one recipe from different seeds."""

    name: str
    runs: Sequence[RowResult]

    @property
    def perplexity(self) -> Measurements:
        """The perplexity per piece of each run, without label smoothing."""
        return Measurements([run.perplexity_per_piece for run in self.runs])

    @property
    def bleu(self) -> Measurements:
        """The BLEU of each run of this row."""
        return Measurements([run.bleu["value"] for run in self.runs])

    @property
    def paper_bleu(self) -> Measurements | None:
        """The BLEU of each run by the paper's metric; None if the test set is not the paper's."""
        values = [run.paper_bleu["value"] for run in self.runs if run.paper_bleu]
        return Measurements(values) if values else None

    @property
    def has_diverged(self) -> bool:
        """Whether any run's perplexity is the vocabulary size or more, as by uniform guessing."""
        return not all(
            run.perplexity_per_piece < run.recipe.data.vocabulary_size for run in self.runs
        )

    def cost(self, kind: str) -> float | None:
        """Return the mean training operations, "estimated" or "counted"; None if not recorded."""
        known = [run.cost[kind] for run in self.runs if kind in run.cost]
        return statistics.fmean(known) if known else None


@final
@dataclass(frozen=True)
class ResultTable:
    """The measured rows of a table in the paper's order, all on one corpus at one scale."""

    scale: str
    recipes: Mapping[str, Recipe]  # recipe of every row of the table, at the paper's size
    rows: Mapping[str, TableRow]
    changes: Mapping[str, Value]  # settings that were changed in every row

    @property
    def runs(self) -> list[RowResult]:
        """The runs of all rows."""
        return [run for row in self.rows.values() for run in row.runs]

    @property
    def other_settings(self) -> tuple[str, ...]:
        """What scale and caller changed in every row, as texts such as "training.steps / 50"."""
        changed = (f"{path} = {value}" for path, value in self.changes.items())
        return (*scale_by_name(self.scale).settings, *changed)


def build_table(results: Sequence[RowResult], recipes: Mapping[str, Recipe]) -> ResultTable:
    """Build a table; raise InputError if results differ in scale, corpus, test set or changes."""
    if not results:
        raise InputError("no row has been measured yet", "without --gather they are trained here")
    require_single("scales", {result.scale for result in results})
    scale = scale_by_name(results[0].scale)
    known = [scaled(recipe, scale).name for recipe in recipes.values()]
    for result in results:
        fact = f"a result of {result.recipe.name} has no place in a table with {known[0]}"
        require(result.recipe.name in known, fact, "gather the folders of one table at a time")
    require_single("corpora", {tuple(sorted(result.data.items())) for result in results})
    require_single("test sets", {result.bleu["test_set"] for result in results})
    rows = {
        name: TableRow(name, runs)
        for name in recipes
        if (runs := sorted((r for r in results if r.row == name), key=lambda r: r.seed))
    }
    return ResultTable(results[0].scale, recipes, rows, find_common_changes(results, recipes))


def require_single(what: str, kinds: Collection[object]) -> None:
    """Raise InputError unless `kinds` has one member; `what` names the kinds, such as "scales"."""
    require(
        len(kinds) == 1,
        f"these results are of {len(kinds)} different {what}: they make no single table",
        "gather the folders of one at a time",
    )


def find_common_changes(
    results: Sequence[RowResult], recipes: Mapping[str, Recipe]
) -> dict[str, Value]:
    """Return the settings that all results changed; raise InputError if the changes differ.

    A row with other layers than base may differ in `training.steps`, which are chosen so that its
    training costs as much as base's does.
    """
    changes = []
    for result in results:
        row_recipe = scaled(recipes[result.row], scale_by_name(result.scale))
        differ = difference(row_recipe, result.recipe)
        may_differ = (*RESOLVED, SEED, CORPUS)
        changes.append({path: ours for path, _, ours in differ if path not in may_differ})
    with_base_layers = [
        one
        for one, result in zip(changes, results, strict=True)
        if recipes[result.row].architecture.mixing == recipes["base"].architecture.mixing
    ]
    rest = [{path: value for path, value in one.items() if path != STEPS} for one in changes]
    require_single("settings", {tuple(sorted(one.items())) for one in rest})
    require_single("settings", {one.get(STEPS) for one in with_base_layers} or {None})
    return with_base_layers[0] if with_base_layers else rest[0]
