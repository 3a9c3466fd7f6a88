"""Compare the claims that the paper draws from a table with the runs measured here."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from transduce.reproduce.table import Measurements, ResultTable, TableRow

PrintedFigures = Mapping[str, Mapping[str, float]]  # the paper's numbers, by measure, then row
STUDENT = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
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
    """Return a table of verdicts on claims: a header, then a row for each claim and measure."""
    here = [claim for claim in claims if {claim.better, claim.worse} <= set(table.rows)]
    pairs = [(claim, one) for claim in here for one in printed if claim.measure in ("", one)]
    return [HEAD, *(compare_claim(table, claim, one, printed[one]) for claim, one in pairs)]


def compare_claim(
    table: ResultTable, claim: Claim, measure: str, printed: Mapping[str, float]
) -> tuple[str, ...]:
    """Return one claim's row of cells: claim, measure, the paper's gain, our gain, the verdict."""
    better, worse = table.rows[claim.better], table.rows[claim.worse]
    paper = compute_gain(measure, printed.get(claim.better), printed.get(claim.worse))
    ours = compute_gain(
        measure, select_measure(measure, better).mean, select_measure(measure, worse).mean
    )
    assert ours is not None
    printed_gain = "not compared" if paper is None else f"{paper:+.2f}"
    verdict = judge_claim(claim, ours, compute_critical_difference(table, measure, better, worse))
    return (claim.sentence, measure, printed_gain, f"{ours:+.2f}", verdict)


def select_measure(measure: str, row: TableRow) -> Measurements:
    """Return a table row's measured perplexity if `measure` is PPL, else its BLEU."""
    return row.perplexity if measure == "PPL" else row.bleu


def compute_gain(measure: str, better: float | None, worse: float | None) -> float | None:
    """Return how much better the first value is than the second; lower perplexity is better."""
    if better is None or worse is None:
        return None
    return worse - better if measure == "PPL" else better - worse


def compute_critical_difference(
    table: ResultTable, measure: str, better: TableRow, worse: TableRow
) -> float | None:
    """Return the least difference between two rows of a table that is significant at 5 %.

    The spread is that of the row "base" between its seeds; None if it has only one seed.
    """
    base = table.rows.get("base")
    spread = select_measure(measure, base).spread if base else None
    if base is None or spread is None:
        return None
    times = STUDENT[min(len(base.runs) - 1, len(STUDENT)) - 1]
    return times * spread * math.sqrt(1 / len(better.runs) + 1 / len(worse.runs))


def judge_claim(claim: Claim, ours: float, critical: float | None) -> str:
    """Return the verdict on a claim, from our gain and the critical difference (None: unknown)."""
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
    base = table.rows.get("base")
    if base is None or len(base.runs) < 2:
        return (
            "Base was trained from one seed, so chance is unknown: `--rows base --seeds 3` tells."
        )
    return (
        "A difference counts if chance alone would stay below it in 95 of 100 comparisons, by the "
        f"spread of base over {len(base.runs)} seeds (Student's t)."
    )
