"""The process group of several processes, by torch.distributed

Each update has three exchanges: losses and signal requests, gradients, and the progress that rank 0
returns. If the exchanged requests say that a signal stopped any rank, all ranks drop the update. A
process that does not communicate within the timeout is lost, and the run ends.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ParamSpec, final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.errors import LostProcessError
from transduce.paper.training import Accumulate, Optimiser
from transduce.training.distributed.collectives import all_reduce, broadcast, broadcast_message
from transduce.training.distributed.gradient_exchange import (
    all_reduce_once,
    sum_in_micro_batch_order,
)
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.requests import SignalRequests
from transduce.training.progress import Progress

# M micro-batches of an update

Args = ParamSpec("Args")


@final
class TorchProcessGroup:
    """The `ProcessGroup` of several processes, which communicate through torch.distributed."""

    def __init__(
        self, rank: ProcessRank, requests: SignalRequests, timeout_seconds: float, *, exact: bool
    ) -> None:
        self.rank, self.world_size, self.requests = rank.rank, rank.world_size, requests
        self.timeout_seconds = timeout_seconds  # how long a process may be silent
        self.exchange = sum_in_micro_batch_order if exact else all_reduce_once
        self.reduction = "in order" if exact else f"by {rank.world_size} processes at once"

    def share(
        self, accumulate: Accumulate, costs: Sequence[int], optimiser: Optimiser
    ) -> Float[Tensor, "M 2"] | None:
        """Sum gradients over ranks; return each micro-batch's loss and -log p, or None if stopped.

        Each rank computes the gradients of its own micro-batches; a rank that a signal stops skips
        the rest of them.
        """
        own, sums = dict[int, Tensor](), torch.zeros(len(costs), 2, dtype=torch.float64)

        def accumulate_unless_stopped(index: int) -> None:
            if not self.requests.stop_signal:
                own[index] = accumulate(index)

        def exchange_requests() -> bool:
            if own:
                sums[list(own)] = torch.stack(list(own.values())).cpu().to(sums)
            return self.exchange_requests(sums)

        went_on = self.exchange(accumulate_unless_stopped, costs, optimiser, exchange_requests)
        return sums if went_on else None

    def exchange_requests(self, sums: Tensor) -> bool:
        """Add up `sums`, in place, and requests over ranks; return False if a signal stopped one.

        Each element is computed by one process and is 0 on all others, so sums are exact.
        """
        asked = torch.zeros(2, self.world_size, dtype=torch.float64)
        wanted, self.requests.checkpoint = self.requests.checkpoint, False
        asked[:, self.rank] = torch.tensor([self.requests.stop_signal, wanted])
        buffer = torch.cat([sums.flatten(), asked.flatten()])
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
        """Call `work` on rank 0 and return its result on every rank; other ranks wait for it."""
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
        """Context manager that sends other ranks an empty message every quarter of the timeout."""
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
        """Replace tensors, on every rank, by the tensors of rank 0."""
        for tensor in tensors:
            broadcast(tensor, 0)
