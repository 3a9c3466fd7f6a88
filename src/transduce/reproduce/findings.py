"""What the paper concludes from a table, and whether other runs show it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from transduce.reproduce.table import Measured, Row, Table

PrintedFigures = Mapping[str, Mapping[str, float]]  # by measure and row
HEAD = ("claim", "measure", "paper", "ours", "here")


@final
@dataclass(frozen=True)
class Finding:
    """A conclusion from two rows, in one measure."""

    sentence: str
    better: str
    worse: str
    measure: str = "BLEU"  # or PPL
    equal: bool = False  # the paper finds no difference


def findings(
    table: Table, claims: Sequence[Finding], printed: PrintedFigures
) -> list[tuple[str, ...]]:
    """The paper's conclusions, and whether these runs show them."""
    lines: list[tuple[str, ...]] = [HEAD]
    for claim in claims:
        if claim.better in table.rows and claim.worse in table.rows:
            better, worse = table.rows[claim.better], table.rows[claim.worse]
            figures = printed[claim.measure]
            paper = gain(claim, figures.get(claim.better), figures.get(claim.worse))
            ours = gain(claim, measured(claim, better).mean, measured(claim, worse).mean)
            assert ours is not None
            said = "not compared" if paper is None else f"{paper:+.2f}"
            verdict = seen(claim, ours, chance(table, claim, better, worse))
            lines.append((claim.sentence, claim.measure, said, f"{ours:+.2f}", verdict))
    return lines


def measured(claim: Finding, row: Row) -> Measured:
    """What the claim speaks of."""
    return row.perplexity if claim.measure == "PPL" else row.bleu


def gain(claim: Finding, better: float | None, worse: float | None) -> float | None:
    """By how much the better row is better; a lower perplexity is."""
    if better is None or worse is None:
        return None
    return worse - better if claim.measure == "PPL" else better - worse


def chance(table: Table, claim: Finding, better: Row, worse: Row) -> float | None:
    """Two standard errors of the difference, by the spread of base between its seeds."""
    base = table.rows.get("base")
    spread = measured(claim, base).spread if base else None
    if spread is None:
        return None
    return 2 * spread * math.sqrt(1 / len(better.runs) + 1 / len(worse.runs))


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
        f"A difference counts if it is above two standard errors, by the spread of base over "
        f"{len(base.runs)} seeds."
    )
