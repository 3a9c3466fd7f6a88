"""Scores of labelled tokens: F1 of spans such as noun phrases, and accuracy.

Spans are found as seqeval and conlleval find them. A scheme says which labels of a sentence form a
span, and of which type:

    bio         B-X starts a span of type X, I-X continues it; a stray I-X also starts a span
    bio-strict  like bio, but a stray I-X belongs to no span (seqeval's strict mode, IOB2)
    iob1        like bio, but B-X is written only after a span of type X
    raw         each run of equal labels is a span, and the label is its type

A span never crosses the end of a sentence. Metrics take lines, each with a sentence's labels
separated by spaces.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from typing import Any, final

from transduce.errors import InputError, short_repr, suggest_names
from transduce.scores.score import CountScorer, Metric, Result, Texts, percentage
from transduce.text.tags import NO_SPANS, NO_TYPE, OUTSIDE, SPAN_PREFIXES
from transduce.text.words import split_words
from transduce.version import __version__

Labels = Sequence[str]  # the labels of a sentence's tokens
Span = tuple[str, int, int]  # type, first token, last token


@final
@dataclass(frozen=True)
class SpanCounts:
    """The counts of matching spans (equal in type, start and end), gold spans and output spans."""

    matched: int
    gold: int
    output: int

    @property
    def precision(self) -> float:
        """The fraction of output spans that match a gold span; 0 if there are no output spans."""
        return divide(self.matched, self.output)

    @property
    def recall(self) -> float:
        """The fraction of gold spans that the output has; 0 if there are no gold spans."""
        return divide(self.matched, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, from 0 to 1."""
        return divide(2 * self.matched, self.gold + self.output)

    @property
    def rates(self) -> "SpanAverage":
        """Precision, recall and F1, and the number of gold spans."""
        return SpanAverage(self.precision, self.recall, self.f1, self.gold)

    @property
    def score(self) -> float:
        """F1 in percent."""
        return 100 * self.f1

    @property
    def details(self) -> dict[str, float]:
        """`recall` and `precision` in percent, and each count under its field name."""
        return {"recall": 100 * self.recall, "precision": 100 * self.precision, **asdict(self)}


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
        return self.counts.rates

    @property
    def macro(self) -> SpanAverage:
        """The mean precision, recall and F1 over the span types, with equal weights."""
        return self.average([1] * len(self.types))

    @property
    def weighted(self) -> SpanAverage:
        """The mean precision, recall and F1, weighted by each type's number of gold spans."""
        return self.average([one.gold for one in self.types.values()])

    def average(self, weights: Sequence[int]) -> SpanAverage:
        """Return the mean precision, recall and F1 over the span types, weighted by `weights`.

        All means are 0 if all weights are 0.
        """
        every = list(zip(weights, self.types.values(), strict=True))
        precision, recall, f1 = (
            divide(sum(weight * getattr(one, rate) for weight, one in every), sum(weights))
            for rate in ("precision", "recall", "f1")
        )
        return SpanAverage(precision, recall, f1, self.counts.gold)

    def as_json(self) -> dict[str, Any]:
        """Return counts, accuracy, averages and the scores of each span type as values for JSON."""
        averages = ("micro", "macro", "weighted")
        return {
            "scheme": self.scheme,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "accuracy": self.accuracy,
            **{name: asdict(getattr(self, name)) for name in averages},
            "types": {name: asdict(one.rates) for name, one in self.types.items()},
        }


def score_spans(
    gold: Sequence[Labels], output: Sequence[Labels], scheme: str = "bio"
) -> SpanReport:
    """Return the span and token counts of gold and output labels, given as a list per sentence.

    Raises InputError if the numbers of sentences or labels differ, or at an unknown scheme.
    """
    require_parallel_labels(gold, output)
    matched, in_gold, in_output = Counter[str](), Counter[str](), Counter[str]()
    for gold_labels, labels in zip(gold, output, strict=True):
        gold_spans, spans = find_spans(gold_labels, scheme), find_spans(labels, scheme)
        matched.update(kind for kind, _, _ in {*gold_spans} & {*spans})
        in_gold.update(kind for kind, _, _ in gold_spans)
        in_output.update(kind for kind, _, _ in spans)
    types = sorted({*in_gold, *in_output})
    return SpanReport(
        {kind: SpanCounts(matched[kind], in_gold[kind], in_output[kind]) for kind in types},
        tokens=sum(map(len, gold)),
        correct_tokens=sum(map(count_equal, gold, output)),
        sentences=len(gold),
        scheme=scheme,
    )


def build_span_metric(scheme: str) -> Metric:
    """Build the span F1 metric for labels in a scheme such as "bio"."""
    return Metric(
        "span F1",
        f"labels, a sentence a line: spans by the scheme {scheme}",
        CountScorer(
            f"scheme:{scheme}|average:micro|version:{__version__}",
            partial(count_spans, scheme=scheme),
            total_spans,
        ),
    )


