"""Results of a table put together: one row a model, one run a seed, all else equal."""

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from transduce.errors import InputError
from transduce.recipes.names import difference
from transduce.recipes.scale import scale_by_name, scaled
from transduce.reproduce.job import SEED
from transduce.reproduce.result import Result
from transduce.runs.run_folder import RESOLVED
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value

STEPS = "training.steps"


@final
@dataclass(frozen=True)
class Measured:
    """A figure from one seed or several."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float | None:
        """The standard deviation between seeds; one seed does not tell."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    def shown(self, digits: int) -> str:
        """25.31 ± 0.12"""
        spread = "" if self.spread is None else f" ± {self.spread:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


@final
@dataclass(frozen=True)
class Row:
    """A row of the table: its runs."""

    name: str
    runs: Sequence[Result]

    @property
    def perplexity(self) -> Measured:
        """A piece, without label smoothing."""
        return Measured([run.perplexity["per_piece"] for run in self.runs])

    @property
    def bleu(self) -> Measured:
        """As its signature says."""
        return Measured([run.bleu["value"] for run in self.runs])

    @property
    def paper_bleu(self) -> Measured | None:
        """Of words as the paper cuts them, where the test set is the paper's."""
        values = [run.paper_bleu["value"] for run in self.runs if run.paper_bleu]
        return Measured(values) if values else None

    @property
    def parameters(self) -> int:
        """The same for every seed."""
        return self.runs[0].parameters

    def cost(self, kind: str) -> float | None:
        """Operations of training, estimated or counted, over the seeds that know them."""
        known = [run.cost[kind] for run in self.runs if kind in run.cost]
        return statistics.fmean(known) if known else None


@final
@dataclass(frozen=True)
class Table:
    """Every row that was measured, in the paper's order; all on one corpus at one scale."""

    scale: str
    recipes: Mapping[str, Recipe]  # of all rows, at the paper's size
    rows: Mapping[str, Row]
    changes: Mapping[str, Value]  # settings in which these rows are not the scale's

    @property
    def runs(self) -> list[Result]:
        """All of them."""
        return [run for row in self.rows.values() for run in row.runs]

    @property
    def missing(self) -> list[str]:
        """Rows that were not measured."""
        return [name for name in self.recipes if name not in self.rows]


def table_of(results: Sequence[Result], recipes: Mapping[str, Recipe]) -> Table:
    """The table of these results, if they belong together; rows in the order of the recipes."""
    if not results:
        raise InputError("no row has been measured yet", "without --gather they are trained here")
    require_one("scales", {result.scale for result in results})
    for result in results:
        require_row(result, recipes)
    require_one("corpora", {tuple(sorted(result.data.items())) for result in results})
    require_one("test sets", {result.bleu["test_set"] for result in results})
    rows = {
        name: Row(name, runs)
        for name in recipes
        if (runs := sorted((r for r in results if r.row == name), key=lambda r: r.seed))
    }
    return Table(results[0].scale, recipes, rows, changes_of(results, recipes))


def require_row(result: Result, recipes: Mapping[str, Recipe]) -> None:
    """A result is of a row of this table."""
    known = [scaled(recipe, scale_by_name(result.scale)).name for recipe in recipes.values()]
    if result.recipe.name not in known:
        fact = f"a result of {result.recipe.name} has no place in a table with {known[0]}"
        raise InputError(fact, "gather the folders of one table at a time")


def require_one(what: str, kinds: Collection[object]) -> None:
    """Rows stand in one table if nothing but the row differs."""
    require(
        len(kinds) == 1,
        f"these results are of {len(kinds)} different {what}: they make no one table",
        "gather the folders of one at a time",
    )


def changes_of(results: Sequence[Result], recipes: Mapping[str, Recipe]) -> dict[str, Value]:
    """Where all results differ alike from their rows at the scale.

    The steps of rows at base's cost follow from base's: there they are no change.
    """
    own = [changed(result, recipes[result.row]) for result in results]
    as_told = [
        one
        for one, result in zip(own, results, strict=True)
        if recipes[result.row].architecture.mixing == recipes["base"].architecture.mixing
    ]
    others = [{path: value for path, value in one.items() if path != STEPS} for one in own]
    require_one("settings", {tuple(sorted(one.items())) for one in others})
    require_one("settings", {one.get(STEPS) for one in as_told} or {None})
    return as_told[0] if as_told else others[0]


def changed(result: Result, recipe: Recipe) -> dict[str, Value]:
    """Where a result's recipe is not the row's at its scale."""
    differ = difference(scaled(recipe, scale_by_name(result.scale)), result.recipe)
    return {path: ours for path, _, ours in differ if path not in (*RESOLVED, SEED)}
