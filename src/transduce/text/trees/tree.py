"""A constituency tree as a flat value: its words, their tags, and labelled spans over the words.

A treebank's trees are cleaned for learning. A wrapper, which is an outer bracket that only marks a
tree, such as TOP, is removed first, then traces and the constituents that hold only traces, then
function tags: the label NP-SBJ becomes NP. Words and their tags are never changed. If removing a
trace leaves a constituent X directly over another X, both are kept, because EVALB counts both.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate
from typing import NamedTuple, final

from transduce.errors import InputError


class SymbolKind(Enum):
    """A kind of symbol in a linearised tree: it opens a constituent, is a word, or closes one."""

    OPEN = "open"
    WORD = "word"
    CLOSE = "close"


class Step(NamedTuple):
    """One step of a walk through a tree: its kind, and the index of its constituent or word."""

    kind: SymbolKind
    number: int  # index of the constituent (in preorder) or word, from 0


class Constituent(NamedTuple):
    """A labelled span over words `start` to `end - 1`."""

    label: str
    start: int
    end: int


@final
@dataclass(frozen=True)
class Tree:
    """A constituency tree: words, a part-of-speech tag for each, and constituents in preorder.

    Constituent i has the label `labels[i]` and spans the words `starts[i]` to `ends[i] - 1`, at
    least one word. Preorder is the order of the opening brackets: of two constituents over the
    same words the first is the parent. The fields are flat, so that a tree of 10,000 levels can be
    compared, copied and pickled without recursion.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def constituents(self) -> list[Constituent]:
        """The label, start and end of each constituent in preorder."""
        return list(map(Constituent, self.labels, self.starts, self.ends))

    @property
    def depth(self) -> int:
        """The largest number of nested constituents around any word."""
        change = {SymbolKind.OPEN: 1, SymbolKind.WORD: 0, SymbolKind.CLOSE: -1}
        return max(accumulate(change[step.kind] for step in self.walk()), default=0)

    def walk(self) -> Iterator[Step]:
        """Yield the openings, words and closings of the tree, depth first and left to right."""
        open_indices, following = list[int](), 0
        for word in range(len(self.words)):
            while following < len(self.labels) and self.starts[following] == word:
                yield Step(SymbolKind.OPEN, following)
                open_indices.append(following)
                following += 1
            yield Step(SymbolKind.WORD, word)
            while open_indices and self.ends[open_indices[-1]] == word + 1:
                yield Step(SymbolKind.CLOSE, open_indices.pop())

    def with_tags(self, tags: Sequence[str]) -> "Tree":
        """Return the same tree with other tags; raise InputError unless each word has a tag."""
        require_one_per_word("tags", tags, self.words)
        return replace(self, tags=tuple(tags))

    def _repr_html_(self) -> str:
        """Return the drawing of the tree as HTML, which notebooks display."""
        from transduce.view.drawings.trees import draw_svg

        return f'<div style="overflow-x:auto">{draw_svg(self)}</div>'


def flat_tree(words: Sequence[str], tags: Sequence[str], label: str = "S") -> Tree:
    """Return the tree whose only constituent, with this label, spans all words (1 or more)."""
    if not words:
        raise InputError("a tree needs at least one word")
    require_one_per_word("tags", tags, words)
    return Tree(tuple(words), tuple(tags), (label,), (0,), (len(words),))


def require_one_per_word(name: str, values: Sequence[str], words: Sequence[str]) -> None:
    """Raise InputError unless there are as many values, called `name` in the error, as words."""
    if len(values) != len(words):
        raise InputError(f"{len(values)} {name} for a tree of {len(words)} words")


WRAPPERS = frozenset({"", "TOP", "ROOT", "S1"})
TRACE = "-NONE-"
CUT = re.compile("[-=]")


def clean_tree(tree: Tree) -> Tree | None:
    """Return a tree without TOP bracket, traces and function tags; None if no words are left."""
    is_word = [tag != TRACE for tag in tree.tags]
    if not any(is_word):
        return None
    constituents = map(cut_label, remove_traces(remove_wrapper(tree), is_word))
    labels, starts, ends = zip(*constituents, strict=True)
    kept = [index for index, stays in enumerate(is_word) if stays]
    return Tree(
        tuple(tree.words[index] for index in kept),
        tuple(tree.tags[index] for index in kept),
        labels,
        starts,
        ends,
    )


def remove_wrapper(tree: Tree) -> list[Constituent]:
    """Return a tree's constituents, less a root "", TOP, ROOT or S1 whose child spans all words.

    The root stays if no other constituent spans all its words; its label "" then becomes TOP,
    which EVALB does not count.
    """
    root, *inner = tree.constituents
    if root.label not in WRAPPERS:
        return [root, *inner]
    if inner and inner[0].end - inner[0].start == len(tree.words):
        return inner
    return [root._replace(label=root.label or "TOP"), *inner]


def remove_traces(constituents: list[Constituent], is_word: list[bool]) -> list[Constituent]:
    """Return the constituents that hold a word other than a trace, with spans over such words.

    `is_word` is False for a trace.
    """
    new_index = [0, *accumulate(map(int, is_word))]
    moved = [Constituent(label, new_index[i], new_index[j]) for label, i, j in constituents]
    return [one for one in moved if one.start < one.end]


def cut_label(constituent: Constituent) -> Constituent:
    """Return a constituent with its label cut before the first - or =, such as NP for NP-SBJ-1.

    A label that starts with - or =, such as -LRB-, stays whole.
    """
    label = constituent.label
    cut = CUT.search(label)
    if cut is None or cut.start() == 0:
        return constituent
    return constituent._replace(label=sys.intern(label[: cut.start()]))
