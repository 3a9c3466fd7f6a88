"""Several decoders that answer as one: the mean of their probabilities at every symbol."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.search.decoder import Decoder, State

# M members · R rows · V symbols


@final
@dataclass(frozen=True)
class Ensemble(Generic[State]):
    """Decoders of one vocabulary on one device; its state is those of all members."""

    members: tuple[Decoder[State], ...]

    @property
    def device(self) -> torch.device:
        """Where all members are."""
        return self.members[0].device

    def start(self, sources: Sequence[Sequence[int]]) -> tuple[State, ...]:
        """Every member reads the sources."""
        return tuple(member.start(sources) for member in self.members)

    def step(
        self, state: tuple[State, ...], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], tuple[State, ...]]:
        """log((P_1 + … + P_M) / M)"""
        answers = [m.step(own, ids) for m, own in zip(self.members, state, strict=True)]
        return log_mean_exp([log_p for log_p, _ in answers]), tuple(own for _, own in answers)

    def reorder(self, state: tuple[State, ...], rows: Int[Tensor, " R2"]) -> tuple[State, ...]:
        """The same rows of every member."""
        return tuple(m.reorder(own, rows) for m, own in zip(self.members, state, strict=True))

    def concatenate(self, first: tuple[State, ...], second: tuple[State, ...]) -> tuple[State, ...]:
        """The rows of both, member by member."""
        return tuple(
            m.concatenate(a, b) for m, a, b in zip(self.members, first, second, strict=True)
        )


def log_mean_exp(log_probs: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    """The logarithm of the mean probability; rounding must not lift it above 0."""
    total = torch.stack(list(log_probs)).logsumexp(dim=0)
    return (total - math.log(len(log_probs))).clamp(max=0)
