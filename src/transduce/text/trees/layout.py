"""The positions of a tree's labels, tags and words in a drawing, in any unit of width.

Each constituent gets a subtree width: that of its children's subtrees together, or of its label if
the label is wider. Texts of two constituents or leaves at one depth therefore never overlap. All
steps are loops over a list of nodes, without recursion, so that a tree can have any depth.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, final

from transduce.text.trees.tree import SymbolKind, Tree

Measure = Callable[[str], float]  # from a text to its width
DISPLAYED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


class Node(NamedTuple):
    """A constituent or leaf in a drawing: its parent's index (-1 for the root), depth and texts."""

    parent: int
    depth: int
    text: str  # label of a constituent, tag of a leaf
    word: str | None  # None for a constituent
    number: int  # index of the constituent or word in the tree, from 0


@final
@dataclass(frozen=True)
class Layout:
    """A drawing's horizontal layout: nodes in preorder, x coordinates of their middles, width."""

    nodes: list[Node]
    middles: list[float]
    width: float

    def edges(self) -> Iterator[tuple[int, int]]:
        """Yield (index of the parent, index of the child) for every node but the root."""
        return ((node.parent, i) for i, node in enumerate(self.nodes) if node.parent >= 0)


def lay_out(tree: Tree, measure: Measure, gap: float) -> Layout:
    """Place a tree's nodes horizontally, at least `gap` apart; `measure` returns a text's width."""
    nodes = list(tree_nodes(tree))
    text_widths = [float(max(measure(node.text), measure(node.word or ""))) for node in nodes]
    widths, children_widths = subtree_widths(nodes, text_widths, gap)
    lefts = subtree_lefts(nodes, widths, children_widths)
    middles = text_middles(nodes, lefts, widths, text_widths)
    return Layout(nodes, middles, widths[0])


def tree_nodes(tree: Tree) -> Iterator[Node]:
    """Yield the constituents and leaves of a tree in preorder."""
    above, number = [-1], 0
    for kind, index in tree.walk():
        if kind is SymbolKind.CLOSE:
            above.pop()
            continue
        word = display_word(tree.words[index]) if kind is SymbolKind.WORD else None
        text = tree.tags[index] if kind is SymbolKind.WORD else tree.labels[index]
        yield Node(above[-1], len(above) - 1, text, word, index)
        if kind is SymbolKind.OPEN:
            above.append(number)
        number += 1


def display_word(word: str) -> str:
    """Return a word as drawings show it: a bracket for its escape, such as ( for -LRB-."""
    return DISPLAYED.get(word, word)


def subtree_widths(
    nodes: list[Node], text_widths: list[float], gap: float
) -> tuple[list[float], list[float]]:
    """Return the width of each node's subtree, and the sum of its children's subtree widths."""
    widths, children_widths = [0.0] * len(nodes), [0.0] * len(nodes)
    for i in reversed(range(len(nodes))):  # children before parents
        widths[i] = max(text_widths[i] + gap, children_widths[i])
        if nodes[i].parent >= 0:
            children_widths[nodes[i].parent] += widths[i]
    return widths, children_widths


def subtree_lefts(
    nodes: list[Node], widths: list[float], children_widths: list[float]
) -> list[float]:
    """Return the left x coordinate of each subtree; children are centred below their parent."""
    lefts, following = [0.0] * len(nodes), [0.0] * len(nodes)
    for i, node in enumerate(nodes):
        if node.parent >= 0:
            lefts[i] = following[node.parent]
            following[node.parent] += widths[i]
        following[i] = lefts[i] + (widths[i] - children_widths[i]) / 2
    return lefts


def text_middles(
    nodes: list[Node], lefts: list[float], widths: list[float], text_widths: list[float]
) -> list[float]:
    """Return the x coordinate of the middle of each node's text, with labels above children.

    A label is centred at the mean of its children's middles, but moved inside if it would reach
    beyond its subtree.
    """
    sums, counts = [0.0] * len(nodes), [0] * len(nodes)
    middles = [0.0] * len(nodes)
    for i in reversed(range(len(nodes))):
        middle = sums[i] / counts[i] if counts[i] else lefts[i] + widths[i] / 2
        half = text_widths[i] / 2
        middles[i] = min(max(middle, lefts[i] + half), lefts[i] + widths[i] - half)
        if nodes[i].parent >= 0:
            sums[nodes[i].parent] += middles[i]
            counts[nodes[i].parent] += 1
    return middles
