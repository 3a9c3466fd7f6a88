"""The constraint that an output is one well-formed tree over exactly the words of its source.

A tree is written depth first, in three kinds of symbols: a labelled opening of a constituent, a
symbol for the next word, and a closing with the label of the innermost open constituent. Each
allowed symbol leaves room to finish the tree within the length limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.packed import move_to_device
from transduce.search.constraints import Constraint, ConstraintState, require_kind
from transduce.settings.fields import require
from transduce.vocabulary import END

# R rows, one per hypothesis · V symbols
# D columns of a stack: the most constituents that can be open at once, plus one


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
        width = max(self.rows.stack.shape[1], second.rows.stack.shape[1])
        both = zip(resize_stack(self.rows, width), resize_stack(second.rows, width), strict=True)
        return replace(self, rows=TreeRows(*map(torch.cat, both)))


def resize_stack(rows: TreeRows, width: int) -> TreeRows:
    """Return rows whose stacks of open constituents are padded to `width` columns."""
    return rows._replace(stack=pad(rows.stack, (0, width - rows.stack.shape[1])))
