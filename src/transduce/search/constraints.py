"""Constrained decoding: forced prefixes, labels and trees, and a model that forbids all else.

A forbidden symbol gets log-probability -inf. The other symbols are not renormalised, so that scores
remain those of the model. The constraints of all hypotheses are rows of a few tensors, so no step
has a loop over hypotheses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, final, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.packed import move_to_device
from transduce.paper.search import State, StepwiseModel
from transduce.settings.fields import require
from transduce.vocabulary import END

# R rows: one per hypothesis · V symbols
# D columns of a stack: the most constituents that can be open at once, plus one

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

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an id, or a slice of them
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


# --- Tagging: one label for every word of the source, in BIO with I-X only after B-X or I-X -------

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


# --- Parsing: one well-formed tree over exactly the words of the source ---------------------------

# A tree is written depth first, in three kinds of symbols: a labelled opening of a constituent, a
# symbol for the next word, and a closing with the label of the innermost open constituent. Each
# allowed symbol leaves room to finish the tree within the length limit.


class TreeSymbolKind(IntEnum):
    """The kinds of a parser's output symbols; END is recognised by its id, not by a kind."""

    OTHER = 0  # not part of a tree, and never allowed
    OPEN = 1
    CLOSE = 2
    WORD = 3


@final
@dataclass(frozen=True)
class TreeSymbols:
    """Kind, label and source word index of each symbol in a parser's target vocabulary, by id."""

    kinds: tuple[TreeSymbolKind, ...]
    labels: tuple[int, ...]  # equal for opening and closing symbols of one label
    # The position, from 1, of the word that each symbol stands for, or 0 for any word. Words after
    # the highest position are counted from 1 again.
    numbers: tuple[int, ...]

    def __post_init__(self) -> None:
        assert len(self.kinds) == len(self.labels) == len(self.numbers)


