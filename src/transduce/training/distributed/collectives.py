"""Collective operations between processes, with LostProcessError when a process is lost."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch import distributed as processes

from transduce.errors import LostProcessError

MESSAGE_BYTES = 4_096  # the most bytes of a message from rank 0


def all_reduce(tensor: Tensor) -> None:
    """Replace a tensor, on every rank, by the sum of the tensors of all ranks."""
    with detect_lost_process():
        processes.all_reduce(tensor)


def broadcast(tensor: Tensor, rank: int) -> None:
    """Replace a tensor, on every rank, by the tensor of the given rank."""
    with detect_lost_process():
        processes.broadcast(tensor, src=rank)


def broadcast_message(message: bytes) -> bytes:
    """Return rank 0's message on every rank; the argument of other ranks is ignored."""
    assert len(message) <= MESSAGE_BYTES
    buffer = torch.frombuffer(bytearray(message.ljust(MESSAGE_BYTES)), dtype=torch.uint8)
    broadcast(buffer, 0)
    return bytes(buffer.tolist()).strip()


@contextmanager
def detect_lost_process() -> Iterator[None]:
    """Context manager that turns a RuntimeError of torch.distributed into a LostProcessError."""
    try:
        yield
    except RuntimeError as fault:
        raise LostProcessError(
            f"lost contact with another process of this run ({summarise(fault)})",
            "the same command resumes from the last checkpoint; a higher --lost-after waits longer",
        ) from fault


def summarise(fault: RuntimeError) -> str:
    """Return a torch error's first line, without source location, cut to 120 characters."""
    words = str(fault).split("\n")[0]
    return words.rsplit("] ", maxsplit=1)[-1][:120].rstrip(". ")
