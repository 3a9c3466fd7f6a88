"""What the paper concludes from Table 3, and whether other runs show it    (section 6.2)"""

import math
from dataclasses import dataclass
from typing import final

from transduce.reproduce.table3 import Row, Table


@final
@dataclass(frozen=True)
class Finding:
    """What the paper concludes from two rows, in one measure."""

    sentence: str
    better: str
    worse: str
    measure: str = "BLEU"  # or PPL
    equal: bool = False  # the paper finds no difference


FINDINGS = (
    Finding("one head is worse than eight", "base", "A-h1"),
    Finding("32 heads are worse than eight", "base", "A-h32"),
    Finding("smaller keys are worse", "base", "B-dk16"),
    Finding("two layers are worse than six", "base", "C-N2"),
    Finding("half the width is worse", "base", "C-d256"),
    Finding("twice the width is better", "C-d1024", "base"),
    Finding("half the feed-forward width is worse", "base", "C-ff1024"),
    Finding("twice the feed-forward width is better", "C-ff4096", "base"),
    Finding("no dropout is worse", "base", "D-drop0.0"),
    Finding("no label smoothing is worse", "base", "D-ls0.0"),
    Finding("yet no label smoothing has the lower perplexity", "D-ls0.0", "base", "PPL"),
    Finding("learned positions are as good as sinusoids", "base", "E-learned", equal=True),
    Finding("the big model is better", "big", "base"),
)


def findings(table: Table) -> list[tuple[str, ...]]:
    """The paper's conclusions, and whether these runs show them."""
    lines: list[tuple[str, ...]] = [("what the paper found", "measure", "paper", "ours", "here")]
    for finding in FINDINGS:
        if finding.better in table.rows and finding.worse in table.rows:
            better, worse = table.rows[finding.better], table.rows[finding.worse]
            paper, ours = (gain(finding, better, worse, printed=p) for p in (True, False))
            verdict = seen(finding, ours, chance(table, finding, better, worse))
            lines.append(
                (finding.sentence, finding.measure, f"{paper:+.2f}", f"{ours:+.2f}", verdict)
            )
    return lines


def gain(finding: Finding, better: Row, worse: Row, *, printed: bool) -> float:
    """By how much the better row is better; a lower perplexity is."""
    if finding.measure == "PPL":
        a, b = (r.printed.perplexity if printed else r.perplexity.mean for r in (worse, better))
    else:
        a, b = (r.printed.bleu if printed else r.bleu.mean for r in (better, worse))
    return a - b


def chance(table: Table, finding: Finding, better: Row, worse: Row) -> float | None:
    """Two standard errors of the difference, by the spread of base between its seeds."""
    base = table.rows.get("base")
    measured = base and (base.perplexity if finding.measure == "PPL" else base.bleu)
    if not measured or measured.spread is None:
        return None
    return 2 * measured.spread * math.sqrt(1 / len(better.runs) + 1 / len(worse.runs))


def seen(finding: Finding, ours: float, chance: float | None) -> str:
    """A verdict that claims no more than the seeds allow."""
    if chance is None:
        same = "about equal" if finding.equal else "so"
        return f"{same if finding.equal or ours > 0 else 'not so'}, by one seed: it may be chance"
    if abs(ours) <= chance:
        return "equal within chance" if finding.equal else f"not told from chance (±{chance:.2f})"
    if finding.equal:
        return f"differs by more than chance (±{chance:.2f})"
    return "seen" if ours > 0 else f"the reverse is seen (±{chance:.2f})"
