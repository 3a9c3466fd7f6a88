"""What a metric is, after sacreBLEU's idea: each line is counted, and the sums give the score.

Sums over resampled lines then tell whether a difference of two scores is significant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

Texts = Sequence[Sequence[str]]  # the output first, then its references
Counts = Sequence[float | int]  # the numbers that a line adds to the sums
# A function that refuses or changes texts to be scored; returns a suffix for the signature, too.
Preprocess = Callable[[Texts], tuple[Texts, str]]


class Result(NamedTuple):
    """A metric's value for some texts, how it was computed, and the counts that it comes from."""

    value: float
    signature: str  # in sacreBLEU's notation
    details: Mapping[str, Any]


@runtime_checkable
class Scorer(Protocol):
    """The counts and scores of a metric; one of sacreBLEU's, or a `CountScorer`."""

    def score(self, texts: Texts) -> Result:
        """Score an output, the first of `texts`, against its references."""

    def count_lines(self, texts: Texts) -> Sequence[Counts]:
        """Return the counts of each line of an output, whose sums `score_sums` takes."""

    def score_sums(self, sums: Iterable[Any]) -> float:
        """Return the score that the sums of the counts of some lines give."""


@final
@dataclass(frozen=True)
class Metric:
    """A metric: its name, what scores texts by it, and how texts are preprocessed for it."""

    name: str
    description: str  # for --help
    scorer: Scorer
    preprocess: Preprocess = lambda texts: (texts, "")
    language: str = ""  # the only language that the metric can score; "" for any
    higher_is_better: bool = True


@runtime_checkable
class Total(Protocol):
    """The counts of all lines together, which a score is computed from."""

    @property
    def score(self) -> float:
        """The score that the counts give."""

    @property
    def details(self) -> Mapping[str, Any]:
        """The counts, and figures beside the score, to be stored with it."""


@final
@dataclass(frozen=True)
class CountScorer:
    """A scorer whose counts of each line are integers, the arguments of a `Total`."""

    signature: str
    count_lines: Callable[[Texts], Sequence[tuple[int, ...]]]
    total: Callable[..., Total]

    def score(self, texts: Texts) -> Result:
        """Score an output, the first of `texts`, against its references."""
        total = self.total(*map(sum, zip(*self.count_lines(texts), strict=True)))
        return Result(total.score, self.signature, total.details)

    def score_sums(self, sums: Iterable[Any]) -> float:
        """Return the score that the sums of the counts of some lines give."""
        return self.total(*map(int, sums)).score


def percentage(part: int, whole: int) -> float:
    """Return part / whole in percent, or 0 if `whole` is 0."""
    return 100 * part / whole if whole else 0.0
