"""What a stand-in device was asked to do: operators, waits of the host, copies, and memory."""

import sys
import weakref
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import torch
from tests.stand_in.operators import ATTENTION, PRODUCTS

import transduce

PACKAGE = str(Path(transduce.__file__).parent) + "/"
COPYING = {"move_to_device", "convert_to_lists", "to", "<genexpr>", "<listcomp>"}
BLOCK_BYTES = 512  # torch's allocator for CUDA rounds every tensor up to a multiple of this


class Call(NamedTuple):
    """One operator that a GPU would compute with at least one kernel."""

    name: str
    caller: str  # file and function of the package that called it
    dtypes: frozenset[torch.dtype]  # of the floating-point tensors that it read or wrote
    largest: int  # elements of the largest of these


@dataclass
class Record:
    """All calls of a stand-in device, and the bytes of the tensors that live on it."""

    calls: list[Call] = field(default_factory=list)
    waits: list[Call] = field(default_factory=list)  # operators that the host waits for
    copies: list[Call] = field(default_factory=list)  # from pinned memory: nobody waits
    bytes: int = 0
    peak_bytes: int = 0
    storages: set[int] = field(default_factory=set)

    def waits_by_caller(self) -> dict[str, int]:
        """Return how often the host waited for the device, by the function that made it wait."""
        return dict(Counter(call.caller for call in self.waits))

    def products(self) -> list[Call]:
        """Return the products of matrices, and the attention."""
        return [call for call in self.calls if call.name in PRODUCTS | ATTENTION]

    def clear(self) -> None:
        """Forget all calls; the peak is what lives now."""
        for calls in (self.calls, self.waits, self.copies):
            calls.clear()
        self.peak_bytes = self.bytes

    def hold(self, tensor: torch.Tensor) -> None:
        """Count the memory of a tensor that shares it with no other, until it is freed."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self.storages:
            return
        size = -(-storage.nbytes() // BLOCK_BYTES) * BLOCK_BYTES
        self.storages.add(key)
        self.bytes += size
        self.peak_bytes = max(self.peak_bytes, self.bytes)

        def free() -> None:
            self.storages.discard(key)
            self.bytes -= size

        weakref.finalize(storage, free)


def calling_function() -> str:
    """Return the innermost function of the package on the stack, as "file.py:function".

    Functions that only copy tensors stand for those that call them.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(PACKAGE) and code.co_name not in COPYING:
            return f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_qualname}"
        frame = frame.f_back
    return "tests"
