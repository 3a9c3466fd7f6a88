"""Saves segments (encoded pairs) beside an unfinished store, so that a build can be resumed.

    train.segments/
      00000000/      manifest.json, source.ids, source.lengths, target.ids, target.lengths
      00000001/      and pairs.tsv where the store keeps the texts

Each segment is complete or absent. Its manifest has sha256 sums, which are checked when it is read,
and a hash of the inputs and settings of the store. All segments are deleted when the prepared
corpus is complete.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import final

import numpy as np

from transduce.corpus.segment import LENGTHS, EncodedSide, PairCounts, Segment
from transduce.corpus.side import (
    DAMAGED_HINT,
    SIDES,
    StoredIds,
    id_type,
    read_numbers,
    require_consistent,
)
from transduce.durable.folder import VerifiedFolder, atomic_folder, open_folder, remove_folder
from transduce.durable.records import parse_record
from transduce.errors import FolderError

KIND = "segment"
TEXTS = "pairs.tsv"


@final
@dataclass(frozen=True)
class SavedSegments:
    """The saved segments of one unfinished store, which are saved and opened by index."""

    store: Path  # the path of the finished store
    origin: str  # a hash of the inputs and settings that the store is built from
    symbols: tuple[int, int]  # sizes of the source and the target vocabulary
    prefix: str = ""  # of the folders' names, for a further text of a mixture

    def open(self) -> Iterator[Segment]:
        """Yield the saved segments in order, up to the first unusable one; their ids stay on disk.

        A segment is unusable if it is damaged, or if it was saved for a store of another origin.
        """
        for number in count():
            try:
                yield self.open_one(number)
            except FolderError:
                return

    def save(self, number: int, segment: Segment) -> Segment:
        """Save segment `number`, from 0, over any unusable one; return it with its ids on disk."""
        folder = self.folder(number)
        if folder.exists():
            remove_folder(folder)
        about = {"origin": self.origin, "pairs": asdict(segment.counts)}
        with atomic_folder(folder, kind=KIND, about=about) as writer:
            for name, side in zip(SIDES, (segment.source, segment.target), strict=True):
                writer.write(f"{name}.ids", np.asarray(side.ids).tobytes())
                writer.write(f"{name}.lengths", side.lengths.tobytes())
            if segment.texts:
                writer.write(TEXTS, segment.texts)
        return self.open_one(number)

    def open_one(self, number: int) -> Segment:
        """Open saved segment `number`, from 0; raise FolderError if it is missing or unusable."""
        verified = open_folder(self.folder(number), KIND)
        found = verified.about.get("origin")
        require_consistent(found == self.origin, verified.folder, self.origin, str(found))
        return open_segment(verified, self.symbols)

    def folder(self, number: int) -> Path:
        """Return the path of the folder of segment `number`."""
        return segments_folder(self.store) / f"{self.prefix}{number:08d}"


def open_segment(verified: VerifiedFolder, symbols: tuple[int, int]) -> Segment:
    """Open a saved segment after checking the sha256 of its files; its ids stay on disk."""
    try:
        counts = parse_record(PairCounts, verified.about.get("pairs"))
    except ValueError as error:
        raise FolderError(str(error), DAMAGED_HINT, file=verified.folder) from error
    total = counts.too_long + counts.unknown_label + counts.kept
    require_consistent(
        total == counts.read, verified.folder, f"{counts.read:,} pairs", f"{total:,}"
    )
    source, target = (
        open_encoded_side(verified, side, size, counts.kept)
        for side, size in zip(SIDES, symbols, strict=True)
    )
    texts = verified.read(TEXTS) if TEXTS in verified.files else b""
    return Segment(counts, source, target, texts)


def open_encoded_side(verified: VerifiedFolder, side: str, symbols: int, kept: int) -> EncodedSide:
    """Open the source or target side of a saved segment of `kept` pairs; check its files."""
    ids = StoredIds(verified.verified_path(f"{side}.ids"), id_type(symbols))
    lengths = read_numbers(verified, f"{side}.lengths", LENGTHS, kept)
    file = verified.folder / f"{side}.lengths"
    total = int(lengths.sum(dtype=np.uint64))
    require_consistent(total == len(ids), file, f"{len(ids):,} ids", f"{total:,}")
    return EncodedSide(ids, lengths)


def segments_folder(store: Path) -> Path:
    """Return the path of the folder beside `store` for its saved segments."""
    return store.with_name(f"{store.name}.segments")


def remove_segments(store: Path) -> None:
    """Delete the saved segments of a store, if there are any."""
    if segments_folder(store).is_dir():
        remove_folder(segments_folder(store))
