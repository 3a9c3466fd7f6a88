"""What the paper concludes from a table, and whether other runs show it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from transduce.reproduce.table import Measured, Row, Table

PrintedFigures = Mapping[str, Mapping[str, float]]  # by measure and row
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)  # 95 %; 1, 2, … free
HEAD = ("claim", "measure", "paper", "ours", "here")


@final
@dataclass(frozen=True)
class Finding:
    """A conclusion from two rows."""

    sentence: str
    better: str
    worse: str
    measure: str = ""  # BLEU or PPL, where the paper concludes from one of them only
    equal: bool = False  # the paper finds no difference


def findings(
    table: Table, claims: Sequence[Finding], printed: PrintedFigures
) -> list[tuple[str, ...]]:
    """The paper's conclusions, and whether these runs show them."""
    here = [claim for claim in claims if {claim.better, claim.worse} <= set(table.rows)]
    pairs = [(claim, one) for claim in here for one in printed if claim.measure in ("", one)]
    return [HEAD, *(compared(table, claim, one, printed[one]) for claim, one in pairs)]


def compared(
    table: Table, claim: Finding, measure: str, printed: Mapping[str, float]
) -> tuple[str, ...]:
    """One conclusion in one measure."""
    better, worse = table.rows[claim.better], table.rows[claim.worse]
    paper = gain(measure, printed.get(claim.better), printed.get(claim.worse))
    ours = gain(measure, measured(measure, better).mean, measured(measure, worse).mean)
    assert ours is not None
    said = "not compared" if paper is None else f"{paper:+.2f}"
    verdict = seen(claim, ours, chance(table, measure, better, worse))
    return (claim.sentence, measure, said, f"{ours:+.2f}", verdict)


def measured(measure: str, row: Row) -> Measured:
    """What a claim speaks of."""
    return row.perplexity if measure == "PPL" else row.bleu


def gain(measure: str, better: float | None, worse: float | None) -> float | None:
    """By how much the better row is better; a lower perplexity is."""
    if better is None or worse is None:
        return None
    return worse - better if measure == "PPL" else better - worse


def chance(table: Table, measure: str, better: Row, worse: Row) -> float | None:
    """What chance alone keeps below in 95 of 100 comparisons, by base's spread between seeds."""
    base = table.rows.get("base")
    spread = measured(measure, base).spread if base else None
    if base is None or spread is None:
        return None
    times = STUDENT[min(len(base.runs) - 1, len(STUDENT)) - 1]
    return times * spread * math.sqrt(1 / len(better.runs) + 1 / len(worse.runs))


def seen(claim: Finding, ours: float, chance: float | None) -> str:
    """A verdict that claims no more than the seeds allow."""
    if chance is None:
        if claim.equal:
            return "one seed does not tell"
        return f"{'so' if ours > 0 else 'not so'}, by one seed: it may be chance"
    if abs(ours) <= chance:
        return "equal within chance" if claim.equal else f"not told from chance (±{chance:.2f})"
    if claim.equal:
        return f"differs by more than chance (±{chance:.2f})"
    return "seen" if ours > 0 else f"the reverse is seen (±{chance:.2f})"


def chance_note(table: Table) -> str:
    """What a verdict rests on."""
    base = table.rows.get("base")
    if base is None or len(base.runs) < 2:
        return (
            "Base was trained from one seed, so chance is unknown: `--rows base --seeds 3` tells."
        )
    return (
        "A difference counts if chance alone would stay below it in 95 of 100 comparisons, by the "
        f"spread of base over {len(base.runs)} seeds (Student's t)."
    )
