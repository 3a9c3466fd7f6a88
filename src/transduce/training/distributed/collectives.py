"""The exchanges between processes, each of which may find that somebody is lost."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch import distributed as processes

from transduce.errors import LostProcessError

WORD = 4_096  # bytes of what one process says to the others


def add_up(tensor: Tensor) -> None:
    """The sum of what all have, at every process."""
    with losing():
        processes.all_reduce(tensor)


def give(tensor: Tensor, rank: int) -> None:
    """What one process has, at every process."""
    with losing():
        processes.broadcast(tensor, src=rank)


def say(word: bytes) -> bytes:
    """What the first process says, at every process; the others bring nothing."""
    assert len(word) <= WORD
    sheet = torch.frombuffer(bytearray(word.ljust(WORD)), dtype=torch.uint8)
    give(sheet, 0)
    return bytes(sheet.tolist()).strip()


@contextmanager
def losing() -> Iterator[None]:
    """An exchange that fails has lost somebody."""
    try:
        yield
    except RuntimeError as fault:
        raise LostProcessError(
            f"lost contact with another process of this run ({first_line(fault)})",
            "the same command goes on from the last save; a higher --lost-after waits longer",
        ) from fault


def first_line(fault: RuntimeError) -> str:
    """The library's own words, in short."""
    words = str(fault).split("\n")[0]
    return words.rsplit("] ", maxsplit=1)[-1][:120].rstrip(". ")
