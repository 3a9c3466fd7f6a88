"""Constraints on Python values, row by row, as twins of those on tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from transduce.search.constraints import Constraint, ConstraintState, require_kind

END = 0


@dataclass(frozen=True)
class PlainConstraint:
    """The constraint of one hypothesis: `allowed` symbols, and `advance` by one of them."""

    def allowed(self) -> Sequence[int] | None:
        raise NotImplementedError

    def advance(self, symbol: int) -> "PlainConstraint":
        raise NotImplementedError

    @classmethod
    def start_batch(cls, constraints: Sequence[Constraint], device: torch.device) -> "PlainState":
        return PlainState(tuple(require_kind(constraints, cls)), device)


@dataclass(frozen=True)
class PlainState:
    """One constraint per row; None after END and after a forbidden symbol."""

    rows: tuple[PlainConstraint | None, ...]
    device: torch.device

    def allowed(self, symbols: int) -> torch.Tensor:
        table = torch.ones(len(self.rows), symbols, dtype=torch.bool)
        for row, constraint in enumerate(self.rows):
            if constraint is not None and (allowed := constraint.allowed()) is not None:
                table[row] = False
                table[row, list(allowed)] = True
        return table.to(self.device)

    def advance(self, ids: torch.Tensor) -> "PlainState":
        pairs = zip(self.rows, ids.tolist(), strict=True)
        return PlainState(tuple(advance_or_end(row, symbol) for row, symbol in pairs), self.device)

    def reorder(self, rows: torch.Tensor) -> "PlainState":
        return PlainState(tuple(self.rows[row] for row in rows.tolist()), self.device)

    def concatenate(self, other: ConstraintState) -> "PlainState":
        assert isinstance(other, PlainState)
        return PlainState(self.rows + other.rows, self.device)


def advance_or_end(constraint: PlainConstraint | None, symbol: int) -> PlainConstraint | None:
    if constraint is None or symbol == END:
        return None
    allowed = constraint.allowed()
    return constraint.advance(symbol) if allowed is None or symbol in allowed else None


def satisfies(constraint: PlainConstraint, ids: Sequence[int]) -> bool:
    """Check an output symbol by symbol against a constraint, END included."""
    for symbol in (*ids, END):
        allowed = constraint.allowed()
        if allowed is not None and symbol not in allowed:
            return False
        constraint = constraint if symbol == END else constraint.advance(symbol)
    return True


def enumerate_allowed(
    constraint: PlainConstraint, prefix: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield every output that a constraint which names its symbols allows."""
    for symbol in constraint.allowed() or ():
        if symbol == END:
            yield prefix
        else:
            yield from enumerate_allowed(constraint.advance(symbol), (*prefix, symbol))


@dataclass(frozen=True)
class PlainPrefix(PlainConstraint):
    """A forced prefix, then any symbols."""

    ids: tuple[int, ...]

    def allowed(self):
        return self.ids[:1] or None

    def advance(self, symbol):
        assert not self.ids or symbol == self.ids[0]
        return PlainPrefix(self.ids[1:])


@dataclass(frozen=True)
class PlainTree(PlainConstraint):
    """The rule of a tree over `words` words, with a stack of (label, words read when opened).

    `symbols` has "(X" and ")X" for a label X, "XX" for a word and other symbols by id.
    """

    words: int
    limit: int
    max_open: int
    symbols: tuple[str, ...]
    stack: tuple[tuple[str, int], ...] = ()
    read: int = 0
    written: int = 0
    opened: int = 0

    def allowed(self):
        return [i for i, symbol in enumerate(self.symbols) if self.may_write(symbol)]

    def may_write(self, symbol):
        words, depth, left = self.words - self.read, len(self.stack), self.limit - self.written
        if symbol == "</s>":
            return words == depth == 0 < self.written
        if symbol == "XX":
            return words > 0 and depth > 0
        if symbol.startswith("("):
            begins = depth > 0 or self.written == 0
            room = left >= words + depth + 3
            return words > 0 and begins and self.opened < self.max_open and room
        if symbol.startswith(")") and depth:
            label, start = self.stack[-1]
            return label == symbol[1:] and self.read > start and not (depth == 1 and words > 0)
        return False

    def advance(self, symbol):
        name = self.symbols[symbol]
        assert self.may_write(name)  # the search promises it
        stack, read, opened = self.stack, self.read, self.opened
        if name == "XX":
            read, opened = read + 1, 0
        elif name.startswith("("):
            stack, opened = (*stack, (name[1:], read)), opened + 1
        else:
            stack = stack[:-1]
        return PlainTree(
            self.words,
            self.limit,
            self.max_open,
            self.symbols,
            stack,
            read,
            self.written + 1,
            opened,
        )
