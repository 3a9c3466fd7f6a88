"""The constraint of tagging: an output has one label for every word of its source.

In the label scheme BIO, I-X may follow only B-X or I-X, so that entities are well formed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transduce.packed import move_to_device
from transduce.search.constraints import Constraint, ConstraintState, require_kind
from transduce.vocabulary import END

# R rows: one per hypothesis · V symbols

NO_ENTITY = -1  # stands where there is no entity type


class LabelKind(IntEnum):
    """The kinds of a tagger's output symbols; END is recognised by its id, not by a kind."""

    OTHER = 0  # not a label, and never allowed
    FREE = 1  # allowed after any label: O and B-X; without scheme BIO, every label
    INSIDE = 2  # allowed only after a label of the same entity type: I-X


@final
@dataclass(frozen=True)
class LabelSymbols:
    """The `LabelKind` and entity type of each symbol in a tagger's target vocabulary, by id."""

    kinds: tuple[LabelKind, ...]
    entities: tuple[int, ...]  # equal for B-X and I-X; NO_ENTITY for other labels

    def __post_init__(self) -> None:
        assert len(self.kinds) == len(self.entities)
        assert LabelKind.FREE in self.kinds  # without it no label could come first
        both = zip(self.kinds, self.entities, strict=True)
        assert (LabelKind.INSIDE, NO_ENTITY) not in both


@final
@dataclass(frozen=True)
class LabelConstraint:
    """The constraint that an output has exactly one label per word, and then END."""

    words: int
    symbols: LabelSymbols

    @classmethod
    def start_batch(cls, constraints: Sequence[Constraint], device: torch.device) -> "LabelState":
        """Build the state of a batch of label constraints before the first label, one row each."""
        checked = require_kind(constraints, cls)
        symbols = checked[0].symbols
        assert all(one.symbols == symbols for one in checked)
        kinds, entities = move_to_device(torch.tensor([symbols.kinds, symbols.entities]), device)
        words = move_to_device(torch.tensor([one.words for one in checked]), device)
        rows = LabelRows(words, torch.full_like(words, NO_ENTITY))
        return LabelState(kinds, entities, rows)


class LabelRows(NamedTuple):
    """The number of labels that each hypothesis must still append, and its last entity type."""

    labels_left: Int[Tensor, " R"]
    entity: Int[Tensor, " R"]  # entity type of the last label, or NO_ENTITY


@final
@dataclass(frozen=True)
class LabelState:
    """The state of the tagging constraint for all hypotheses of a batch."""

    kinds: Int[Tensor, " V"]  # the `LabelKind` of each symbol
    entities: Int[Tensor, " V"]  # the entity type of each symbol
    rows: LabelRows

    def allowed(self, symbols: int) -> Bool[Tensor, "R V"]:
        """Return a mask of the labels that may come next, or END once every word has a label."""
        assert symbols == len(self.kinds)
        has_labels = (self.rows.labels_left > 0)[:, None]  # [R 1]
        continues = (self.kinds == LabelKind.INSIDE) & (self.entities == self.rows.entity[:, None])
        allowed = has_labels & (continues | (self.kinds == LabelKind.FREE))  # [R V]
        allowed[:, END] = ~has_labels[:, 0]
        return allowed

    def advance(self, ids: Int[Tensor, " R"]) -> "LabelState":
        """Return the tagging constraint's state after each row has appended its label of `ids`."""
        return replace(self, rows=LabelRows(self.rows.labels_left - 1, self.entities[ids]))

    def reorder(self, rows: Int[Tensor, " R2"]) -> "LabelState":
        """Return the tagging constraint's state of the given rows, in the given order."""
        return replace(self, rows=LabelRows(*(part.index_select(0, rows) for part in self.rows)))

    def concatenate(self, other: ConstraintState) -> "LabelState":
        """Return one state of the tagging constraint with the rows of both states."""
        (second,) = require_kind([other], LabelState)
        both = zip(self.rows, second.rows, strict=True)
        return replace(self, rows=LabelRows(*map(torch.cat, both)))
