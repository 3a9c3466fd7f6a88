"""The positions of a tree's labels, tags and words in a drawing, in any unit of width.

Each constituent gets a horizontal strip of the drawing, which is as wide as the strips of its
children together, or as its label if the label is wider. The strips of two constituents or leaves
at one depth never overlap, and so neither do the texts inside the strips. All steps are loops over
the flat tree.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, final

from transduce.text.trees.tree import Kind, Tree

Measure = Callable[[str], float]
DISPLAYED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


class Node(NamedTuple):
    """A constituent or leaf of a drawing: its parent's index (-1 for the root), depth and texts."""

    parent: int
    depth: int
    text: str  # label of a constituent, tag of a leaf
    word: str | None  # None for a constituent
    number: int  # index of the constituent or word in the tree, from 0


@final
@dataclass(frozen=True)
class Layout:
    """The nodes of a tree in preorder, the x coordinates of their middles, and the total width."""

    nodes: list[Node]
    middles: list[float]
    width: float

    def edges(self) -> Iterator[tuple[int, int]]:
        """Yield (index of the parent, index of the child) for every node but the root."""
        return ((node.parent, i) for i, node in enumerate(self.nodes) if node.parent >= 0)


def lay_out(tree: Tree, measure: Measure, gap: float) -> Layout:
    """Return the horizontal layout of a tree; `gap` is the free width between two neighbours."""
    nodes = list(tree_nodes(tree))
    needed = [float(max(measure(node.text), measure(node.word or ""))) for node in nodes]
    widths, inner = strip_widths(nodes, needed, gap)
    lefts = strip_lefts(nodes, widths, inner)
    middles = node_middles(nodes, lefts, widths, needed)
    return Layout(nodes, middles, widths[0])


def tree_nodes(tree: Tree) -> Iterator[Node]:
    """Yield the constituents and leaves of a tree in preorder."""
    above, number = [-1], 0
    for kind, index in tree.walk():
        if kind is Kind.CLOSE:
            above.pop()
            continue
        word = display_word(tree.words[index]) if kind is Kind.WORD else None
        text = tree.tags[index] if kind is Kind.WORD else tree.labels[index]
        yield Node(above[-1], len(above) - 1, text, word, index)
        if kind is Kind.OPEN:
            above.append(number)
        number += 1


def display_word(word: str) -> str:
    """Return a word as a drawing shows it, for example ( for -LRB-."""
    return DISPLAYED.get(word, word)


def strip_widths(
    nodes: list[Node], needed: list[float], gap: float
) -> tuple[list[float], list[float]]:
    """Return for each node the width of its strip, and the sum of its children's widths."""
    widths, inner = [0.0] * len(nodes), [0.0] * len(nodes)
    for i in reversed(range(len(nodes))):  # children before parents
        widths[i] = max(needed[i] + gap, inner[i])
        if nodes[i].parent >= 0:
            inner[nodes[i].parent] += widths[i]
    return widths, inner


def strip_lefts(nodes: list[Node], widths: list[float], inner: list[float]) -> list[float]:
    """Return the left end of each node's strip; children are centred in their parent's strip."""
    lefts, following = [0.0] * len(nodes), [0.0] * len(nodes)
    for i, node in enumerate(nodes):
        if node.parent >= 0:
            lefts[i] = following[node.parent]
            following[node.parent] += widths[i]
        following[i] = lefts[i] + (widths[i] - inner[i]) / 2
    return lefts


def node_middles(
    nodes: list[Node], lefts: list[float], widths: list[float], needed: list[float]
) -> list[float]:
    """Return each text's middle: a leaf's in its strip, a label's at the mean of its children's.

    A label that would reach beyond its strip is moved inside.
    """
    sums, counts = [0.0] * len(nodes), [0] * len(nodes)
    middles = [0.0] * len(nodes)
    for i in reversed(range(len(nodes))):
        middle = sums[i] / counts[i] if counts[i] else lefts[i] + widths[i] / 2
        half = needed[i] / 2
        middles[i] = min(max(middle, lefts[i] + half), lefts[i] + widths[i] - half)
        if nodes[i].parent >= 0:
            sums[nodes[i].parent] += middles[i]
            counts[nodes[i].parent] += 1
    return middles
