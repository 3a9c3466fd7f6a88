"""An ensemble of models, which averages their probabilities of every symbol"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.paper.search import State, StepwiseModel

# M members · R rows, one per hypothesis · V symbols


@final
@dataclass(frozen=True)
class Ensemble(Generic[State]):
    """A model that averages the probabilities of several models with one vocabulary.

    All members are on one device. The state is the tuple of the members' states.
    """

    members: tuple[StepwiseModel[State], ...]

    @property
    def device(self) -> torch.device:
        """The device that all members are on."""
        return self.members[0].device

    def start(self, sources: Sequence[Sequence[int]]) -> tuple[State, ...]:
        """Encode the sources with every member; return the tuple of their states."""
        return tuple(member.start(sources) for member in self.members)

    def step(
        self, state: tuple[State, ...], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], tuple[State, ...]]:
        """Append a symbol to each row; return log((P_1 + … + P_M) / M) and the members' states."""
        steps = [m.step(own, ids) for m, own in zip(self.members, state, strict=True)]
        return log_mean_exp([log_p for log_p, _ in steps]), tuple(own for _, own in steps)

    def reorder(self, state: tuple[State, ...], rows: Int[Tensor, " R2"]) -> tuple[State, ...]:
        """Return the states of the given rows, in the given order, for every member."""
        return tuple(m.reorder(own, rows) for m, own in zip(self.members, state, strict=True))

    def concatenate(self, first: tuple[State, ...], second: tuple[State, ...]) -> tuple[State, ...]:
        """Return one state with the rows of both states, for every member."""
        pairs = zip(self.members, first, second, strict=True)
        return tuple(m.concatenate(a, b) for m, a, b in pairs)


def log_mean_exp(log_probs: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    """Return the log of the mean of the tensors' probabilities, clamped to at most 0."""
    total = torch.stack(list(log_probs)).logsumexp(dim=0)
    return (total - math.log(len(log_probs))).clamp(max=0)
