"""Compare the claims that the paper draws from a table with the runs measured here."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from transduce.recipes.scale import scale_by_name
from transduce.reproduce.table import Measurements, ResultTable, TableRow

PrintedFigures = Mapping[str, Mapping[str, float]]  # the paper's numbers, by measure, then row
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)  # Student's t for 95 %, two-sided, for 1, 2, … degrees of freedom
HEAD = ("claim", "measure", "paper", "ours", "here")


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