@final
@dataclass(frozen=True)
class TreeConstraint:
    """The constraint that an output is a tree over `words` words, in at most `limit` symbols."""

    words: int
    limit: int  # the most symbols of an output, END included
    symbols: TreeSymbols
    max_open: int = 10  # the most constituents opened between two words; bounds unary chains

    def __post_init__(self) -> None:
        require(self.words > 0, "a tree needs a word", "an empty line has no tree")
        missing = self.words + 3 - self.limit
        require(
            missing <= 0,
            f"a tree over {self.words} words has no room in {self.limit} symbols",
            f"raise search.extra_length (--extra-length) by {missing} or more",
        )
        require(self.max_open > 0, f"max_open must be more than 0, not {self.max_open}")

    @property
    def max_depth(self) -> int:
        """The most constituents that can be open at once, by `limit` and `max_open`."""
        return min((self.limit - self.words - 1) // 2, self.max_open * self.words)

    @classmethod
    def start_batch(cls, constraints: Sequence[Constraint], device: torch.device) -> "TreeState":
        """Build the state of a batch of tree constraints before the first symbol, one row each."""
        trees = require_kind(constraints, cls)
        symbols = trees[0].symbols
        assert all(tree.symbols == symbols for tree in trees)
        table = torch.tensor([symbols.kinds, symbols.labels, symbols.numbers])
        kinds, labels, numbers = move_to_device(table, device)
        given = torch.tensor([[t.words, t.limit, t.max_open] for t in trees])
        words, limits, max_open = move_to_device(given, device).unbind(dim=1)
        nothing = torch.zeros_like(words)
        columns = max(tree.max_depth for tree in trees) + 1
        stack = torch.zeros(len(trees), columns, dtype=torch.int32, device=device)
        rows = TreeRows(words, limits, nothing, nothing, max_open, nothing, stack)
        return TreeState(kinds, labels, numbers, max(symbols.numbers), rows)


class TreeRows(NamedTuple):
    """The numbers of words and symbols that each hypothesis has left, and its open constituents."""

    words_left: Int[Tensor, " R"]  # r, the number of words not yet written
    symbols_left: Int[Tensor, " R"]  # symbols that may still be written, END included
    depth: Int[Tensor, " R"]  # d, the number of open constituents
    opened: Int[Tensor, " R"]  # constituents opened since the last word
    max_open: Int[Tensor, " R"]  # the largest `opened` that is allowed
    words_read: Int[Tensor, " R"]  # the number of words written
    stack: Int[Tensor, "R D"]  # the labels of the d open constituents; later columns are unused


@final
@dataclass(frozen=True)
class TreeState:
    """The state of the tree constraint for all hypotheses of a batch."""

    kinds: Int[Tensor, " V"]  # the `TreeSymbolKind` of each symbol
    labels: Int[Tensor, " V"]  # the constituent label of each symbol
    numbers: Int[Tensor, " V"]  # the position of the word that a symbol stands for; 0: any word
    highest: int  # the highest of `numbers`; counting then restarts at 1; 0: no symbol has a number
    rows: TreeRows

    def allowed(self, symbols: int) -> Bool[Tensor, "R V"]:
        """Return a mask of the next symbols that let an output still become a well-formed tree.

        At least r + d + 1 symbols are always left: one for each of r remaining words, one to close
        each of d open constituents, and END. Opening a constituent uses one symbol and requires
        another.
        """
        assert symbols == len(self.kinds)
        words, left, depth, opened, max_open, read, stack = self.rows
        has_words = words > 0
        may_open = has_words & (opened < max_open) & (left >= words + depth + 3)
        may_close = (opened == 0) & (depth > has_words.int())  # the root closes after all words
        may_read = has_words & (depth > 0)
        by_kind = torch.stack([torch.zeros_like(has_words), may_open, may_close, may_read], dim=1)
        top = stack.gather(1, (depth - 1).clamp(min=0)[:, None])  # [R 1]
        allowed = by_kind[:, self.kinds]  # [R V]
        allowed &= (self.labels == top) | (self.kinds != TreeSymbolKind.CLOSE)
        if self.highest:
            allowed &= (self.numbers == 0) | (self.numbers == read[:, None] % self.highest + 1)
        allowed[:, END] = (words == 0) & (depth == 0)
        return allowed

    def advance(self, ids: Int[Tensor, " R"]) -> "TreeState":
        """Return the tree constraint's state after each row has appended its symbol of `ids`."""
        words, left, depth, opened, max_open, read, stack = self.rows
        kinds, labels = self.kinds[ids], self.labels[ids]
        opens, is_word = (kinds == TreeSymbolKind.OPEN).int(), kinds == TreeSymbolKind.WORD
        closes = (kinds == TreeSymbolKind.CLOSE).int()
        rows = TreeRows(
            words - is_word.int(),
            left - 1,
            # dead hypotheses may open or close too many constituents
            (depth + opens - closes).clamp(0, stack.shape[1] - 1),
            (opened + opens).masked_fill(is_word, 0),
            max_open,
            read + is_word.int(),
            stack.scatter(1, depth[:, None], labels[:, None].to(stack.dtype)),
        )
        return replace(self, rows=rows)

    def reorder(self, rows: Int[Tensor, " R2"]) -> "TreeState":
        """Return the tree constraint's state of the given rows, in the given order."""
        return replace(self, rows=TreeRows(*(part.index_select(0, rows) for part in self.rows)))

    def concatenate(self, other: ConstraintState) -> "TreeState":
        """Return one state with the rows of both tree states; stacks are padded to equal width."""
        (second,) = require_kind([other], TreeState)
        both = (self.rows, second.rows)
        width = max(rows.stack.shape[1] for rows in both)
        padded = [
            rows._replace(stack=pad(rows.stack, (0, width - rows.stack.shape[1]))) for rows in both
        ]
        return replace(self, rows=TreeRows(*map(torch.cat, zip(*padded, strict=True))))
