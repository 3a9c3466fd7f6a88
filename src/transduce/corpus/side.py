"""One side of a store: the token ids of all sentences end to end, and each sentence's offset."""

import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import Int, Int32, Int64, UInt

from transduce.durable.folder import VerifiedFolder, unreadable_error
from transduce.errors import FolderError
from transduce.vocabulary import BEGIN, END

# N: sentences · T: tokens of all sentences together · P: sentences of a batch

SIDES = ("source", "target")
IdType = np.dtype[np.unsignedinteger]
OFFSETS = np.dtype("<u8")
IDS_AT_ONCE = 1 << 22  # number of ids that are checked at once
DAMAGED_HINT = "the store is damaged or was edited: delete it and prepare it again"


@final
class StoredIds:
    """T ids in an open file; `read` returns the bytes of a part.

    The file is not memory-mapped, since SIGBUS kills a process that reads a truncated mapped file.
    """

    def __init__(self, file: Path, kind: IdType, hint: str = DAMAGED_HINT) -> None:
        self.file, self.kind, self.hint = file, kind, hint
        try:
            self.descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise unreadable_error(file, error) from error
        weakref.finalize(self, os.close, self.descriptor)
        size = os.fstat(self.descriptor).st_size
        is_whole = size > 0 and size % kind.itemsize == 0
        require_consistent(is_whole, file, f"ids of {kind.itemsize} bytes", str(size), hint)
        self.count = size // kind.itemsize

    def __len__(self) -> int:
        return self.count

    def read(self, start: int, count: int) -> bytes:
        """Return the bytes of `count` ids from index `start`; FolderError if the file was cut."""
        size, position = count * self.kind.itemsize, start * self.kind.itemsize
        try:
            data = os.pread(self.descriptor, size, position)
        except OSError as error:
            raise unreadable_error(self.file, error) from error
        if len(data) < size:
            end = f"{position + size:,} bytes, found {position + len(data):,}"
            fact = f"was cut while it was used: expected at least {end}"
            raise FolderError(fact, self.hint, file=self.file)
        return data


@final
class SavedIds:
    """A file of T token ids for `np.asarray`, opened for each reading so that few stay open."""

    def __init__(self, file: Path, kind: IdType, hint: str) -> None:
        self.file, self.kind, self.hint = file, kind, hint
        self.count = len(StoredIds(file, kind, hint))

    def __len__(self) -> int:
        return self.count

    def __array__(self, dtype: object = None, copy: object = None) -> UInt[np.ndarray, " T"]:
        ids = StoredIds(self.file, self.kind, self.hint)
        return np.frombuffer(ids.read(0, self.count), self.kind)


@final
@dataclass(frozen=True)
class Side:
    """One side of a store: token ids read from an open file, lengths and offsets in memory."""

    lengths: Int32[np.ndarray, " N"]  # the number of tokens of each sentence
    offsets: Int64[np.ndarray, " N+1"]  # the index of each sentence's first id, then T
    ids: StoredIds

    def gather(self, indices: Int[np.ndarray, " P"]) -> Int[np.ndarray, " _"]:
        """Return the token ids of the P sentences with these indices, end to end in one vector."""
        starts, lengths = self.offsets[indices].tolist(), self.lengths[indices].tolist()
        found = b"".join(map(self.ids.read, starts, lengths))
        return np.frombuffer(found, self.ids.kind).astype(np.int64)


def id_type(symbols: int) -> IdType:
    """Return the smallest little-endian unsigned type that holds the ids 0 to `symbols` - 1."""
    return np.min_scalar_type(symbols - 1).newbyteorder("<")


def open_side(
    verified: VerifiedFolder, side: str, symbols: int, pairs: int, tagged: Sequence[range] = ()
) -> Side:
    """Open the "source" or "target" side of a store; FolderError if its files are not sound.

    The sentences with indices in `tagged` begin with BEGIN.
    """
    ids = StoredIds(verified.verified_path(f"{side}.ids"), id_type(symbols))
    offsets = read_numbers(verified, f"{side}.offsets", OFFSETS, pairs + 1)
    file = verified.folder / f"{side}.offsets"
    end = int(offsets[-1])
    require_consistent(end == len(ids), file, f"{len(ids):,} ids", f"{end:,}")
    rises = bool(offsets[0] == 0 and (offsets[1:] > offsets[:-1]).all())
    require_consistent(rises, file, "offsets that rise from 0", "others")
    offsets = offsets.view(np.int64)
    first = [offsets[part.start : part.stop] for part in tagged]
    tags = np.concatenate([*first, offsets[:0]])
    require_known_ids(ids, offsets[1:] - 1, symbols, tags)
    return Side(np.diff(offsets).astype(np.int32), offsets, ids)


def read_numbers(
    verified: VerifiedFolder, name: str, kind: IdType, count: int, hint: str = DAMAGED_HINT
) -> UInt[np.ndarray, " _"]:
    """Read a file of `count` unsigned integers; FolderError if its size or sha256 is wrong."""
    data, file = verified.read(name), verified.folder / name
    found, rest = divmod(len(data), kind.itemsize)
    expected = f"{count:,} {name.partition('.')[2]}"
    require_consistent((found, rest) == (count, 0), file, expected, f"{found:,}", hint)
    return np.frombuffer(data, kind)


def require_known_ids(
    ids: StoredIds, ends: Int64[np.ndarray, " N"], symbols: int, tags: Int64[np.ndarray, " M"]
) -> None:
    """Raise FolderError for an unknown id, a sentence without END, or a misplaced BEGIN or END.

    `ends` has the index of each sentence's last id, `tags` the index of each BEGIN that is allowed.
    """
    for start in range(0, len(ids), IDS_AT_ONCE):
        count = min(IDS_AT_ONCE, len(ids) - start)
        block = np.frombuffer(ids.read(start, count), ids.kind)
        highest = int(block.max())
        require_consistent(highest < symbols, ids.file, f"ids below {symbols:,}", f"{highest:,}")
        first, last = np.searchsorted(ends, (start, start + count))
        is_closed = bool((block[ends[first:last] - start] == END).all())
        require_consistent(is_closed, ids.file, f"{END} at the end of every sentence", "other ids")
        begin, end = np.searchsorted(tags, (start, start + count))
        has_no_inner_end = np.count_nonzero(block == END) == last - first
        is_tagged = np.array_equal(np.flatnonzero(block == BEGIN), tags[begin:end] - start)
        expected = f"{END} only there, and no {BEGIN}{' but as a tag' * (len(tags) > 0)}"
        require_consistent(bool(has_no_inner_end and is_tagged), ids.file, expected, "others")


def require_consistent(
    holds: bool,  # noqa: FBT001 - a call reads as a sentence
    file: Path,
    expected: str,
    found: str,
    hint: str = DAMAGED_HINT,
) -> None:
    """Raise FolderError, stating what was expected and found, unless `holds` is true."""
    if not holds:
        raise FolderError(f"expected {expected}, found {found}", hint, file=file)
