"""Precision, recall and F1 of spans by type and on average, and the accuracy of the labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from transduce.errors import InputError
from transduce.scores.spans.finding import Labels, find_spans


@final
@dataclass(frozen=True)
class SpanCounts:
    """The numbers of matching spans (of equal type, start and end), gold spans and output spans."""

    matched: int
    gold: int
    output: int

    @property
    def precision(self) -> float:
        """The fraction of the output's spans that match a gold span; 0 if the output has none."""
        return divide(self.matched, self.output)

    @property
    def recall(self) -> float:
        """The fraction of the gold spans that the output has, or 0 if there are no gold spans."""
        return divide(self.matched, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, from 0 to 1."""
        return divide(2 * self.matched, self.gold + self.output)


@final
@dataclass(frozen=True)
class SpanAverage:
    """Precision, recall and F1 of spans, from 0 to 1, for one span type or averaged over types."""

    precision: float
    recall: float
    f1: float
    support: int  # number of gold spans


@final
@dataclass(frozen=True)
class SpanReport:
    """The counts of spans by span type, and the counts of tokens and correct labels."""

    types: Mapping[str, SpanCounts]  # for each span type in gold or output, sorted by type
    tokens: int
    correct_tokens: int
    sentences: int
    scheme: str

    @property
    def counts(self) -> SpanCounts:
        """The sums of the span counts over all span types."""
        every = self.types.values()
        return SpanCounts(
            sum(one.matched for one in every),
            sum(one.gold for one in every),
            sum(one.output for one in every),
        )

    @property
    def accuracy(self) -> float:
        """The fraction of tokens with the gold label."""
        return divide(self.correct_tokens, self.tokens)

    @property
    def micro(self) -> SpanAverage:
        """The micro average: precision, recall and F1 of all spans together."""
        every = self.counts
        return SpanAverage(every.precision, every.recall, every.f1, every.gold)

    @property
    def macro(self) -> SpanAverage:
        """The mean precision, recall and F1 over the span types, with equal weights."""
        return self.average([1] * len(self.types))

    @property
    def weighted(self) -> SpanAverage:
        """The mean over the span types, weighted by the number of gold spans of each type."""
        return self.average([one.gold for one in self.types.values()])

    def average(self, weights: Sequence[int]) -> SpanAverage:
        """Return the means of precision, recall and F1 over the span types with these weights.

        All means are 0 if all weights are 0.
        """
        every = list(zip(weights, self.types.values(), strict=True))
        total = sum(weights)
        return SpanAverage(
            divide(sum(weight * one.precision for weight, one in every), total),
            divide(sum(weight * one.recall for weight, one in every), total),
            divide(sum(weight * one.f1 for weight, one in every), total),
            self.counts.gold,
        )

    def as_json(self) -> dict[str, Any]:
        """Return averages, counts and the scores of each span type as plain values for JSON."""
        types = {
            name: asdict(SpanAverage(one.precision, one.recall, one.f1, one.gold))
            for name, one in self.types.items()
        }
        averages = ("micro", "macro", "weighted")
        return {
            "scheme": self.scheme,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "accuracy": self.accuracy,
            **{name: asdict(getattr(self, name)) for name in averages},
            "types": types,
        }


def score_spans(
    gold: Sequence[Labels], output: Sequence[Labels], scheme: str = "bio"
) -> SpanReport:
    """Compare gold and output labels, a list for each sentence; return counts of spans and tokens.

    A span never crosses the end of a sentence.
    """
    require_parallel_labels(gold, output)
    matched, ours, theirs = Counter[str](), Counter[str](), Counter[str]()
    for gold_labels, labels in zip(gold, output, strict=True):
        gold_spans, spans = find_spans(gold_labels, scheme), find_spans(labels, scheme)
        matched.update(kind for kind, _, _ in {*gold_spans} & {*spans})
        ours.update(kind for kind, _, _ in gold_spans)
        theirs.update(kind for kind, _, _ in spans)
    types = sorted({*ours, *theirs})
    return SpanReport(
        {kind: SpanCounts(matched[kind], ours[kind], theirs[kind]) for kind in types},
        tokens=sum(map(len, gold)),
        correct_tokens=sum(map(count_equal, gold, output)),
        sentences=len(gold),
        scheme=scheme,
    )


def count_equal(gold: Labels, output: Labels) -> int:
    """Return the number of tokens whose gold and output labels are equal."""
    return sum(a == b for a, b in zip(gold, output, strict=True))


def require_parallel_labels(gold: Sequence[Labels], output: Sequence[Labels]) -> None:
    """Raise InputError if the numbers of sentences, or of labels in a sentence, differ."""
    if len(gold) != len(output):
        raise InputError(
            f"{len(output):,} sentences are to be scored, but the gold labels have {len(gold):,}",
            "sentence n of the one belongs to sentence n of the other",
        )
    for number, (ours, theirs) in enumerate(zip(gold, output, strict=True), start=1):
        if len(ours) != len(theirs):
            raise InputError(
                f"sentence {number:,}: {len(theirs):,} labels, but {len(ours):,} in the gold file",
                "each token has one label",
            )


def divide(part: float | int, whole: float | int) -> float:
    """Return part / whole, or 0 if `whole` is 0."""
    return part / whole if whole else 0.0