def count_spans(texts: Texts, *, scheme: str) -> list[tuple[int, int, int]]:
    """Return each line's numbers of (matching, gold, output) spans; `texts` are output and gold."""
    counts = []
    for gold, output in zip(*split_labels(texts), strict=True):
        gold_spans, spans = find_spans(gold, scheme), find_spans(output, scheme)
        counts.append((len({*gold_spans} & {*spans}), len(gold_spans), len(spans)))
    return counts


def total_spans(*counts: int) -> Result:
    """Return F1 in percent; its details are recall and precision in percent, and the counts."""
    found = SpanCounts(*counts)
    return Result(found.score, found.details)


def count_tokens(texts: Texts) -> list[tuple[int, int]]:
    """Return each line's numbers of (correct labels, tokens); `texts` are output and gold."""
    return [
        (count_equal(gold, output), len(gold))
        for gold, output in zip(*split_labels(texts), strict=True)
    ]


ACCURACY = Metric(
    "accuracy",
    "labels, a sentence a line: the share of tokens with the label of the reference",
    CountScorer(
        f"unit:token|case:mixed|version:{__version__}",
        count_tokens,
        lambda correct, tokens: Result(
            percentage(correct, tokens), {"correct": correct, "tokens": tokens}
        ),
    ),
)


def split_labels(texts: Texts) -> tuple[Sequence[Labels], Sequence[Labels]]:
    """Return the labels by line as (gold, output), given (output, gold); InputError if unequal."""
    if len(texts) != 2:
        raise InputError("labels are scored against one reference", "name one gold file")
    output, gold = ([split_words(line) for line in lines] for lines in texts)
    require_parallel_labels(gold, output)
    return gold, output


def require_parallel_labels(gold: Sequence[Labels], output: Sequence[Labels]) -> None:
    """Raise InputError if the numbers of sentences, or of labels in a sentence, differ."""
    if len(gold) != len(output):
        raise InputError(
            f"{len(output):,} sentences are to be scored, but the gold labels have {len(gold):,}",
            "sentence n of the one belongs to sentence n of the other",
        )
    for number, (wanted, found) in enumerate(zip(gold, output, strict=True), start=1):
        if len(wanted) != len(found):
            raise InputError(
                f"sentence {number:,}: {len(found):,} labels, but {len(wanted):,} in the gold file",
                "each token has one label",
            )


def count_equal(gold: Labels, output: Labels) -> int:
    """Return the number of tokens whose gold and output labels are equal."""
    return sum(a == b for a, b in zip(gold, output, strict=True))


def divide(part: float | int, whole: float | int) -> float:
    """Return part / whole, or 0 if `whole` is 0."""
    return part / whole if whole else 0.0


def find_spans(labels: Labels, scheme: str) -> list[Span]:
    """Return (type, first, last token) of each labelled span; InputError for an unknown scheme."""
    if scheme not in SCHEMES:
        raise InputError(f"unknown scheme {short_repr(scheme)}", suggest_names(scheme, SCHEMES))
    return list(SCHEMES[scheme](labels))


def find_spans_leniently(labels: Labels) -> Iterator[Span]:
    """Yield the spans of BIO or BIOES labels; an I or E that continues no span starts a span.

    These are the rules of conlleval.
    """
    start, before = 0, (OUTSIDE, "")
    for position, (prefix, kind) in enumerate([*map(split_label, labels), (OUTSIDE, "")]):
        if before[0] in "BI" and prefix in "IE" and kind == before[1]:
            before = prefix, kind
            continue
        if before[0] != OUTSIDE:
            yield before[1], start, position - 1
        start, before = position, (prefix, kind)


def find_spans_strictly(labels: Labels) -> Iterator[Span]:
    """Yield the spans of BIO labels; ignore an I that continues no span; InputError for E or S."""
    prefixes = [split_label(label)[0] for label in labels]
    if prefix := next(filter("ES".__contains__, prefixes), ""):
        raise InputError(f"the prefix {prefix}- is not of the scheme bio-strict", "--scheme bio")
    yield from (span for span in find_spans_leniently(labels) if prefixes[span[1]] == "B")


def find_runs(labels: Labels) -> Iterator[Span]:
    """Yield each run of equal labels, except runs of O, as a span with the label as its type."""
    position = 0
    for label, run in groupby(labels):
        length = len(list(run))
        if label != OUTSIDE:
            yield label, position, position + length - 1
        position += length


SCHEMES: Mapping[str, Callable[[Labels], Iterator[Span]]] = {
    "bio": find_spans_leniently,
    "bio-strict": find_spans_strictly,
    "iob1": find_spans_leniently,
    "raw": find_runs,
}


def split_label(label: str) -> tuple[str, str]:
    """Split a label such as B-NP into prefix and type ("_" if none); InputError if malformed.

    A label without a type gets the type "_".
    """
    prefix, hyphen, kind = label.partition("-")
    if prefix not in (*SPAN_PREFIXES, OUTSIDE) or (hyphen and prefix == OUTSIDE):
        raise InputError(f"label {short_repr(label)} is not O, B-… or I-…", NO_SPANS)
    return prefix, kind or NO_TYPE
