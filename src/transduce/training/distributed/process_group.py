"""Who takes part in a training: one process alone here, several in `group`."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, Protocol, final, runtime_checkable

from torch import Tensor

from transduce.training.distributed.requests import Requests
from transduce.training.optimiser import Optimiser
from transduce.training.progress import Progress

Given = ParamSpec("Given")


@runtime_checkable
class ProcessGroup(Protocol):
    """All processes of a run, seen from one of them."""

    requests: Requests
    rank: int  # 0 is the first, which keeps the run's folder
    size: int
    adds: str  # how gradients come together, for that decides their last bits

    def learn(
        self,
        learn: Callable[[int], None],
        costs: Sequence[int],
        optimiser: Optimiser,
        found: Tensor,
    ) -> bool:
        """Have each micro-batch learned from by somebody, and add up gradients and what was found.

        False if a process was asked to stop: then nothing of it counts.
        """

    def on_rank_0(
        self, work: Callable[Given, Progress], *given: Given.args, **named: Given.kwargs
    ) -> Progress:
        """What the first process does for all; the others wait as long as it takes."""

    def spread(self, tensors: Sequence[Tensor]) -> None:
        """Give every process the numbers of the first."""


@final
class SingleProcess:
    """One process does everything."""

    rank, size, adds = 0, 1, "in order"

    def __init__(self, requests: Requests | None = None) -> None:
        self.requests = requests or Requests()

    def learn(
        self,
        learn: Callable[[int], None],
        costs: Sequence[int],
        _optimiser: Optimiser,
        _found: Tensor,
    ) -> bool:
        """One micro-batch after the other; what they add up to is there already."""
        for number in range(len(costs)):
            if self.requests.stop:
                return False
            learn(number)
        return True

    def on_rank_0(
        self, work: Callable[Given, Progress], *given: Given.args, **named: Given.kwargs
    ) -> Progress:
        """It is the first."""
        return work(*given, **named)

    def spread(self, _tensors: Sequence[Tensor]) -> None:
        """There is nobody to give them to."""


SINGLE_PROCESS = SingleProcess()
