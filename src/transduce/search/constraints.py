"""Constrained decoding: a decoder that wraps another decoder and forbids symbols.

A forbidden symbol gets log-probability -inf and the others are not renormalised: scores are those
of the model, and an unconstrained search whose output is allowed has the same result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Protocol, final, overload, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.search.decoder import BEGIN, END, Decoder, State

# R rows: one per hypothesis · V symbols


@runtime_checkable
class Constraint(Protocol):
    """Which symbols may come next in one output; immutable, one value for each hypothesis.

    Some symbol must always be allowed within the length limit, and END at the limit.
    """

    def allowed(self) -> Sequence[int] | None:
        """Return the symbols that may come next, or None if all may."""
        ...

    def advance(self, symbol: int) -> "Constraint":
        """Return the constraint after an allowed symbol other than END."""
        ...


@final
@dataclass(frozen=True)
class ForcedPrefix:
    """The constraint that an output begins with `ids`; symbols after them are unconstrained."""

    ids: tuple[int, ...]

    def allowed(self) -> Sequence[int] | None:
        """Return the next symbol of the prefix, or None if the prefix is complete."""
        return self.ids[:1] or None

    def advance(self, _symbol: int) -> "ForcedPrefix":
        """Return the constraint of the remaining prefix, without its first symbol."""
        return ForcedPrefix(self.ids[1:]) if self.ids else self


@final
@dataclass(frozen=True)
class BeforeBegin:
    """The constraint of a row before BEGIN; advancing gives the constraint of the output."""

    constraint: Constraint

    def allowed(self) -> Sequence[int]:
        """Return BEGIN, the only allowed symbol."""
        return (BEGIN,)

    def advance(self, _symbol: int) -> Constraint:
        """Return the constraint of the output."""
        return self.constraint


@final
@dataclass(frozen=True)
class ConstrainedSource(Sequence[int]):
    """The token ids of a source, together with the constraint on its output."""

    ids: Sequence[int]
    constraint: Constraint

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        return self.ids[index]


@final
@dataclass(frozen=True)
class ConstrainedState(Generic[State]):
    """The inner decoder's state and one constraint per row, None for rows that have ended."""

    inner: State
    constraints: tuple[Constraint | None, ...]


@final
@dataclass(frozen=True)
class ConstrainedDecoder(Generic[State]):
    """A decoder that applies the constraint of each `ConstrainedSource` to an inner decoder."""

    inner: Decoder[State]

    @property
    def device(self) -> torch.device:
        """The device of the inner decoder."""
        return self.inner.device

    def start(self, sources: Sequence[Sequence[int]]) -> ConstrainedState[State]:
        """Encode the sources; every row starts with the constraint of its source."""
        constrained = [source for source in sources if isinstance(source, ConstrainedSource)]
        assert len(constrained) == len(sources)
        state = self.inner.start([source.ids for source in constrained])
        return ConstrainedState(state, tuple(BeforeBegin(s.constraint) for s in constrained))

    def step(
        self, state: ConstrainedState[State], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], ConstrainedState[State]]:
        """Append one symbol to every row; return log-probabilities, -inf for forbidden symbols."""
        log_probs, inner = self.inner.step(state.inner, ids)
        constraints = tuple(map(advance_or_end, state.constraints, ids.tolist()))
        return mask_forbidden(log_probs, constraints), ConstrainedState(inner, constraints)

    def reorder(
        self, state: ConstrainedState[State], rows: Int[Tensor, " R2"]
    ) -> ConstrainedState[State]:
        """Return the state of the given rows: the inner decoder's and the constraints."""
        constraints = tuple(state.constraints[row] for row in rows.tolist())
        return ConstrainedState(self.inner.reorder(state.inner, rows), constraints)

    def concatenate(
        self, first: ConstrainedState[State], second: ConstrainedState[State]
    ) -> ConstrainedState[State]:
        """Return one state with the rows of both: the inner decoder's and the constraints."""
        inner = self.inner.concatenate(first.inner, second.inner)
        return ConstrainedState(inner, first.constraints + second.constraints)


def advance_or_end(constraint: Constraint | None, symbol: int) -> Constraint | None:
    """Return the constraint after a symbol: None after END and after a forbidden symbol.

    The search extends dead hypotheses by arbitrary symbols, forbidden ones included.
    """
    if constraint is None or symbol == END:
        return None
    allowed = constraint.allowed()
    return constraint.advance(symbol) if allowed is None or symbol in allowed else None


def mask_forbidden(
    log_probs: Float[Tensor, "R V"], constraints: Sequence[Constraint | None]
) -> Float[Tensor, "R V"]:
    """Set the log-probabilities of forbidden symbols to -inf; unconstrained rows stay as is."""
    allowed = [None if constraint is None else constraint.allowed() for constraint in constraints]
    constrained = [row for row, symbols in enumerate(allowed) if symbols is not None]
    if not constrained:
        return log_probs
    forbidden = torch.zeros(log_probs.shape, dtype=torch.bool)
    forbidden[constrained] = True
    rows = [row for row in constrained for _ in allowed[row] or ()]
    symbols = list(chain.from_iterable(allowed[row] or () for row in constrained))
    forbidden[rows, symbols] = False
    return log_probs.masked_fill(forbidden.to(log_probs.device), -torch.inf)
