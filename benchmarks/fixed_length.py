"""Searches whose outputs have a fixed length, so that all systems take the same steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.paper.model import StepwiseTransformer
from transduce.paper.operations import Cache
from transduce.vocabulary import END

# R rows · V symbols


@final
@dataclass(frozen=True)
class FixedLengthDecoder:
    """A decoder that forbids END before `length` symbols and forces it after them.

    The model computes `length` steps and none for END, as CTranslate2's between equal limits.
    """

    decoder: StepwiseTransformer
    length: int

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return self.decoder.device

    def start(self, sources: Sequence[Sequence[int]]) -> tuple[Cache, int]:
        """Start the search state of each source, with no symbols written."""
        return self.decoder.start(sources), 0

    def step(
        self, state: tuple[Cache, int], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], tuple[Cache, int]]:
        """Return the model's log-probabilities with END forbidden, or those of END alone."""
        cache, written = state
        if written == self.length:
            log_probs = torch.full((len(ids), self.symbols), -torch.inf, device=self.device)
            log_probs[:, END] = 0.0
        else:
            log_probs, cache = self.decoder.step(cache, ids)
            log_probs[:, END] = -torch.inf
        return log_probs, (cache, written + 1)

    @property
    def symbols(self) -> int:
        """The size of the vocabulary."""
        return self.decoder.model.target.weight.shape[0]

    def reorder(self, state: tuple[Cache, int], rows: Int[Tensor, " R2"]) -> tuple[Cache, int]:
        """Select rows of the state."""
        return self.decoder.reorder(state[0], rows), state[1]

    def concatenate(self, first: tuple[Cache, int], second: tuple[Cache, int]) -> tuple[Cache, int]:
        """Refuse: with one length for all, a batch ends at once and no state is joined."""
        raise NotImplementedError
