"""The protocol of the processes of a training, and its implementation for one process."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, Protocol, final, runtime_checkable

from torch import Tensor

from transduce.training.distributed.requests import SignalRequests
from transduce.training.optimiser import Optimiser
from transduce.training.progress import Progress

Args = ParamSpec("Args")


@runtime_checkable
class ProcessGroup(Protocol):
    """What training needs from its group of processes: rank, sums of gradients, broadcasts."""

    requests: SignalRequests
    rank: int  # number of this process, from 0; rank 0 writes to the run folder
    world_size: int
    reduction: str  # the method of summing gradients, which decides their last bits

    def accumulate_gradients(
        self,
        accumulate: Callable[[int], None],
        costs: Sequence[int],
        optimiser: Optimiser,
        sums: Tensor,
    ) -> bool:
        """Sum all micro-batches' gradients over all ranks; return False if a signal stops a rank.

        Each micro-batch is computed on one rank. `accumulate` adds the gradients of the micro-batch
        with the given number and writes its losses to `sums`, which are also summed. `costs` are
        the micro-batches' token counts. If the result is False, the update must be dropped.
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

    def accumulate_gradients(
        self,
        accumulate: Callable[[int], None],
        costs: Sequence[int],
        _optimiser: Optimiser,
        _sums: Tensor,
    ) -> bool:
        """Call `accumulate` for every micro-batch in order; return False if a signal stops it."""
        for number in range(len(costs)):
            if self.requests.stop_signal:
                return False
            accumulate(number)
        return True

    def run_on_rank_0(
        self, work: Callable[Args, Progress], *args: Args.args, **kwargs: Args.kwargs
    ) -> Progress:
        """Call `work` and return its result: the only process is rank 0."""
        return work(*args, **kwargs)

    def broadcast(self, _tensors: Sequence[Tensor]) -> None:
        """Do nothing, because there are no other ranks."""


SINGLE_PROCESS = SingleProcess()
