"""How the processes of a run find each other, and hear from the first what is trained.

On one machine they meet in a file that our launcher made for them alone. Across machines they meet
at MASTER_ADDR, where anybody who reaches the port is believed: internal networks only.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import final

import torch
from torch import distributed as processes
from torch._C._distributed_c10d import FileStore, Store
from torch.distributed.rendezvous import rendezvous

from transduce.errors import InputError
from transduce.machine.device import APPLE_GPU, select_device
from transduce.settings.fields import require
from transduce.training.distributed.collectives import losing
from transduce.training.distributed.rank import Place
from transduce.training.distributed.requests import Requests
from transduce.training.distributed.torch_group import TorchProcessGroup

BEGUN = "begun"
PAUSE = 0.05  # seconds


@final
class Meeting:
    """A board on which the first process writes one word for the others."""

    def __init__(self, place: Place, seconds: float, *, exact: bool) -> None:
        self.place, self.seconds, self.exact = place, seconds, exact
        self.limit = timedelta(seconds=seconds)
        with losing():
            self.board: Store = (
                next(iter(rendezvous("env://", timeout=self.limit)))[0]
                if place.meeting is None
                else FileStore(str(place.meeting), place.size)
            )

    def tell(self, word: str) -> None:
        """By the first process, when everything is ready."""
        with losing():
            self.board.set(BEGUN, word)

    def hear(self) -> str:
        """By the others, however long it takes; a signal can end the wait."""
        with losing():
            while not self.board.check([BEGUN]):
                time.sleep(PAUSE)
            return bytes(self.board.get(BEGUN)).decode()

    @contextmanager
    def joined(self, requests: Requests) -> Iterator[TorchProcessGroup]:
        """Take part: everybody must come within the limit."""
        kinds = "cpu:gloo"
        where = select_device().type
        require(where != APPLE_GPU, "several processes cannot share Apple's device", "no --workers")
        if where == "cuda":
            require_devices(self.place)
            torch.cuda.set_device(self.place.local_rank)
            kinds += ",cuda:nccl"
        with losing():
            processes.init_process_group(
                kinds,
                store=self.board,
                rank=self.place.rank,
                world_size=self.place.size,
                timeout=self.limit,
            )
        yield TorchProcessGroup(self.place, requests, self.seconds, exact=self.exact)
        processes.destroy_process_group()


def require_devices(place: Place) -> None:
    """Each process of a machine has a GPU of its own."""
    count = torch.cuda.device_count()
    if place.local_size > count:
        raise InputError(
            f"{place.local_size} processes on this machine need as many GPUs, and {count} are here",
            "fewer --workers; or CUDA_VISIBLE_DEVICES= to train on the processor",
        )
