"""A score with its evidence: what was scored, how, and on which test set."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, final


@final
@dataclass(frozen=True)
class Score:
    """The score of one output by one metric."""

    name: str
    value: float
    signature: str  # sacreBLEU's: how it was computed
    lines: int
    test_set: str  # what the references are, by their hash
    details: Mapping[str, Any] = field(default_factory=dict)  # the counts it comes from
    paper_comparability: str = ""  # a sentence, where the paper prints such a figure
    higher_is_better: bool = True

    def __str__(self) -> str:
        return (
            f"{self.name} {self.value:.2f} | {self.test_set} | {self.lines:,} lines"
            f" | {self.signature}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the score as plain values for JSON."""
        return asdict(self)
