"""Outputs that obey rules: a decoder over a decoder that lets only what is allowed follow.

What is not allowed gets log-probability -inf, and the rest is not scaled up: scores stay the
model's own, and a free search finds the same wherever its result was allowed anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Protocol, final, overload, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.search.decoder import BEGIN, END, Decoder, State

# R rows: one a hypothesis · V symbols


@runtime_checkable
class Constraint(Protocol):
    """What one output must still obey: a value, never changed, that moves with its row.

    Within the length allowed there must always be something allowed, and END at last.
    """

    def allowed(self) -> Sequence[int] | None:
        """The symbols that may follow; None if all may."""
        ...

    def advance(self, symbol: int) -> "Constraint":
        """The rule after an allowed symbol; never asked for END."""
        ...


@final
@dataclass(frozen=True)
class ForcedPrefix:
    """The constraint that an output begins with these symbols; what follows them is free."""

    ids: tuple[int, ...]

    def allowed(self) -> Sequence[int] | None:
        return self.ids[:1] or None

    def advance(self, _symbol: int) -> "ForcedPrefix":
        return ForcedPrefix(self.ids[1:]) if self.ids else self


@final
@dataclass(frozen=True)
class Beginning:
    """Before the search gives BEGIN."""

    rule: Constraint

    def allowed(self) -> Sequence[int]:
        """Nothing else."""
        return (BEGIN,)

    def advance(self, _symbol: int) -> Constraint:
        """The rule itself."""
        return self.rule


@final
@dataclass(frozen=True)
class ConstrainedSource(Sequence[int]):
    """A source, with the rule for its output."""

    ids: Sequence[int]
    rule: Constraint

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...
    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        return self.ids[place]


@final
@dataclass(frozen=True)
class ConstrainedState(Generic[State]):
    """The inner decoder's state and a rule for every row; None once the row is over."""

    inner: State
    rules: tuple[Constraint | None, ...]


@final
@dataclass(frozen=True)
class ConstrainedDecoder(Generic[State]):
    """A decoder whose sources are `ConstrainedSource`."""

    inner: Decoder[State]

    @property
    def device(self) -> torch.device:
        """That of the inner decoder."""
        return self.inner.device

    def start(self, sources: Sequence[Sequence[int]]) -> ConstrainedState[State]:
        """Every row obeys the rule of its source."""
        ruled = [source for source in sources if isinstance(source, ConstrainedSource)]
        assert len(ruled) == len(sources)
        state = self.inner.start([source.ids for source in ruled])
        return ConstrainedState(state, tuple(Beginning(source.rule) for source in ruled))

    def step(
        self, state: ConstrainedState[State], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], ConstrainedState[State]]:
        """The inner decoder's log-probabilities, -inf where a rule forbids."""
        log_probs, inner = self.inner.step(state.inner, ids)
        rules = tuple(map(after, state.rules, ids.tolist()))
        return obeying(log_probs, rules), ConstrainedState(inner, rules)

    def reorder(
        self, state: ConstrainedState[State], rows: Int[Tensor, " R2"]
    ) -> ConstrainedState[State]:
        """Rules move with their rows."""
        rules = tuple(state.rules[row] for row in rows.tolist())
        return ConstrainedState(self.inner.reorder(state.inner, rows), rules)

    def concatenate(
        self, first: ConstrainedState[State], second: ConstrainedState[State]
    ) -> ConstrainedState[State]:
        """The rows of both."""
        inner = self.inner.concatenate(first.inner, second.inner)
        return ConstrainedState(inner, first.rules + second.rules)


def after(rule: Constraint | None, symbol: int) -> Constraint | None:
    """None after END, and after what was not allowed: the search gives dead rows any symbol."""
    if rule is None or symbol == END:
        return None
    allowed = rule.allowed()
    return rule.advance(symbol) if allowed is None or symbol in allowed else None


def obeying(
    log_probs: Float[Tensor, "R V"], rules: Sequence[Constraint | None]
) -> Float[Tensor, "R V"]:
    """-inf for all that is not allowed; free rows and those that are over stay as they are."""
    allowed = [None if rule is None else rule.allowed() for rule in rules]
    bound = [row for row, symbols in enumerate(allowed) if symbols is not None]
    if not bound:
        return log_probs
    forbidden = torch.zeros(log_probs.shape, dtype=torch.bool)
    forbidden[bound] = True
    rows = [row for row in bound for _ in allowed[row] or ()]
    forbidden[rows, list(chain.from_iterable(allowed[row] or () for row in bound))] = False
    return log_probs.masked_fill(forbidden.to(log_probs.device), -torch.inf)
