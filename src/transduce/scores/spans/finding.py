"""Spans of labelled tokens, such as noun phrases, found as seqeval and conlleval find them.

A scheme says which labels of a sentence form a span, and of which type:

    bio         B-X starts a span of type X, I-X continues it; a stray I-X also starts a span
    bio-strict  like bio, but a stray I-X belongs to no span (seqeval's strict mode, IOB2)
    iob1        B-X is written only after a span of the same type; the labels are read like bio
    raw         each run of equal labels is a span, and the label is its type
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from transduce.errors import InputError, suggest_names

Labels = Sequence[str]  # the labels of a sentence's tokens
Span = tuple[str, int, int]  # type, first token, last token
OUTSIDE = "O"
SPAN_PREFIXES = ("B", "I", "E", "S")  # BIOES also marks the last token of a span, and the only one
NO_SPANS = (  # the hint for labels that stand for themselves
    "labels without B and I: `score --spans --scheme raw`, `train --set data.label_scheme=raw`"
)
NO_TYPE = "_"  # the type of a span whose labels are B and I without a type


def find_spans(labels: Labels, scheme: str) -> list[Span]:
    """Find the labelled spans of a sentence; return the type, first and last token of each."""
    if scheme not in SCHEMES:
        raise InputError(f"unknown scheme {scheme!r}", suggest_names(scheme, SCHEMES))
    return list(SCHEMES[scheme](labels))


def find_spans_leniently(labels: Labels) -> Iterator[Span]:
    """Yield the spans of BIO or BIOES labels; an I or E that continues no span starts one.

    These are the rules of conlleval.
    """
    start, before = 0, (OUTSIDE, "")
    for position, (prefix, kind) in enumerate([*map(split_label, labels), (OUTSIDE, "")]):
        fits = before[0] in "BI" and prefix in "IE" and kind == before[1]
        if fits:
            before = prefix, kind
            continue
        if before[0] != OUTSIDE:
            yield before[1], start, position - 1
        start, before = position, (prefix, kind)


def find_spans_strictly(labels: Labels) -> Iterator[Span]:
    """Yield the spans of BIO labels; an I that continues no span belongs to none."""
    start, open_type = 0, ""
    for position, (prefix, kind) in enumerate([*map(split_label, labels), (OUTSIDE, "")]):
        if prefix in "ES":
            raise InputError(f"the prefix {prefix}- is not of the scheme bio", "--scheme bio")
        if prefix == "I" and kind == open_type:
            continue
        if open_type:
            yield open_type, start, position - 1
        start, open_type = position, kind if prefix == "B" else ""


def find_runs(labels: Labels) -> Iterator[Span]:
    """Yield each run of equal labels as a span, except runs of O."""
    position = 0
    for label, run in groupby(labels):
        length = len(list(run))
        if label != OUTSIDE:
            yield label, position, position + length - 1
        position += length


SCHEMES: Mapping[str, Callable[[Labels], Iterator[Span]]] = MappingProxyType(
    {
        "bio": find_spans_leniently,
        "bio-strict": find_spans_strictly,
        "iob1": find_spans_leniently,
        "raw": find_runs,
    }
)


def split_label(label: str) -> tuple[str, str]:
    """Split a label such as B-NP into its prefix (B, I, E, S or O) and its type.

    The type of a label without one is "_".
    """
    prefix, hyphen, kind = label.partition("-")
    if prefix not in (*SPAN_PREFIXES, OUTSIDE) or (hyphen and prefix == OUTSIDE):
        raise InputError(
            f"label {label!r} is not O, B-… or I-…",
            NO_SPANS,
        )
    return prefix, kind or NO_TYPE
