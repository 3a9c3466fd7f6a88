"""Scoring of tagged text in files: `transduce.score_tags`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from transduce.errors import InputError, short_repr
from transduce.scores.bootstrap import SAMPLES, SEED, Comparison, compare_outputs
from transduce.scores.metrics import METRICS, build_span_metric
from transduce.scores.spans.report import SpanReport, score_spans
from transduce.text.arguments import read_path
from transduce.text.tags import TaggedSentence, read_tagged

Tagged = str | Path | Sequence[TaggedSentence]


def score_tags(gold: Tagged, output: Tagged, *, scheme: str = "bio") -> SpanReport:
    """Score the labels of tagged text: F1 of spans by type and on average, and accuracy.

    `gold` and `output` are files with a token, a tab and a label on each line, or lists of
    sentences as `transduce.text.tags.read_tagged` yields them; their tokens must be equal.
    `scheme` says which labels form a span: "bio", "bio-strict" (seqeval's strict mode), "iob1", or
    "raw", where each run of equal labels is a span.
    """
    ours, theirs = read_sentences(gold), read_sentences(output)
    if not theirs:
        raise InputError("there are no sentences to score", "look at the files")
    require_equal_tokens(ours, theirs)
    return score_spans([one.labels for one in ours], [one.labels for one in theirs], scheme)


def compare_tags(
    gold: Tagged,
    outputs: tuple[Tagged, Tagged],
    *,
    scheme: str = "bio",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> list[Comparison]:
    """Compare two taggers' labels of the same tokens by span F1 and by accuracy.

    The first comparison is of span F1, the second of accuracy.
    """
    texts = [read_sentences(text) for text in (gold, *outputs)]
    for output in texts[1:]:
        require_equal_tokens(texts[0], output)
    lines, ours, theirs = ([" ".join(one.labels) for one in text] for text in texts)
    return [
        compare_outputs(metric, (ours, theirs), lines, samples=samples, seed=seed)
        for metric in (build_span_metric(scheme), METRICS["accuracy"])
    ]


def read_sentences(text: object) -> list[TaggedSentence]:
    """Read tagged sentences from a two-column file, or return a given list of them as it is."""
    if isinstance(text, str | Path):
        return list(read_tagged(read_path("tagged text", text)))
    found: list[Any] = list(text) if isinstance(text, Iterable) else [text]
    for one in found:
        if not isinstance(one, TaggedSentence):
            raise InputError(f"a tagged text is a file or tagged sentences, not {short_repr(one)}")
    return found


def require_equal_tokens(gold: Sequence[TaggedSentence], output: Sequence[TaggedSentence]) -> None:
    """Raise InputError if gold and output differ in the number of sentences or in a token."""
    for number, (ours, theirs) in enumerate(zip(gold, output, strict=False), start=1):
        if ours.tokens == theirs.tokens:
            continue
        both = enumerate(zip(ours.tokens, theirs.tokens, strict=False), start=1)
        other = ((place, a, b) for place, (a, b) in both if a != b)
        shorter = (min(len(ours.tokens), len(theirs.tokens)) + 1, "", "")
        place, token, found = next(other, shorter)
        fact = f"the output has {found!r}, the gold file {token!r}"
        if not token:
            fact = f"the output has {len(theirs.tokens)} tokens, the gold file {len(ours.tokens)}"
        raise InputError(
            f"sentence {number:,}, token {place}: {fact}",
            "labels are compared token by token; do both files separate sentences alike?",
        )
    if len(gold) != len(output):
        raise InputError(
            f"{len(output):,} sentences are to be scored, but the gold file has {len(gold):,}",
            "sentence n of the one belongs to sentence n of the other",
        )
