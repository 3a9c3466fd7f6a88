"""Collective operations between processes, which raise LostProcessError when one is lost."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch import distributed as processes

from transduce.errors import LostProcessError

MESSAGE_BYTES = 4_096  # longest message of rank 0


def all_reduce(tensor: Tensor) -> None:
    """Replace a tensor, on every rank, by the sum of all ranks' tensors."""
    with detect_lost_process():
        processes.all_reduce(tensor)


def broadcast(tensor: Tensor, rank: int) -> None:
    """Replace a tensor, on every rank, by that of one rank."""
    with detect_lost_process():
        processes.broadcast(tensor, src=rank)


def broadcast_message(message: bytes) -> bytes:
    """Return the message of rank 0 on every rank; the other ranks' argument is not used."""
    assert len(message) <= MESSAGE_BYTES
    buffer = torch.frombuffer(bytearray(message.ljust(MESSAGE_BYTES)), dtype=torch.uint8)
    broadcast(buffer, 0)
    return bytes(buffer.tolist()).strip()


@contextmanager
def detect_lost_process() -> Iterator[None]:
    """Turn a RuntimeError of torch.distributed into a LostProcessError."""
    try:
        yield
    except RuntimeError as fault:
        raise LostProcessError(
            f"lost contact with another process of this run ({summarise(fault)})",
            "the same command resumes from the last checkpoint; a higher --lost-after waits longer",
        ) from fault


def summarise(fault: RuntimeError) -> str:
    """Return the first line of a library's error, without its location, in 120 characters."""
    words = str(fault).split("\n")[0]
    return words.rsplit("] ", maxsplit=1)[-1][:120].rstrip(". ")
