"""The decoder protocol: the four functions and the opaque state that search needs of a model."""

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

# R rows: one a hypothesis · V symbols

END = 0  # of the vocabulary; the search knows no other symbols
BEGIN = 1

State = TypeVar("State")


@runtime_checkable
class Decoder(Protocol[State]):
    """A model, an ensemble or a table that gives the log-probabilities of every next symbol.

    The search guarantees the following, so that hypotheses of a sentence can share memory. The
    first `step` has one row a source, then `reorder` spreads every source over `width` rows. From
    then on the rows of a sentence are adjacent and exactly `width`, dead hypotheses included, and
    sentences keep their order while none leaves. A state is not used again once another state was
    made from it. `concatenate` is called between two such states.
    """

    @property
    def device(self) -> torch.device:
        """The device of ids and log-probabilities."""
        ...

    def start(self, sources: Sequence[Sequence[int]]) -> State:
        """Encode the sources, each with its END, into a state of one row a source."""
        ...

    def step(self, state: State, ids: Int[Tensor, " R"]) -> tuple[Float[Tensor, "R V"], State]:
        """Append one symbol to every row; return log-probabilities (<= 0) of the next symbol."""
        ...

    def reorder(self, state: State, rows: Int[Tensor, " R2"]) -> State:
        """Return the state of the given rows in the given order; rows may repeat or be left out."""
        ...

    def concatenate(self, first: State, second: State) -> State:
        """Return one state with the rows of both states, whose outputs may differ in length."""
        ...
