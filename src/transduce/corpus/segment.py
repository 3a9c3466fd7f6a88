"""Segments: consecutive pairs of a corpus as token ids, to be written to a store."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import chain
from typing import Protocol, final, runtime_checkable

import numpy as np
from jaxtyping import UInt, UInt32

from transduce.corpus.side import StoredIds, id_type
from transduce.vocabulary import BEGIN, Vocabulary

# N: sentences of a segment · T: number of all their tokens

LENGTHS = np.dtype("<u4")  # the type of sentence lengths on disk


@runtime_checkable
class PairEncoder(Protocol):
    """A task's vocabularies and its functions that turn lines into token ids."""

    @property
    def source(self) -> Vocabulary:
        """The vocabulary of the source lines."""

    @property
    def target(self) -> Vocabulary:
        """The vocabulary of the target lines."""

    def encode_sources(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the source token ids of cleaned lines, each list closed by END."""

    def encode_targets(self, lines: Sequence[str]) -> Sequence[list[int] | None]:
        """Return the target token ids of cleaned lines; None for a line with an unknown label."""


@final
@dataclass(frozen=True)
class PairCounts:
    """Numbers of pairs read, dropped as too long, dropped for an unknown label, and kept."""

    read: int = 0
    too_long: int = 0
    unknown_label: int = 0
    kept: int = 0


@final
@dataclass(frozen=True)
class EncodedSide:
    """A segment's source or target side: T token ids of N sentences end to end, and N lengths."""

    ids: UInt[np.ndarray, " T"] | StoredIds  # on disk if the segment is saved
    lengths: UInt32[np.ndarray, " N"]


@final
@dataclass(frozen=True)
class Segment:
    """Consecutive pairs of a corpus as token ids, and how many pairs were read and dropped."""

    counts: PairCounts
    source: EncodedSide
    target: EncodedSide
    texts: bytes  # a line `source<TAB>target` for each kept pair; empty in training data


def encode_block(
    block: Sequence[tuple[str, str]],
    encoder: PairEncoder,
    max_length: int,
    *,
    is_tagged: bool,
    keeps_texts: bool,
) -> Segment:
    """Encode line pairs as a segment; drop pairs that are too long or have an unknown label.

    If `is_tagged`, sources begin with BEGIN, a symbol that no text can spell. The segment has the
    texts of its pairs if `keeps_texts` is true.
    """
    tag = [BEGIN] if is_tagged else []
    encoded = zip(
        block,
        ([*tag, *ids] for ids in encoder.encode_sources([line for line, _ in block])),
        encoder.encode_targets([line for _, line in block]),
        strict=True,
    )
    known = [(pair, one, other) for pair, one, other in encoded if one and other]
    kept = [
        (pair, one, other) for pair, one, other in known if len(one) <= max_length >= len(other)
    ]
    texts = (f"{one}\t{other}\n" for (one, other), _, _ in kept if keeps_texts)
    return Segment(
        PairCounts(len(block), len(known) - len(kept), len(block) - len(known), len(kept)),
        pack_side([ids for _, ids, _ in kept], len(encoder.source)),
        pack_side([ids for _, _, ids in kept], len(encoder.target)),
        "".join(texts).encode(),
    )


def pack_side(sentences: Sequence[Sequence[int]], symbols: int) -> EncodedSide:
    """Pack sentences' token ids end to end, in the smallest type that holds ids below `symbols`."""
    return EncodedSide(
        np.fromiter(chain.from_iterable(sentences), id_type(symbols)),
        np.fromiter(map(len, sentences), LENGTHS),
    )


def join_segments(segments: Sequence[Segment]) -> Segment:
    """Join consecutive segments into one segment, and add up their pair counts."""
    return Segment(
        add_counts(segment.counts for segment in segments),
        join_sides([segment.source for segment in segments]),
        join_sides([segment.target for segment in segments]),
        b"".join(segment.texts for segment in segments),
    )


def join_sides(sides: Sequence[EncodedSide]) -> EncodedSide:
    """Join the same side (source or target) of consecutive segments."""
    return EncodedSide(
        np.concatenate([side.ids for side in sides]),
        np.concatenate([side.lengths for side in sides]),
    )


def add_counts(counts: Iterable[PairCounts]) -> PairCounts:
    """Return the sums of several counts of pairs read, dropped and kept."""
    return PairCounts(*map(sum, zip(*(astuple(each) for each in counts), strict=True)))


def count_tokens(segment: Segment) -> int:
    """Return a segment's number of tokens, source and target together."""
    return len(segment.source.ids) + len(segment.target.ids)
