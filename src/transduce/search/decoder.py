"""The decoder protocol: the functions and the opaque state that search needs from a model."""

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

# R rows: one per hypothesis · V symbols

END = 0  # the ids of the only two symbols that have a meaning for the search
BEGIN = 1

State = TypeVar("State")


@runtime_checkable
class Decoder(Protocol[State]):
    """What a search needs of a model or ensemble: log-probabilities of the next symbol.

    The search guarantees the following, so that hypotheses of a sentence can share memory. The
    first `step` has one row per source, then `reorder` repeats each source over `width` rows. Then
    each sentence has exactly `width` adjacent rows, dead hypotheses included, and sentences
    keep their order until one of them ends. A state is not used again after another state was made
    from it. `concatenate` is only called with two states of `width` rows per sentence.
    """

    @property
    def device(self) -> torch.device:
        """The device of ids and log-probabilities."""
        ...

    def start(self, sources: Sequence[Sequence[int]]) -> State:
        """Encode the sources, each with its END, into a state of one row per source."""
        ...

    def step(self, state: State, ids: Int[Tensor, " R"]) -> tuple[Float[Tensor, "R V"], State]:
        """Append a symbol to each of R rows; return log-probabilities (<= 0) of V next symbols."""
        ...

    def reorder(self, state: State, rows: Int[Tensor, " R2"]) -> State:
        """Return the state of the given rows in the given order; rows may repeat or be left out."""
        ...

    def concatenate(self, first: State, second: State) -> State:
        """Return one state with the rows of both states, whose outputs may differ in length."""
        ...
