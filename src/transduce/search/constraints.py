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
class Rule(Protocol):
    """What one output must still obey: a value, never changed, that moves with its row.

    Within the length allowed there must always be something allowed, and END at last.
    """

    def allowed(self) -> Sequence[int] | None:
        """The symbols that may follow; None if all may."""
        ...

    def advance(self, symbol: int) -> "Rule":
        """The rule after an allowed symbol; never asked for END."""
        ...


@final
@dataclass(frozen=True)
class Beginning:
    """Before the search gives BEGIN."""

    rule: Rule

    def allowed(self) -> Sequence[int]:
        """Nothing else."""
        return (BEGIN,)

    def advance(self, _symbol: int) -> Rule:
        """The rule itself."""
        return self.rule


@final
@dataclass(frozen=True)
class Ruled(Sequence[int]):
    """A source, with the rule for its output."""

    ids: Sequence[int]
    rule: Rule

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
class RuledState(Generic[State]):
    """The inner decoder's state and a rule for every row; None once the row is over."""

    inner: State
    rules: tuple[Rule | None, ...]


@final
@dataclass(frozen=True)
class RuledDecoder(Generic[State]):
    """A decoder whose sources are `Ruled`."""

    inner: Decoder[State]

    @property
    def device(self) -> torch.device:
        """That of the inner decoder."""
        return self.inner.device

    def start(self, sources: Sequence[Sequence[int]]) -> RuledState[State]:
        """Every row obeys the rule of its source."""
        ruled = [source for source in sources if isinstance(source, Ruled)]
        assert len(ruled) == len(sources)
        state = self.inner.start([source.ids for source in ruled])
        return RuledState(state, tuple(Beginning(source.rule) for source in ruled))

    def next(
        self, state: RuledState[State], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], RuledState[State]]:
        """The inner decoder's log-probabilities, -inf where a rule forbids."""
        log_probs, inner = self.inner.next(state.inner, ids)
        rules = tuple(map(after, state.rules, ids.tolist()))
        return obeying(log_probs, rules), RuledState(inner, rules)

    def select(self, state: RuledState[State], rows: Int[Tensor, " R2"]) -> RuledState[State]:
        """Rules move with their rows."""
        rules = tuple(state.rules[row] for row in rows.tolist())
        return RuledState(self.inner.select(state.inner, rows), rules)

    def join(self, first: RuledState[State], second: RuledState[State]) -> RuledState[State]:
        """The rows of both."""
        inner = self.inner.join(first.inner, second.inner)
        return RuledState(inner, first.rules + second.rules)


def after(rule: Rule | None, symbol: int) -> Rule | None:
    """None after END, and after what was not allowed: the search gives dead rows any symbol."""
    if rule is None or symbol == END:
        return None
    allowed = rule.allowed()
    return rule.advance(symbol) if allowed is None or symbol in allowed else None


def obeying(log_probs: Float[Tensor, "R V"], rules: Sequence[Rule | None]) -> Float[Tensor, "R V"]:
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
