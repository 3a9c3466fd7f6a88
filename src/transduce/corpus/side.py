"""One side of a store: the token ids of all sentences end to end, and each sentence's offset."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import Int, Int32, UInt, UInt64

from transduce.durable.folder import VerifiedFolder
from transduce.errors import FolderError
from transduce.vocabulary import BEGIN, END

# N: sentences · T: tokens of all sentences together · P: sentences of a batch

SIDES = ("source", "target")
OFFSETS = np.dtype("<u8")
DAMAGED_HINT = "the store is damaged or was edited: delete it and prepare it again"


@final
@dataclass(frozen=True)
class Side:
    """One side of a store, source or target: token ids and sentence offsets, memory-mapped."""

    lengths: Int32[np.ndarray, " N"]  # the number of tokens of each sentence
    offsets: UInt64[np.ndarray, " N+1"]  # the index of each sentence's first id, then T
    ids: UInt[np.ndarray, " T"]

    def gather(self, indices: Int[np.ndarray, " P"]) -> Int[np.ndarray, " _"]:
        """Return the token ids of the P sentences with these indices, end to end in one vector."""
        for array in (self.offsets, self.ids):
            require_whole_file(array)
        lengths = self.lengths[indices]
        ends = lengths.cumsum(dtype=np.int64)
        shifts = self.offsets[indices].astype(np.int64) - (ends - lengths)
        token_indices = np.arange(lengths.sum()) + shifts.repeat(lengths)
        return self.ids[token_indices].astype(np.int64)


def id_type(symbols: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest little-endian unsigned type that holds the ids 0 to `symbols` - 1."""
    return np.min_scalar_type(symbols - 1).newbyteorder("<")


def open_side(verified: VerifiedFolder, side: str, symbols: int, pairs: int) -> Side:
    """Open one side of a store, memory-mapped, after checking its files and their contents."""
    ids = map_file(verified.verified_path(f"{side}.ids"), id_type(symbols))
    offsets = map_file(verified.verified_path(f"{side}.offsets"), OFFSETS)
    file = verified.folder / f"{side}.offsets"
    require_consistent(
        len(offsets) == pairs + 1, file, f"{pairs + 1:,} offsets", f"{len(offsets):,}"
    )
    end = int(offsets[-1])
    require_consistent(end == len(ids), file, f"{len(ids):,} ids", f"{end:,}")
    rises = bool(offsets[0] == 0 and (offsets[1:] > offsets[:-1]).all())
    require_consistent(rises, file, "offsets that rise from 0", "others")
    require_known_ids(ids, offsets, symbols, verified.folder / f"{side}.ids")
    return Side(np.diff(offsets).astype(np.int32), offsets, ids)


def require_known_ids(
    ids: UInt[np.ndarray, " T"], offsets: UInt64[np.ndarray, " _"], symbols: int, file: Path
) -> None:
    """Raise FolderError for an unknown id, BEGIN, a sentence without END, or END inside of one."""
    highest = int(ids.max())
    require_consistent(highest < symbols, file, f"ids below {symbols:,}", f"{highest:,}")
    is_closed = bool((ids[offsets[1:] - 1] == END).all())
    require_consistent(is_closed, file, f"{END} at the end of every sentence", "other ids")
    ends = int(np.count_nonzero(ids == END))
    is_plain = ends == len(offsets) - 1 and not (ids == BEGIN).any()
    require_consistent(is_plain, file, f"{END} only there, and no {BEGIN}", "others")


def map_file(file: Path, kind: "np.dtype[np.unsignedinteger]") -> "UInt[np.ndarray, ' _']":
    """Memory-map a file as an array of unsigned integers of the type `kind`."""
    size = file.stat().st_size
    require_consistent(
        size > 0 and size % kind.itemsize == 0, file, f"ids of {kind.itemsize} bytes", str(size)
    )
    return np.memmap(file, dtype=kind, mode="r").view(np.ndarray)


def require_whole_file(array: "UInt[np.ndarray, ' _']") -> None:
    """Raise FolderError if the file of a memory-mapped array was truncated since it was mapped.

    Reading past the file's end would kill the process by a signal (SIGBUS). The open file is
    checked, even if another file has its name now. An array that is not memory-mapped is accepted.
    """
    mapped = array.base
    if isinstance(mapped, np.memmap):
        found = mapped._mmap.size()  # type: ignore[attr-defined]  # noqa: SLF001
        if found < mapped.nbytes:
            fact = f"was cut while it was used: expected {mapped.nbytes:,} bytes, found {found:,}"
            raise FolderError(fact, DAMAGED_HINT, file=mapped.filename)


def require_consistent(holds: bool, file: Path, expected: str, found: str) -> None:  # noqa: FBT001
    """Raise FolderError, stating what was expected and found, unless `holds` is true."""
    if not holds:
        raise FolderError(f"expected {expected}, found {found}", DAMAGED_HINT, file=file)
