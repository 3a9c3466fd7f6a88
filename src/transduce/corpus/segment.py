"""Segments: consecutive pairs of a corpus as token ids in memory, on their way into a store."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import chain
from typing import Protocol, final, runtime_checkable

import numpy as np
from jaxtyping import UInt, UInt32

from transduce.corpus.side import id_type
from transduce.vocabulary import Vocabulary

# N: sentences of the segment · T: tokens of its sentences together

LENGTHS = np.dtype("<u4")


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
    """How many pairs were read, dropped as too long or for an unknown label, and kept."""

    read: int = 0
    too_long: int = 0
    unknown_label: int = 0
    kept: int = 0


@final
@dataclass(frozen=True)
class EncodedSide:
    """One side of a segment: the token ids of its N sentences end to end, and their lengths."""

    ids: UInt[np.ndarray, " T"]
    lengths: UInt32[np.ndarray, " N"]


@final
@dataclass(frozen=True)
class Segment:
    """Consecutive pairs of a corpus as token ids, with the numbers of pairs read and dropped."""

    counts: PairCounts
    source: EncodedSide
    target: EncodedSide
    texts: bytes  # a line `source<TAB>target` for each kept pair; empty in training data


def encode_block(
    block: Sequence[tuple[str, str]], encoder: PairEncoder, max_length: int, *, keeps_texts: bool
) -> Segment:
    """Encode pairs of lines as a segment; drop pairs with too many tokens or an unknown label."""
    encoded = zip(
        block,
        encoder.encode_sources([line for line, _ in block]),
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
    """Pack the token ids of sentences end to end, in the smallest type for that many symbols."""
    return EncodedSide(
        np.fromiter(chain.from_iterable(sentences), id_type(symbols)),
        np.fromiter(map(len, sentences), LENGTHS),
    )


def join_segments(segments: Sequence[Segment]) -> Segment:
    """Join consecutive segments into one; the counts are added."""
    return Segment(
        add_counts(segment.counts for segment in segments),
        join_sides([segment.source for segment in segments]),
        join_sides([segment.target for segment in segments]),
        b"".join(segment.texts for segment in segments),
    )


def join_sides(sides: Sequence[EncodedSide]) -> EncodedSide:
    """Join one side of consecutive segments."""
    return EncodedSide(
        np.concatenate([side.ids for side in sides]),
        np.concatenate([side.lengths for side in sides]),
    )


def add_counts(counts: Iterable[PairCounts]) -> PairCounts:
    """Add the numbers of pairs read, dropped and kept."""
    return PairCounts(*map(sum, zip(*(astuple(each) for each in counts), strict=True)))


def count_tokens(segment: Segment) -> int:
    """Return the number of tokens of both sides."""
    return len(segment.source.ids) + len(segment.target.ids)
