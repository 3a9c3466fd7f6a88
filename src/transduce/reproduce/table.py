"""Build tables from results, and compare the paper's claims with them.

A table has a row for each model, and a row a run for each seed, all under equal conditions.
"""

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
PrintedFigures = Mapping[str, Mapping[str, float]]  # the paper's numbers, by measure, then row
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)  # Student's t for 95 %, two-sided, for 1, 2, … degrees of freedom
HEAD = ("claim", "measure", "paper", "ours", "here")


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


# --- The claims that the paper draws from a table -------------------------------------------------


@final
@dataclass(frozen=True)
class Claim:
    """A claim of the paper: one row of a table is better than another, or equal to it."""

    sentence: str
    better: str  # the row that is better
    worse: str  # the row that is worse
    measure: str = ""  # BLEU or PPL if the claim is about one measure only, else ""
    equal: bool = False  # whether the paper finds the two rows equally good


def compare_claims(
    table: ResultTable, claims: Sequence[Claim], printed: PrintedFigures
) -> list[tuple[str, ...]]:
    """Return a table of verdicts by claim and measure, with header; skip claims on absent rows."""
    here = [claim for claim in claims if {claim.better, claim.worse} <= set(table.rows)]
    pairs = [(claim, one) for claim in here for one in printed if claim.measure in ("", one)]
    return [HEAD, *(compare_claim(table, claim, one, printed[one]) for claim, one in pairs)]


def compare_claim(
    table: ResultTable, claim: Claim, measure: str, printed: Mapping[str, float]
) -> tuple[str, ...]:
    """Return one claim's row of cells: claim, measure, the paper's gain, our gain, the verdict."""
    better, worse = table.rows[claim.better], table.rows[claim.worse]
    means = [select_measure(measure, row).mean for row in (better, worse)]
    ours, paper = compute_gain(measure, *means), "not compared"
    if claim.better in printed and claim.worse in printed:
        paper = f"{compute_gain(measure, printed[claim.better], printed[claim.worse]):+.2f}"
    diverged = [row.name for row in (better, worse) if row.has_diverged]
    if not scale_by_name(table.scale).has_findings:
        verdict = f"the scale {table.scale} cannot tell"
    elif diverged:
        verdict = f"cannot be told: {' and '.join(diverged)} diverged"
    else:
        critical = compute_critical_difference(table, measure, better, worse)
        verdict = judge_claim(claim, ours, critical)
    return (claim.sentence, measure, paper, f"{ours:+.2f}", verdict)


def select_measure(measure: str, row: TableRow) -> Measurements:
    """Return a table row's measured perplexity if `measure` is PPL, else its BLEU."""
    return row.perplexity if measure == "PPL" else row.bleu


def compute_gain(measure: str, better: float, worse: float) -> float:
    """Return how much better the figure `better` is than `worse`; a lower PPL is better."""
    return worse - better if measure == "PPL" else better - worse


def compute_critical_difference(
    table: ResultTable, measure: str, better: TableRow, worse: TableRow
) -> float | None:
    """Return the least difference of two rows that is significant at 5 %; None if unknown.

    The variance between seeds is pooled over the rows with several seeds. Without such a row it is
    unknown.
    """
    several = select_rows_with_seeds(table)
    if not several:
        return None
    degrees = count_degrees_of_freedom(several)
    found = [select_measure(measure, row).values for row in several]
    variance = sum((len(one) - 1) * statistics.variance(one) for one in found) / degrees
    quantile = STUDENT[min(degrees, len(STUDENT)) - 1]
    return quantile * math.sqrt(variance * (1 / len(better.runs) + 1 / len(worse.runs)))


def select_rows_with_seeds(table: ResultTable) -> list[TableRow]:
    """Return the rows of a table that were trained from more than one seed and did not diverge."""
    return [row for row in table.rows.values() if len(row.runs) > 1 and not row.has_diverged]


def count_degrees_of_freedom(rows: Sequence[TableRow]) -> int:
    """Return the degrees of freedom of the variance between seeds, pooled over rows."""
    return sum(len(row.runs) - 1 for row in rows)


def judge_claim(claim: Claim, ours: float, critical: float | None) -> str:
    """Return the verdict in words on our gain `ours`; a gain up to ±`critical` may be chance.

    `critical` is None if it is unknown.
    """
    if critical is None:
        if claim.equal:
            return "one seed cannot tell"
        return f"{'so' if ours > 0 else 'not so'}, by one seed: it may be chance"
    if abs(ours) <= critical:
        return "equal within chance" if claim.equal else f"within chance (±{critical:.2f})"
    if claim.equal:
        return f"differs by more than chance (±{critical:.2f})"
    return "supported" if ours > 0 else f"contradicted (±{critical:.2f})"


def describe_significance(table: ResultTable) -> str:
    """Return a sentence that explains how large a difference must be to be significant."""
    several = select_rows_with_seeds(table)
    if not several:
        return (
            "Chance is unknown without several seeds of a row that did not diverge: "
            "`--rows base --seeds 3` tells."
        )
    spread = f"of {several[0].name} over {len(several[0].runs)} seeds (Student's t)"
    if len(several) > 1:
        degrees = count_degrees_of_freedom(several)
        spread = (
            f"between the seeds of {len(several)} rows, pooled "
            f"(Student's t, {degrees} degrees of freedom)"
        )
    return (
        "A difference counts if chance alone would stay below it in 95 of 100 comparisons, by the "
        f"spread {spread}."
    )
