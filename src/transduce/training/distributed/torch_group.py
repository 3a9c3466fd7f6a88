"""A process group of several processes by torch.distributed, all of which take part in an update.

Three exchanges an update: losses and signal requests, the gradients, and the progress that rank 0
returns. All ranks agree in the first: an update that one was asked to drop is dropped by all. A
process that is silent for the timeout is lost, and then the run ends.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ParamSpec, final

import torch
from torch import Tensor

from transduce.errors import LostProcessError
from transduce.training.distributed.collectives import all_reduce, broadcast, broadcast_message
from transduce.training.distributed.gradient_exchange import (
    all_reduce_once,
    sum_in_micro_batch_order,
)
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.requests import SignalRequests
from transduce.training.optimiser import Optimiser
from transduce.training.progress import Progress

Args = ParamSpec("Args")


@final
class TorchProcessGroup:
    """This process in a torch.distributed group, which `Rendezvous.join_group` has opened."""

    def __init__(
        self, rank: ProcessRank, requests: SignalRequests, timeout_seconds: float, *, exact: bool
    ) -> None:
        self.rank, self.world_size, self.requests = rank.rank, rank.world_size, requests
        self.timeout_seconds = timeout_seconds  # after which a silent process is lost
        self.exchange = sum_in_micro_batch_order if exact else all_reduce_once
        self.reduction = "in order" if exact else f"by {rank.world_size} processes at once"

    def accumulate_gradients(
        self,
        accumulate: Callable[[int], None],
        costs: Sequence[int],
        optimiser: Optimiser,
        sums: Tensor,
    ) -> bool:
        """Compute this rank's share of the micro-batches; sum gradients and `sums` over ranks.

        False if any process was asked to stop; the asked one computes no further micro-batch.
        """

        def accumulate_unless_stopped(number: int) -> None:
            if not self.requests.stop_signal:
                accumulate(number)

        return self.exchange(
            accumulate_unless_stopped, costs, optimiser, lambda: self.exchange_requests(sums)
        )

    def exchange_requests(self, sums: Tensor) -> bool:
        """Sum losses and share signal requests among all ranks; False if one was asked to stop.

        Each number comes from one process and is 0 elsewhere, so that their sum is exact.
        """
        asked = torch.zeros(2, self.world_size, dtype=torch.float64)
        wanted, self.requests.checkpoint = self.requests.checkpoint, False
        asked[:, self.rank] = torch.tensor([self.requests.stop_signal, wanted])
        buffer = torch.cat([sums.flatten().cpu(), asked.flatten()])
        all_reduce(buffer)
        sums.copy_(buffer[: sums.numel()].view_as(sums))
        requests = buffer[sums.numel() :].view(2, self.world_size)
        stop_signal, checkpoint = requests.max(dim=1).values.tolist()
        self.requests.stop_signal = self.requests.stop_signal or int(stop_signal)
        if self.rank == 0 and checkpoint:
            self.requests.checkpoint = True
        return not stop_signal

    def run_on_rank_0(
        self, work: Callable[Args, Progress], *args: Args.args, **kwargs: Args.kwargs
    ) -> Progress:
        """Call `work` on rank 0 and broadcast its result; the other ranks wait for it."""
        if self.rank == 0:
            with self.heartbeat():
                progress = work(*args, **kwargs)
            broadcast_message(json.dumps(progress.as_json()).encode())
            return progress
        message = b""
        while not message:  # an empty message is a heartbeat: rank 0 is still working
            message = broadcast_message(b"")
        return Progress.from_json(json.loads(message))

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Send the other ranks an empty message every quarter of the timeout while rank 0 works."""
        done = threading.Event()
        faults: list[LostProcessError] = []

        def send_heartbeats() -> None:
            while not done.wait(self.timeout_seconds / 4):
                try:
                    broadcast_message(b"")
                except LostProcessError as fault:
                    faults.append(fault)
                    return

        thread = threading.Thread(target=send_heartbeats, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
        if faults:
            raise faults[0]

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors, on every rank, by those of rank 0."""
        for tensor in tensors:
            broadcast(tensor, 0)
