"""Scores and perplexity, and the protocol of metrics, which is modelled on sacreBLEU's.

A metric gives each line counts, and computes a score from sums of counts. Sums over resampled lines
then tell whether a difference of two scores is significant.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

from transduce.errors import InputError
from transduce.scores.test_sets import NAMELESS

Texts = Sequence[Sequence[str]]  # the output first, then its references
Counts = Sequence[float | int]  # the numbers that a line adds to the sums
# Returns the texts in the form to be scored, and a suffix for the signature; may refuse texts.
Preprocess = Callable[[Texts], tuple[Texts, str]]


@final
@dataclass(frozen=True)
class Score:
    """A metric's corpus-level score of one output, with its signature, test set and line count."""

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
    """Return a line per score; an unknown test set is named once, then "the same N lines"."""
    lines = list(map(str, scores))
    if scores and scores[0].test_set.startswith(NAMELESS):
        first = f"{scores[0].test_set} | {scores[0].lines:,} lines"
        lines[1:] = [
            line.replace(first, f"the same {scores[0].lines:,} lines") for line in lines[1:]
        ]
    return lines


@final
@dataclass(frozen=True)
class Perplexity:
    """The perplexity of a text per piece and per word, without label smoothing.

    The numbers of pieces and of words both include the END of each sentence. Table 3 prints the
    perplexity per piece, which is comparable only between models with the same vocabulary. Where no
    line of a text can be scored, `nats` is nan with counts of 0, and both perplexities are nan.
    Outputs without words, such as trees, have 0 words and no perplexity per word.
    """

    nats: float  # sum of -log P over all target sentences
    pieces: int
    words: int

    def __post_init__(self) -> None:
        if not math.isnan(self.nats) and (self.pieces < 1 or self.words < 0):
            raise InputError("there is no text to take the perplexity of")

    @property
    def per_piece(self) -> float:
        """The perplexity per piece, e^(nats / pieces), as Table 3 prints it."""
        return exp_of_mean(self.nats, self.pieces)

    @property
    def per_word(self) -> float:
        """The perplexity per word, e^(nats / words), comparable across vocabularies."""
        return exp_of_mean(self.nats, self.words)

    def __str__(self) -> str:
        piece, word = (
            f"{one:,.3f}" if not one >= 1e6 else f"{one:.2e}"  # nan included
            for one in (self.per_piece, self.per_word)
        )
        per_piece = f"perplexity {piece} a piece ({self.pieces:,})"
        if self.pieces and not self.words:
            return per_piece
        return f"{per_piece}, {word} a word ({self.words:,})"

    def as_json(self) -> dict[str, Any]:
        """Return perplexities, nats and counts for JSON, with None for infinity and nan."""
        values = {"per_piece": self.per_piece, "per_word": self.per_word, "nats": self.nats}
        finite = {name: x if math.isfinite(x) else None for name, x in values.items()}
        return finite | {"pieces": self.pieces, "words": self.words}


def exp_of_mean(total: float, count: int) -> float:
    """Return e^(total / count); infinity where a float overflows, nan if `count` is 0."""
    if count == 0:
        return math.nan
    return math.inf if total / count >= 709 else math.exp(total / count)


class Result(NamedTuple):
    """A metric's value for an output, the counts that it is computed from, and its signature."""

    value: float
    details: Mapping[str, Any]
    signature: str = ""  # how the value was computed, in sacreBLEU's notation


@runtime_checkable
class Scorer(Protocol):
    """The part of a metric that counts and scores: a `SacreBleuScorer` or a `CountScorer`."""

    def score(self, texts: Texts) -> Result:
        """Return the `Result` of an output, the first of `texts`, against the other texts."""

    def count_lines(self, texts: Texts) -> Sequence[Counts]:
        """Return each output line's counts; `score_sums` takes their sums over lines."""

    def score_sums(self, sums: Iterable[Any]) -> float:
        """Return the score of lines whose counts sum to `sums`."""


def pass_texts(texts: Texts) -> tuple[Texts, str]:
    """Return the texts and "", no signature suffix, for a metric without preprocessing."""
    return texts, ""


@final
@dataclass(frozen=True)
class Metric:
    """A metric: name, preprocessing and scorer of texts, language, variants for other languages."""

    name: str
    description: str  # for --help
    scorer: Scorer
    preprocess: Preprocess = pass_texts
    language: str = ""  # the only language that the metric can score; "" for any
    higher_is_better: bool = True
    # by language: the metric to use in place of this one, such as one that counts characters
    variants: Mapping[str, "Metric"] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class CountScorer:
    """A scorer with integer counts for each line; `total` makes a result from the counts' sums."""

    signature: str
    count_lines: Callable[[Texts], Sequence[tuple[int, ...]]]
    total: Callable[..., Result]  # without the signature

    def score(self, texts: Texts) -> Result:
        """Return the `Result` of an output, the first of `texts`, against the other texts."""
        sums = map(sum, zip(*self.count_lines(texts), strict=True))
        return self.total(*sums)._replace(signature=self.signature)

    def score_sums(self, sums: Iterable[Any]) -> float:
        """Return the score of lines whose counts sum to `sums`."""
        return self.total(*map(int, sums)).value


def percentage(part: int, whole: int) -> float:
    """Return part / whole in percent, or 0 if `whole` is 0."""
    return 100 * part / whole if whole else 0.0
