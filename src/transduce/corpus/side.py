"""One language of a store: every sentence's ids end to end, and where each sentence begins."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import Int, Int32, UInt, UInt64

from transduce.durable import VerifiedFolder
from transduce.errors import FolderError

# N sentences · T tokens of all of them together

SIDES = ("source", "target")
OFFSETS = np.dtype("<u8")
AGAIN = "the store is damaged or was edited: delete it and prepare it again"


@final
@dataclass(frozen=True)
class Side:
    """Ids and offsets stay on the disk and are mapped; only the lengths are in memory."""

    lengths: Int32[np.ndarray, " N"]
    offsets: UInt64[np.ndarray, " N+1"]
    ids: UInt[np.ndarray, " T"]

    def gather(self, indices: Int[np.ndarray, " P"]) -> Int[np.ndarray, " _"]:
        """The sentences of these numbers, end to end."""
        lengths = self.lengths[indices]
        ends = lengths.cumsum(dtype=np.int64)
        shifts = self.offsets[indices].astype(np.int64) - (ends - lengths)
        places = np.arange(lengths.sum()) + shifts.repeat(lengths)
        return self.ids[places].astype(np.int64)


def id_type(symbols: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned type, little-endian, that holds the ids of so many symbols."""
    return np.min_scalar_type(symbols - 1).newbyteorder("<")


def open_side(verified: VerifiedFolder, side: str, symbols: int, pairs: int) -> Side:
    """Map the two files of a side, once their bytes have proved to be those that were written."""
    ids = mapped(verified.verified_path(f"{side}.ids"), id_type(symbols))
    offsets = mapped(verified.verified_path(f"{side}.offsets"), OFFSETS)
    file = verified.folder / f"{side}.offsets"
    require(len(offsets) == pairs + 1, file, f"{pairs + 1:,} offsets", f"{len(offsets):,}")
    end = int(offsets[-1])
    require(end == len(ids), file, f"{len(ids):,} ids", f"{end:,}")
    return Side(np.diff(offsets).astype(np.int32), offsets, ids)


def mapped(file: Path, kind: "np.dtype[np.unsignedinteger]") -> "UInt[np.ndarray, ' _']":
    """A file as an array of numbers that are read when they are asked for."""
    size = file.stat().st_size
    require(
        size > 0 and size % kind.itemsize == 0, file, f"ids of {kind.itemsize} bytes", str(size)
    )
    return np.memmap(file, dtype=kind, mode="r").view(np.ndarray)


def require(holds: bool, file: Path, expected: str, found: str) -> None:  # noqa: FBT001
    """Refuse files that contradict the manifest, though each is as it was written."""
    if not holds:
        raise FolderError(f"expected {expected}, found {found}", AGAIN, file=file)
