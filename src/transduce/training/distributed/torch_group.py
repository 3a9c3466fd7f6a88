"""Several processes that take every update together, by torch.distributed.

Three exchanges an update: what was found and asked for, the gradients, and what the first process
made of it. The first is where all agree: an update that one of them was asked to drop is dropped by
all. A process that is not heard of for so many seconds is lost, and then the run ends.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ParamSpec, final

import torch
from torch import Tensor

from transduce.errors import LostProcessError
from transduce.training.distributed.collectives import add_up, give, say
from transduce.training.distributed.gradient_exchange import at_once, in_order
from transduce.training.distributed.rank import Place
from transduce.training.distributed.requests import Requests
from transduce.training.optimiser import Optimiser
from transduce.training.progress import Progress

Given = ParamSpec("Given")


@final
class TorchProcessGroup:
    """This process and the others; `Meeting.joined` has brought them together."""

    def __init__(self, place: Place, requests: Requests, seconds: float, *, exact: bool) -> None:
        self.rank, self.size, self.requests = place.rank, place.size, requests
        self.seconds = seconds  # after which a silent process is lost
        self.exchange = in_order if exact else at_once
        self.adds = "in order" if exact else f"by {place.size} processes at once"

    def learn(
        self,
        learn: Callable[[int], None],
        costs: Sequence[int],
        optimiser: Optimiser,
        found: Tensor,
    ) -> bool:
        """A share of the micro-batches; who was asked to stop computes no more, and says so."""

        def unless_stopped(number: int) -> None:
            if not self.requests.stop:
                learn(number)

        return self.exchange(unless_stopped, costs, optimiser, lambda: self.agreed(found))

    def agreed(self, found: Tensor) -> bool:
        """Tell each other what was found and asked for; whether all go on.

        Each number comes from one process and is 0 elsewhere, so that their sum is exact.
        """
        asked = torch.zeros(2, self.size, dtype=torch.float64)
        wanted, self.requests.save = self.requests.save, False
        asked[:, self.rank] = torch.tensor([self.requests.stop, wanted])
        sheet = torch.cat([found.flatten().cpu(), asked.flatten()])
        add_up(sheet)
        found.copy_(sheet[: found.numel()].view_as(found))
        stop, save = sheet[found.numel() :].view(2, self.size).max(dim=1).values.tolist()
        self.requests.stop = self.requests.stop or int(stop)
        if self.rank == 0 and save:
            self.requests.save = True
        return not stop

    def on_rank_0(
        self, work: Callable[Given, Progress], *given: Given.args, **named: Given.kwargs
    ) -> Progress:
        """The first works and says what came of it; the others listen until it does."""
        if self.rank == 0:
            with self.heard_of():
                progress = work(*given, **named)
            say(json.dumps(progress.as_json()).encode())
            return progress
        word = b""
        while not word:  # the first is still at work
            word = say(b"")
        return Progress.from_json(json.loads(word))

    @contextmanager
    def heard_of(self) -> Iterator[None]:
        """While the first works, the others are told now and then that it is there."""
        done = threading.Event()
        faults: list[LostProcessError] = []

        def tell() -> None:
            while not done.wait(self.seconds / 4):
                try:
                    say(b"")
                except LostProcessError as fault:
                    faults.append(fault)
                    return

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()
        if faults:
            raise faults[0]

    def spread(self, tensors: Sequence[Tensor]) -> None:
        """Give every process the numbers of the first."""
        for tensor in tensors:
            give(tensor, 0)
