"""The protocol for processes that train together, and its implementation for one process."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, Protocol, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.paper.training import Accumulate, Optimiser
from transduce.training.distributed.rank import SignalRequests
from transduce.training.progress import Progress

# M micro-batches of an update

Args = ParamSpec("Args")


@runtime_checkable
class ProcessGroup(Protocol):
    """A group of training processes, which sums gradients, runs work on rank 0, and broadcasts."""

    requests: SignalRequests
    rank: int  # of this process, from 0; rank 0 writes to the run folder
    world_size: int
    reduction: str  # the method of summing gradients, which decides their last bits

    def run_micro_batches(
        self, accumulate: Accumulate, token_counts: Sequence[int], optimiser: Optimiser
    ) -> Float[Tensor, "M 2"] | None:
        """Sum gradients over ranks; return M rows (loss sum, -log p sum), or None if stopped.

        Each micro-batch is computed on one rank, by `accumulate`. If the result is None, a signal
        stopped a rank, and the update must be dropped.
        """

    def run_on_rank_0(
        self, work: Callable[Args, Progress], *args: Args.args, **kwargs: Args.kwargs
    ) -> Progress:
        """Call `work` on rank 0, however long it takes, and return its result on every rank."""

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors, on every rank, by the tensors of rank 0."""


@final
class SingleProcess:
    """The `ProcessGroup` of training in one process."""

    rank, world_size, reduction = 0, 1, "in order"

    def __init__(self, requests: SignalRequests | None = None) -> None:
        self.requests = requests or SignalRequests()

    def run_micro_batches(
        self,
        accumulate: Accumulate,
        token_counts: Sequence[int],
        optimiser: Optimiser,  # noqa: ARG002 - its gradients are complete
    ) -> Float[Tensor, "M 2"] | None:
        """Accumulate in order; return M rows (loss sum, -log p sum), or None if stopped."""
        sums = list[Tensor]()
        for index in range(len(token_counts)):
            if self.requests.stop_signal:
                return None
            sums.append(accumulate(index))
        return torch.stack(sums)

    def run_on_rank_0(
        self, work: Callable[Args, Progress], *args: Args.args, **kwargs: Args.kwargs
    ) -> Progress:
        """Call `work` and return its result, because the only process is rank 0."""
        return work(*args, **kwargs)

    def broadcast(self, _tensors: Sequence[Tensor]) -> None:
        """Do nothing, because there are no other ranks."""


SINGLE_PROCESS = SingleProcess()
