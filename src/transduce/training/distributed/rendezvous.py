"""The rendezvous, where the processes of a training find each other and get the job from rank 0

On one machine the key-value store is a file in a private folder that our launcher made. On several
machines the store is at MASTER_ADDR, without authentication: use it on internal networks only.
"""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import final

import torch
from torch import distributed as processes
from torch._C._distributed_c10d import FileStore, PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from transduce.errors import InputError, LostProcessError
from transduce.machine.device import APPLE_GPU, select_device
from transduce.settings.fields import require
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.requests import SignalRequests
from transduce.training.distributed.torch_group import TorchProcessGroup, detect_lost_process

JOB_KEY = "job"  # the key of the job description in the key-value store
POLL_SECONDS = 0.05
START_SECONDS = 300.0  # the longest wait for all processes of an attempt to start


@final
class Rendezvous:
    """A key-value store through which processes form a group and get the job from rank 0."""

    def __init__(self, rank: ProcessRank, timeout_seconds: float, *, exact: bool) -> None:
        self.rank, self.timeout_seconds, self.exact = rank, timeout_seconds, exact
        self.timeout = timedelta(seconds=timeout_seconds)
        with detect_lost_process():
            self.store: Store
            if rank.rendezvous_file is not None:
                self.store = FileStore(str(rank.rendezvous_file), rank.world_size)
            else:
                shared = next(iter(rendezvous("env://", timeout=self.timeout)))[0]
                self.store = PrefixStore(agree_on_prefix(shared, rank), shared)

    def publish_job(self, job: str) -> None:
        """Store the job description for the other ranks; rank 0 calls this after preparation."""
        with detect_lost_process():
            self.store.set(JOB_KEY, job)

    def wait_for_job(self) -> str:
        """Wait, without a time limit, for rank 0's job description, and return it."""
        with detect_lost_process():
            while not self.store.check([JOB_KEY]):
                time.sleep(POLL_SECONDS)
            return bytes(self.store.get(JOB_KEY)).decode()

    @contextmanager
    def join_group(self, requests: SignalRequests) -> Iterator[TorchProcessGroup]:
        """Context manager that opens the process group; all ranks must join within the timeout."""
        backends = "cpu:gloo"
        device_type = select_device().type
        require(
            device_type != APPLE_GPU,
            "several processes cannot share Apple's device",
            "no --workers",
        )
        if device_type == "cuda":
            require_gpu_for_each(self.rank)
            torch.cuda.set_device(self.rank.local_rank)
            backends += ",cuda:nccl"
        with detect_lost_process():
            processes.init_process_group(
                backends,
                store=self.store,
                rank=self.rank.rank,
                world_size=self.rank.world_size,
                timeout=self.timeout,
            )
        yield TorchProcessGroup(self.rank, requests, self.timeout_seconds, exact=self.exact)
        processes.destroy_process_group()


def agree_on_prefix(store: Store, rank: ProcessRank, seconds: float = START_SECONDS) -> str:
    """Return a prefix for the store's keys that is new, and the same on all ranks of this attempt.

    torchrun restarts processes with the store of the last attempt, which still holds the addresses
    and job of that attempt, and ranks may count attempts differently. So each rank asks under a
    new random name, and rank 0 answers until all ranks have confirmed its prefix.
    """
    own, end = secrets.token_hex(8), time.monotonic() + seconds
    others = set(range(1, rank.world_size)) if rank.rank == 0 else set()
    if rank.rank:
        store.set(f"ask/{rank.rank}", own)
        while not store.check([f"answer/{own}"]):
            sleep_before(end, "process 0 has not started")
        own = store.get(f"answer/{own}").decode()
        store.set(f"{own}/{rank.rank}", "confirmed")
    while others:
        for other in sorted(others):
            if store.check([f"ask/{other}"]):  # an earlier attempt's question does no harm
                store.set(f"answer/{store.get(f'ask/{other}').decode()}", own)
        others = {other for other in others if not store.check([f"{own}/{other}"])}
        if others:
            sleep_before(end, f"process {min(others)} has not started")
    return own


def sleep_before(end: float, fact: str) -> None:
    """Raise LostProcessError with this fact if the time `end` has passed; else sleep briefly."""
    if time.monotonic() > end:
        raise LostProcessError(fact, "look at what it or torchrun says")
    time.sleep(POLL_SECONDS)


def require_gpu_for_each(rank: ProcessRank) -> None:
    """Raise InputError if this machine has more processes than GPUs."""
    count = torch.cuda.device_count()
    if rank.local_size > count:
        raise InputError(
            f"{rank.local_size} processes on this machine need as many GPUs, and {count} are here",
            "fewer --workers; or CUDA_VISIBLE_DEVICES= to train on the processor",
        )
