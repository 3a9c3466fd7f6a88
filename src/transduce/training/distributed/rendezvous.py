"""Rendezvous: how the processes of a training find each other and get the job from rank 0.

On one machine the key-value store is a file in a private folder that our launcher made. On several
machines the store is at MASTER_ADDR, without authentication: use it on internal networks only.
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
from transduce.training.distributed.collectives import detect_lost_process
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.requests import SignalRequests
from transduce.training.distributed.torch_group import TorchProcessGroup

JOB_KEY = "job"  # the key of the job description in the key-value store
POLL_SECONDS = 0.05


@final
class Rendezvous:
    """A key-value store by which processes form a group and receive the job from rank 0."""

    def __init__(self, rank: ProcessRank, timeout_seconds: float, *, exact: bool) -> None:
        self.rank, self.timeout_seconds, self.exact = rank, timeout_seconds, exact
        self.timeout = timedelta(seconds=timeout_seconds)
        with detect_lost_process():
            self.store: Store = (
                next(iter(rendezvous("env://", timeout=self.timeout)))[0]
                if rank.rendezvous_file is None
                else FileStore(str(rank.rendezvous_file), rank.world_size)
            )

    def publish_job(self, job: str) -> None:
        """Store the job description for the other ranks; rank 0 calls this after preparation."""
        with detect_lost_process():
            self.store.set(JOB_KEY, job)

    def wait_for_job(self) -> str:
        """Wait without time limit for the job description that rank 0 publishes, and return it."""
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


def require_gpu_for_each(rank: ProcessRank) -> None:
    """Raise InputError if this machine has more processes than GPUs."""
    count = torch.cuda.device_count()
    if rank.local_size > count:
        raise InputError(
            f"{rank.local_size} processes on this machine need as many GPUs, and {count} are here",
            "fewer --workers; or CUDA_VISIBLE_DEVICES= to train on the processor",
        )
