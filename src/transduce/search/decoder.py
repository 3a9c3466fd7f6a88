"""What the search asks of a model: four functions and a state that only the model understands."""

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

# R rows: one a hypothesis · V symbols

END = 0  # of the vocabulary; this room knows no other symbols
BEGIN = 1

State = TypeVar("State")


@runtime_checkable
class Decoder(Protocol[State]):
    """A model, an ensemble or a table: anything that says how likely each next symbol is.

    What the search promises in return, so that hypotheses can share what they have in common: the
    first `step` has one row a source, then `reorder` spreads every source over `beam` rows; from
    then on the rows of a sentence stand together and are exactly `beam`, the dead among them too.
    While none leaves, sentences keep their places. A state that something was made of is not used
    again. `concatenate` is called between two such states.
    """

    @property
    def device(self) -> torch.device:
        """Where ids are wanted and log-probabilities come from."""
        ...

    def start(self, sources: Sequence[Sequence[int]]) -> State:
        """Read the sources, each with its END; one row a source, nothing written yet."""
        ...

    def step(self, state: State, ids: Int[Tensor, " R"]) -> tuple[Float[Tensor, "R V"], State]:
        """Append one symbol to every row: log-probabilities (none above 0) of what may follow."""
        ...

    def reorder(self, state: State, rows: Int[Tensor, " R2"]) -> State:
        """The rows named, in that order; a row may be named often or not at all."""
        ...

    def concatenate(self, first: State, second: State) -> State:
        """The rows of both in this order; they may have come differently far."""
        ...
