"""Segments: consecutive pairs of a corpus as token ids, to be written to a store.

They are saved beside the unfinished store, so that a build can be resumed.

    train.segments/
      00000000/      manifest.json, source.ids, source.lengths, target.ids, target.lengths,
                     and pairs.tsv if the store keeps the texts
      00000001/      the same files

Each saved segment is complete or absent. Its manifest has sha256 sums, which are checked when the
segment is read, and a hash of the inputs and settings of the store. All saved segments are deleted
when the prepared corpus is complete.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import chain, count
from pathlib import Path
from typing import Protocol, final, runtime_checkable

import numpy as np
from jaxtyping import UInt, UInt32

from transduce.corpus.store import SIDES, SavedIds, id_type, read_numbers, require_consistent
from transduce.durable.folder import VerifiedFolder, atomic_folder, open_folder, remove_folder
from transduce.durable.json import parse_record
from transduce.errors import FolderError
from transduce.vocabulary import BEGIN, Vocabulary

# N: sentences of a segment · T: number of all their tokens

LENGTHS = np.dtype("<u4")  # the type of sentence lengths on disk
KIND, TEXTS = "segment", "pairs.tsv"
HINT = "a saved segment is damaged or was edited: the same command again makes it anew"


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
        """Return the source token ids of normalised lines, each list closed by END."""

    def encode_targets(self, lines: Sequence[str]) -> Sequence[list[int] | None]:
        """Return target ids of normalised lines, closed by END; None for an unknown label."""


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

    ids: UInt[np.ndarray, " T"] | SavedIds  # on disk if the segment is saved
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
    known = [(pair, source, target) for pair, source, target in encoded if source and target]
    kept = [
        (pair, source, target)
        for pair, source, target in known
        if len(source) <= max_length >= len(target)
    ]
    texts = (f"{line}\t{translation}\n" for (line, translation), _, _ in kept if keeps_texts)
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
    """Return the sum, field by field, of several `PairCounts`."""
    return PairCounts(*map(sum, zip(*(astuple(each) for each in counts), strict=True)))


def count_tokens(segment: Segment) -> int:
    """Return a segment's number of tokens, source and target together."""
    return len(segment.source.ids) + len(segment.target.ids)


@final
@dataclass(frozen=True)
class SavedSegments:
    """The segments of an unfinished store on disk, each in a folder that is named by its index."""

    store: Path  # the path of the finished store
    origin: str  # a hash of the inputs and settings that the store is built from
    symbols: tuple[int, int]  # sizes of the source and the target vocabulary
    prefix: str = ""  # put before the index in folder names; "" for the first text of a store

    def open(self) -> Iterator[Segment]:
        """Yield the saved segments up to the first unusable one, without reading ids into memory.

        A segment is unusable if it is missing, damaged, or saved for a store of another origin.
        """
        for number in count():
            try:
                yield self.open_one(number)
            except FolderError:
                return

    def save(self, index: int, segment: Segment) -> Segment:
        """Save segment `index` (from 0) in place of any older one; return it with ids on disk."""
        folder = self.folder(index)
        if folder.exists():
            remove_folder(folder)
        about = {"origin": self.origin, "pairs": asdict(segment.counts)}
        with atomic_folder(folder, kind=KIND, about=about) as writer:
            for name, side in zip(SIDES, (segment.source, segment.target), strict=True):
                writer.write(f"{name}.ids", np.asarray(side.ids).tobytes())
                writer.write(f"{name}.lengths", side.lengths.tobytes())
            if segment.texts:
                writer.write(TEXTS, segment.texts)
        return self.open_one(index)

    def open_one(self, index: int) -> Segment:
        """Open saved segment `index`, from 0; raise FolderError if it is missing or unusable."""
        verified = open_folder(self.folder(index), KIND)
        found = verified.about.get("origin")
        require_consistent(found == self.origin, verified.folder, self.origin, str(found), HINT)
        return open_segment(verified, self.symbols)

    def folder(self, index: int) -> Path:
        """Return the path of the folder of segment `index`."""
        return segments_folder(self.store) / f"{self.prefix}{index:08d}"


def open_segment(verified: VerifiedFolder, symbols: tuple[int, int]) -> Segment:
    """Open a saved segment, whose ids stay on disk; raise FolderError if a file is damaged."""
    try:
        counts = parse_record(PairCounts, verified.about.get("pairs"))
    except ValueError as error:
        raise FolderError(str(error), HINT, file=verified.folder) from error
    total = counts.too_long + counts.unknown_label + counts.kept
    expected = f"{counts.read:,} pairs"
    require_consistent(total == counts.read, verified.folder, expected, f"{total:,}", HINT)
    source, target = (
        open_encoded_side(verified, side, size, counts.kept)
        for side, size in zip(SIDES, symbols, strict=True)
    )
    texts = verified.read(TEXTS) if TEXTS in verified.files else b""
    return Segment(counts, source, target, texts)


def open_encoded_side(verified: VerifiedFolder, side: str, symbols: int, kept: int) -> EncodedSide:
    """Open the source or target side of a saved segment of `kept` pairs; FolderError if damaged."""
    ids = SavedIds(verified.verified_path(f"{side}.ids"), id_type(symbols), HINT)
    lengths = read_numbers(verified, f"{side}.lengths", LENGTHS, kept, HINT)
    file = verified.folder / f"{side}.lengths"
    total = int(lengths.sum(dtype=np.uint64))
    require_consistent(total == len(ids), file, f"{len(ids):,} ids", f"{total:,}", HINT)
    return EncodedSide(ids, lengths)


def segments_folder(store: Path) -> Path:
    """Return the path STORE.segments, the folder beside `store` for its saved segments."""
    return store.with_name(f"{store.name}.segments")


def remove_segments(store: Path) -> None:
    """Delete the saved segments of a store, if there are any."""
    if segments_folder(store).is_dir():
        remove_folder(segments_folder(store))
