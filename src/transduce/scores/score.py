"""The value of a metric, with its signature, its counts and the name of the test set."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, final

from transduce.scores.test_sets import NAMELESS


@final
@dataclass(frozen=True)
class Score:
    """The score of one output by one metric."""

    name: str  # name of the metric, such as BLEU
    value: float
    signature: str  # how the score was computed, in sacreBLEU's notation
    lines: int
    test_set: str  # name of the test set, recognised by the hash of the references
    details: Mapping[str, Any] = field(default_factory=dict)  # counts that the value comes from
    paper_comparability: str = ""  # whether the value is comparable with the paper's BLEU
    higher_is_better: bool = True

    def __str__(self) -> str:
        return (
            f"{self.name} {self.value:.2f} | {self.test_set} | {self.lines:,} lines"
            f" | {self.signature}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the score as plain values for JSON."""
        return asdict(self)


def format_scores(scores: Sequence[Score]) -> list[str]:
    """Format scores as lines; from the second on, an unknown test set is "the same N lines"."""
    lines = list(map(str, scores))
    if scores and scores[0].test_set.startswith(NAMELESS):
        first = f"{scores[0].test_set} | {scores[0].lines:,} lines"
        lines[1:] = [
            line.replace(first, f"the same {scores[0].lines:,} lines") for line in lines[1:]
        ]
    return lines
