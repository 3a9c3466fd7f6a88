"""Constrained decoding: a model that wraps another model and forbids symbols.

A forbidden symbol gets log-probability -inf. The other symbols are not renormalised, so that scores
remain those of the model. The constraints of all hypotheses are rows of a few tensors, so no step
has a loop over hypotheses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, final, overload, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.packed import move_to_device
from transduce.paper.search import State, StepwiseModel

# R rows: one per hypothesis · V symbols

FREE = -1  # in place of a symbol id: any symbol is allowed

Kind = TypeVar("Kind")


@runtime_checkable
class ConstraintState(Protocol):
    """The constraints of a batch after the symbols written so far, one row per hypothesis.

    Implementations must allow at least one symbol within the length limit, and END at the limit.
    The search appends arbitrary symbols to hypotheses that are dead or have ended. Their rows may
    allow anything, but no symbol may raise an error or change another row.
    """

    def allowed(self, symbols: int) -> Bool[Tensor, "R V"] | None:
        """Return a mask of ids below `symbols` that may come next in each row; None if all may."""
        ...

    def advance(self, ids: Int[Tensor, " R"]) -> "ConstraintState":
        """Return the constraint state after each hypothesis has appended its symbol of `ids`."""
        ...

    def reorder(self, rows: Int[Tensor, " R2"]) -> "ConstraintState":
        """Return the state of the given rows in that order; rows may repeat or be left out."""
        ...

    def concatenate(self, other: "ConstraintState") -> "ConstraintState":
        """Return one state with the rows of both states, which are of the same class."""
        ...


@runtime_checkable
class Constraint(Protocol):
    """A rule for the outputs that one source may have; an immutable, hashable value."""

    @classmethod
    def start_batch(
        cls, constraints: Sequence["Constraint"], device: torch.device
    ) -> ConstraintState:
        """Build the constraint state before the first symbol, with a row for each constraint.

        Raise TypeError unless all constraints are of this class.
        """
        ...


@final
@dataclass(frozen=True)
class ForcedPrefix:
    """The constraint that an output begins with `ids`; later symbols are unconstrained."""

    ids: tuple[int, ...]

    @classmethod
    def start_batch(cls, constraints: Sequence[Constraint], device: torch.device) -> "PrefixState":
        """Build the state of a batch of forced prefixes before their first symbol."""
        prefixes = [prefix.ids for prefix in require_kind(constraints, cls)]
        longest = max(map(len, prefixes))
        rows = [[*ids, *[FREE] * (longest - len(ids))] for ids in prefixes]
        return PrefixState(move_to_device(torch.tensor(rows, dtype=torch.long), device))


@final
@dataclass(frozen=True)
class PrefixState:
    """The forced symbols that each hypothesis must still append, then `FREE` (any symbol)."""

    remaining: Int[Tensor, "R P"]  # P: length of the longest remaining prefix

    def allowed(self, symbols: int) -> Bool[Tensor, "R V"] | None:
        """Return a mask with each row's next forced symbol, or with all symbols if it has none.

        None means that no row has a forced symbol left.
        """
        if self.remaining.shape[1] == 0:
            return None
        following = self.remaining[:, :1]  # [R 1]
        allowed = (following == FREE).repeat(1, symbols)
        return allowed.scatter_(1, following.clamp(min=0), value=True)

    def advance(self, ids: Int[Tensor, " R"]) -> "PrefixState":  # noqa: ARG002 - ids do not matter
        """Return the state without the first forced symbol of each hypothesis; ignore `ids`."""
        return PrefixState(self.remaining[:, 1:])

    def reorder(self, rows: Int[Tensor, " R2"]) -> "PrefixState":
        """Return the prefix state of the given rows, in the given order."""
        return PrefixState(self.remaining[rows])

    def concatenate(self, other: ConstraintState) -> "PrefixState":
        """Return one prefix state with the rows of both states, padded to equal length."""
        (second,) = require_kind([other], PrefixState)
        both = (self.remaining, second.remaining)
        width = max(prefixes.shape[1] for prefixes in both)
        padded = [pad(rows, (0, width - rows.shape[1]), value=FREE) for rows in both]
        return PrefixState(torch.cat(padded))


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
    """The state of a constrained model: the inner model's state and the constraints' state."""

    inner: State
    constraints: ConstraintState
    has_started: bool  # whether BEGIN was appended; constraints do not advance at BEGIN


@final
@dataclass(frozen=True)
class ConstrainedModel(Generic[State]):
    """A model that applies the constraint of each `ConstrainedSource` to an inner model.

    The constraints of all sources have the same class.
    """

    inner: StepwiseModel[State]

    @property
    def device(self) -> torch.device:
        """The device of the inner model."""
        return self.inner.device

    def start(self, sources: Sequence[Sequence[int]]) -> ConstrainedState[State]:
        """Encode `ConstrainedSource`s (else TypeError); return a state with one row per source."""
        constrained = require_kind(sources, ConstrainedSource)
        constraints = [source.constraint for source in constrained]
        state = self.inner.start([source.ids for source in constrained])
        started = constraints[0].start_batch(constraints, self.device)
        return ConstrainedState(state, started, has_started=False)

    def step(
        self, state: ConstrainedState[State], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], ConstrainedState[State]]:
        """Append a symbol to each row; return log P (-inf for forbidden symbols) and the state."""
        log_probs, inner = self.inner.step(state.inner, ids)
        constraints = state.constraints.advance(ids) if state.has_started else state.constraints
        allowed = constraints.allowed(log_probs.shape[1])
        if allowed is not None:
            log_probs = log_probs.where(allowed, -torch.inf)
        return log_probs, ConstrainedState(inner, constraints, has_started=True)

    def reorder(
        self, state: ConstrainedState[State], rows: Int[Tensor, " R2"]
    ) -> ConstrainedState[State]:
        """Return the state of the given rows, for both the inner model and the constraints."""
        inner = self.inner.reorder(state.inner, rows)
        return ConstrainedState(inner, state.constraints.reorder(rows), state.has_started)

    def concatenate(
        self, first: ConstrainedState[State], second: ConstrainedState[State]
    ) -> ConstrainedState[State]:
        """Return one state with the rows of both states, for inner model and constraints."""
        assert first.has_started
        assert second.has_started
        inner = self.inner.concatenate(first.inner, second.inner)
        constraints = first.constraints.concatenate(second.constraints)
        return ConstrainedState(inner, constraints, has_started=True)


def require_kind(values: Sequence[object], kind: type[Kind]) -> list[Kind]:
    """Return the values as a list; raise TypeError unless all of them are of type `kind`."""
    found = [value for value in values if isinstance(value, kind)]
    if len(found) < len(values):
        names = ", ".join(sorted({type(value).__name__ for value in values}))
        raise TypeError(f"a search has constraints of one kind: {kind.__name__}, not {names}")
    return found


def with_constraints(
    model: StepwiseModel[Any], sources: Sequence[Sequence[int]]
) -> tuple[StepwiseModel[Any], Sequence[Sequence[int]]]:
    """Return model and sources, wrapped for constrained decoding if a source has a constraint."""
    if not any(isinstance(source, ConstrainedSource) for source in sources):
        return model, sources
    free = ForcedPrefix(())
    return ConstrainedModel(model), [
        source if isinstance(source, ConstrainedSource) else ConstrainedSource(source, free)
        for source in sources
    ]
