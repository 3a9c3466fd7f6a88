"""Scores, and the protocol of the metrics that compute them, after sacreBLEU's.

A metric counts lines and scores sums of counts. Sums over resampled lines then tell whether a
difference of two scores is significant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

from transduce.scores.test_sets import NAMELESS

Texts = Sequence[Sequence[str]]  # the output first, then its references
Counts = Sequence[float | int]  # the numbers that a line adds to the sums
# Returns the texts as they are to be scored, and a suffix for the signature; may refuse texts.
Preprocess = Callable[[Texts], tuple[Texts, str]]


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


class Result(NamedTuple):
    """A metric's value for an output, its signature, and the counts that it is computed from."""

    value: float
    signature: str  # how the value was computed, in sacreBLEU's notation
    details: Mapping[str, Any]


@runtime_checkable
class Scorer(Protocol):
    """The part of a metric that counts and scores: a `SacreBleuScorer` or a `CountScorer`."""

    def score(self, texts: Texts) -> Result:
        """Score an output, the first of `texts`, against its references."""

    def count_lines(self, texts: Texts) -> Sequence[Counts]:
        """Return the counts of each line of the output; `score_sums` takes the sums of lines."""

    def score_sums(self, sums: Iterable[Any]) -> float:
        """Return the score of lines whose counts sum to `sums`."""


def pass_texts(texts: Texts) -> tuple[Texts, str]:
    """Return the texts unchanged, and "" as suffix, for a metric without preprocessing."""
    return texts, ""


@final
@dataclass(frozen=True)
class Metric:
    """A metric: its name, the scorer of texts, and the preprocessing of texts for the scorer."""

    name: str
    description: str  # for --help
    scorer: Scorer
    preprocess: Preprocess = pass_texts
    language: str = ""  # the only language that the metric can score; "" for any
    higher_is_better: bool = True
    # by language: the metric to use in place of this one, such as one that counts characters
    variants: Mapping[str, "Metric"] = field(default_factory=dict)


@runtime_checkable
class Total(Protocol):
    """The sums of all lines' counts, and the score that is computed from them."""

    @property
    def score(self) -> float:
        """The metric's value."""

    @property
    def details(self) -> Mapping[str, Any]:
        """The sums, and other figures computed from them, for `Score.details`."""


class Figures(NamedTuple):
    """A `Total` made of a score and details that are already computed."""

    score: float
    details: Mapping[str, Any]


@final
@dataclass(frozen=True)
class CountScorer:
    """A scorer with integer counts for each line; `total` makes a score from the counts' sums."""

    signature: str
    count_lines: Callable[[Texts], Sequence[tuple[int, ...]]]
    total: Callable[..., Total]

    def score(self, texts: Texts) -> Result:
        """Score an output, the first of `texts`, against its references."""
        total = self.total(*map(sum, zip(*self.count_lines(texts), strict=True)))
        return Result(total.score, self.signature, total.details)

    def score_sums(self, sums: Iterable[Any]) -> float:
        """Return the score of lines whose counts sum to `sums`."""
        return self.total(*map(int, sums)).score


def percentage(part: int, whole: int) -> float:
    """Return part / whole in percent, or 0 if `whole` is 0."""
    return 100 * part / whole if whole else 0.0
