"""Span F1 and accuracy as metrics with sacreBLEU's interface, computed from summed counts.

Each line of output and references holds the labels of a sentence, separated by blanks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from transduce.errors import InputError
from transduce.scores.spans.finding import Labels, find_spans
from transduce.scores.spans.report import SpanCounts, count_equal, require_parallel_labels
from transduce.version import __version__


@final
@dataclass(frozen=True)
class SpanResult:
    """The counts of matching, gold and output spans, summed over all sentences."""

    counts: SpanCounts

    @property
    def score(self) -> float:
        """F1 in percent over all spans (micro average)."""
        return 100 * self.counts.f1


@final
@dataclass(frozen=True)
class SpanF1:
    """The span F1 metric, with the methods of sacreBLEU's metric classes."""

    scheme: str = "bio"

    def corpus_score(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> SpanResult:
        """Score output labels, one sentence per line, against the one gold text in `references`."""
        statistics = self._extract_corpus_statistics(outputs, references)
        return SpanResult(SpanCounts(*map(sum, zip(*statistics, strict=True))))

    def get_signature(self) -> str:
        """Return the signature in sacreBLEU's notation: scheme, kind of average, version."""
        return f"scheme:{self.scheme}|average:micro|version:{__version__}"

    def _extract_corpus_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[tuple[int, int, int]]:
        """Return the numbers of matching, gold and output spans of each sentence."""
        return [
            count_sentence(gold, output, self.scheme)
            for gold, output in split_sentences(outputs, references)
        ]

    def _compute_score_from_stats(self, statistics: Iterable[Any]) -> SpanResult:
        """Return the result for the summed counts of sentences, which may be numpy numbers."""
        return SpanResult(SpanCounts(*map(int, statistics)))


@final
@dataclass(frozen=True)
class AccuracyResult:
    """The number of tokens with the gold label, and the number of all tokens."""

    correct: int
    tokens: int

    @property
    def score(self) -> float:
        """The percentage of tokens with the gold label."""
        return 100 * self.correct / self.tokens if self.tokens else 0.0


@final
class Accuracy:
    """The token accuracy metric, with the methods of sacreBLEU's metric classes."""

    def corpus_score(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> AccuracyResult:
        """Score output labels, one sentence per line, against the one gold text in `references`."""
        statistics = self._extract_corpus_statistics(outputs, references)
        return AccuracyResult(*map(sum, zip(*statistics, strict=True)))

    def get_signature(self) -> str:
        """Return the signature in sacreBLEU's notation: unit (tokens), case, version."""
        return f"unit:token|case:mixed|version:{__version__}"

    def _extract_corpus_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[tuple[int, int]]:
        """Return the numbers of correct tokens and of all tokens of each sentence."""
        both = split_sentences(outputs, references)
        return [(count_equal(gold, output), len(gold)) for gold, output in both]

    def _compute_score_from_stats(self, statistics: Iterable[Any]) -> AccuracyResult:
        """Return the result for the summed counts of sentences, which may be numpy numbers."""
        return AccuracyResult(*map(int, statistics))


def split_sentences(
    outputs: Sequence[str], references: Sequence[Sequence[str]]
) -> list[tuple[Labels, Labels]]:
    """Return the gold and output labels of each sentence; raise InputError if not parallel."""
    if len(references) != 1:
        raise InputError("labels are scored against one reference", "name one gold file")
    gold, output = ([line.split() for line in lines] for lines in (references[0], outputs))
    require_parallel_labels(gold, output)
    return list(zip(gold, output, strict=True))


def count_sentence(gold: Labels, output: Labels, scheme: str) -> tuple[int, int, int]:
    """Return the numbers of matching, gold and output spans of a sentence."""
    ours, theirs = find_spans(gold, scheme), find_spans(output, scheme)
    return len({*ours} & {*theirs}), len(ours), len(theirs)


def extract_span_counts(result: SpanResult) -> dict[str, Any]:
    """Return recall and precision in percent and the counts that a span F1 is computed from."""
    counts = result.counts
    return {
        "recall": 100 * counts.recall,
        "precision": 100 * counts.precision,
        **asdict(counts),
    }


def extract_accuracy_counts(result: AccuracyResult) -> dict[str, Any]:
    """Return the numbers of correct tokens and of all tokens, as a dict."""
    return asdict(result)
