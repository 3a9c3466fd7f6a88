"""Decoding of models whose layers have no cache; every step recomputes each whole prefix"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.packed import Packed, compute_sentence_starts
from transduce.paper.model import EncoderOutput, Transformer
from transduce.paper.operations import Operations

# R rows, one for each hypothesis · S tokens of a row's source · V symbols


class Prefixes(NamedTuple):
    """For each hypothesis row: its encoded source and the ids written so far."""

    sources: list[Float[Tensor, "S d_model"]]  # the encoder's output
    targets: list[list[int]]  # ids, BEGIN first


@final
@dataclass(frozen=True)
class RecomputingModel:
    """A model as a search takes it, without a cache; every step recomputes each whole prefix."""

    model: Transformer
    operations: Operations | None = None  # None: those of the model

    @property
    def device(self) -> torch.device:
        """The device of the model's weights."""
        return self.model.output.weight.device

    def start(self, sources: Sequence[Sequence[int]]) -> Prefixes:
        """Encode sources (ids that end with END); return a row for each, with nothing written."""
        packed = Packed.from_sentences(sources).to(self.device)
        memory = self.model.encode(packed, self.operations)
        return Prefixes(list(memory.states.split(list(memory.lengths))), [[] for _ in sources])

    def step(
        self, state: Prefixes, ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], Prefixes]:
        """Append an id to each of R hypotheses; return V next symbols' log P and the new state."""
        targets = [[*row, new] for row, new in zip(state.targets, ids.tolist(), strict=True)]
        memory = EncoderOutput(torch.cat(state.sources), tuple(map(len, state.sources)))
        inputs = Packed.from_sentences(targets).to(self.device)
        states = self.model.decode(inputs, memory, self.operations)
        lasts = compute_sentence_starts(inputs.lengths) + torch.tensor(inputs.lengths) - 1
        logits = self.model.logits(states[lasts.to(self.device)])
        operations = self.operations or self.model.operations
        return operations.log_softmax(logits), state._replace(targets=targets)

    def reorder(self, state: Prefixes, rows: Int[Tensor, " R2"]) -> Prefixes:
        """Return the state of the rows with these indices, in this order."""
        chosen = rows.tolist()
        return Prefixes(
            [state.sources[row] for row in chosen], [state.targets[row] for row in chosen]
        )

    def concatenate(self, first: Prefixes, second: Prefixes) -> Prefixes:
        """Return one state with the rows of both states, those of `first` first."""
        return Prefixes(first.sources + second.sources, first.targets + second.targets)
