"""Drawings of trees as SVG, for a page or a notebook, and as plain text, for a terminal.

An SVG can mark the differences from a gold tree. Both drawings share a layout. It gives each
constituent the width of its children's subtrees together, or of its label if the label is wider,
so that the texts of two constituents or leaves at one depth never overlap. All steps are loops
over a list of nodes, without recursion, so that a tree can have any depth.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import NamedTuple, final

from transduce.errors import InputError, shorten
from transduce.text.trees.brackets import format_indented
from transduce.text.trees.tree import SymbolKind, Tree
from transduce.text.xml import escape_xml
from transduce.view.drawings.axes import FONT, INK, QUIET, build_svg

FONT_SIZE = 14
GAP, MARGIN, ROW, WORD_ROW, LEGEND_ROW = 14.0, 12.0, 48.0, 18.0, 22.0  # pixels
LINE = "#8c959f"  # colour of the lines from a constituent to its children
# Both colours have a contrast of over 6 : 1 on white and differ in lightness for the colour-blind;
# wrong brackets are also underlined.
RIGHT, WRONG = "#0b5d3b", "#c01048"
MAX_TEXT = 160  # most characters of a title or a line of the legend
NARROW, WIDE = frozenset("ijl|.,:;'!`I()[]{}/\\ftr-"), frozenset("mwMW%@&—…\u2030")

COLUMN_GAP = 2.0  # free columns between neighbours in plain text
MAX_LEVELS = 50  # a deeper tree is written as indented brackets
# Box-drawing characters by the directions of their lines: above, below, left, right (a, b, l, r).
CONNECTORS = {
    "ab": "│", "br": "┌", "bl": "┐", "ar": "└", "al": "┘", "blr": "┬", "alr": "┴",
    "abr": "├", "abl": "┤", "ablr": "┼", "lr": "─",
}  # fmt: skip

Measure = Callable[[str], float]  # from a text to its width
# The characters that drawings show in place of the escapes of brackets.
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
    """A drawing's nodes in preorder, the x coordinate of each node's middle, and the width."""

    nodes: list[Node]
    middles: list[float]
    width: float

    def edges(self) -> Iterator[tuple[int, int]]:
        """Yield (index of the parent, index of the child) for every node but the root."""
        return ((node.parent, i) for i, node in enumerate(self.nodes) if node.parent >= 0)


def draw_svg(tree: Tree, gold: Tree | None = None) -> str:
    """Return a drawing of a tree as SVG; with `gold`, colours show right and wrong brackets.

    A legend then counts the right and the wrong brackets, and lists the gold tree's brackets that
    are missing. Raises InputError if the gold tree has other words.
    """
    layout = lay_out(tree, estimate_width, GAP)
    is_right, legend = compare_with_gold(tree, gold) if gold else (None, [])
    lowest = max(ROW * node.depth + WORD_ROW * (node.word is not None) for node in layout.nodes)
    bottom = MARGIN + FONT_SIZE + lowest + FONT_SIZE
    width = max([layout.width, *(estimate_width(text) for text, _ in legend)]) + 2 * MARGIN
    height = bottom + LEGEND_ROW * len(legend) + MARGIN
    elements = [
        f'<g stroke="{LINE}" stroke-width="1">',
        *draw_edges(layout),
        '</g>\n<g text-anchor="middle">',
        *draw_nodes(layout, is_right),
        "</g>",
        *(
            draw_label(text, MARGIN, bottom + LEGEND_ROW * number, style)
            for number, (text, style) in enumerate(legend, start=1)
        ),
    ]
    title, about = shorten(" ".join(tree.words), MAX_TEXT), ". ".join(text for text, _ in legend)
    return build_svg((round(width), round(height)), title, about, elements, (FONT, FONT_SIZE))


def draw_edges(layout: Layout) -> Iterator[str]:
    """Yield an SVG line from below each constituent's label to above each child's text."""
    for parent, child in layout.edges():
        (x1, y1), (x2, y2) = (text_position(layout, i) for i in (parent, child))
        yield (f'<line x1="{x1:.1f}" y1="{y1 + 5:.1f}" x2="{x2:.1f}" y2="{y2 - FONT_SIZE:.1f}"/>')


def draw_nodes(layout: Layout, is_right: list[bool] | None) -> Iterator[str]:
    """Yield an SVG text for each label, tag and word; `is_right` says which labels are right."""
    for number, node in enumerate(layout.nodes):
        x, y = text_position(layout, number)
        if node.word is not None:
            yield draw_label(node.text, x, y, f'fill="{QUIET}"')
            yield draw_label(node.word, x, y + WORD_ROW, f'fill="{INK}"')
        else:
            right = None if is_right is None else is_right[node.number]
            yield draw_label(node.text, x, y, label_style(right))


def text_position(layout: Layout, index: int) -> tuple[float, float]:
    """Return (x of the middle, y of the base) of the text of `layout.nodes[index]`."""
    return MARGIN + layout.middles[index], MARGIN + FONT_SIZE + ROW * layout.nodes[index].depth


def draw_label(text: str, x: float, y: float, style: str) -> str:
    """Return an SVG text element at x, y with the attributes in `style`."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape_xml(text)}</text>'


def label_style(right: bool | None) -> str:  # noqa: FBT001 - right, wrong, or not compared
    """Return the SVG attributes of a label that is right, wrong, or not compared (None)."""
    if right is None:
        return f'fill="{INK}" font-weight="600"'
    decoration = "" if right else ' text-decoration="underline"'
    return f'fill="{RIGHT if right else WRONG}" font-weight="600"{decoration}'


def compare_with_gold(tree: Tree, gold: Tree) -> tuple[list[bool], list[tuple[str, str]]]:
    """Return whether each constituent is in `gold`, and the (text, style) lines of a legend.

    Constituents are equal if their labels and spans are. Unlike EVALB, this counts punctuation.
    Raises InputError if the words differ.
    """
    if tree.words != gold.words:
        raise InputError("the gold tree has other words than the tree that is drawn")
    unseen, is_right = Counter(gold.constituents), list[bool]()
    for one in tree.constituents:
        is_right.append(unseen[one] > 0)
        unseen[one] -= is_right[-1]
    missing = [
        f"{label} “{' '.join(gold.words[start:end])}”" for label, start, end in (+unseen).elements()
    ]
    legend = [
        (f"right: {sum(is_right)} of {len(is_right)}", label_style(right=True)),
        (f"wrong: {len(is_right) - sum(is_right)}, underlined", label_style(right=False)),
        (shorten(f"missing: {len(missing)}  {'  '.join(missing)}", MAX_TEXT), label_style(None)),
    ]
    return is_right, legend


def estimate_width(text: str) -> float:
    """Return an upper bound of a text's width in pixels, for any usual sans-serif font."""
    return FONT_SIZE * sum(map(estimate_character_width, text), 0.0)


def estimate_character_width(character: str) -> float:
    """Return an upper bound of a character's width in ems, bold type included."""
    if character in NARROW:
        return 0.5
    if character in WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if character.isascii():
        return 0.85 if character.isupper() else 0.72
    return 0.9 if character.isalpha() else 1.0


def draw_text(tree: Tree, *, max_width: int = 100) -> str:
    """Return a plain-text drawing of a tree, or indented brackets if it is too deep or wide."""
    drawing = draw_grid(tree, max_width) if tree.depth <= MAX_LEVELS else None
    return format_indented(tree) if drawing is None else drawing


def draw_grid(tree: Tree, max_width: int) -> str | None:
    """Return a tree in box-drawing characters, or None if it is wider than `max_width` columns."""
    layout = lay_out(tree, count_columns, COLUMN_GAP)
    if layout.width - COLUMN_GAP > max_width:
        return None
    columns = [int(middle) for middle in layout.middles]
    rows: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for node, column in zip(layout.nodes, columns, strict=True):
        write_centred(rows[2 * node.depth], node.text, column)
        if node.word is not None:
            write_centred(rows[2 * node.depth + 1], node.word, column)
    draw_connectors(layout, columns, rows)
    lines = (
        "".join(row.get(cell, " ") for cell in range(max(row, default=-1) + 1))
        for row in (rows[number] for number in range(max(rows) + 1))
    )
    return dedent("\n".join(lines))


def count_columns(text: str) -> int:
    """Return the number of columns that a text takes in a terminal."""
    return sum(map(count_character_columns, text))


def count_character_columns(character: str) -> int:
    """Return a character's width in a terminal: 0 (combining or invisible), 1, or 2 (wide)."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def write_centred(row: dict[int, str], text: str, column: int) -> None:
    """Write a text into a row, a dict from column to character, centred at `column`."""
    cell = column - count_columns(text) // 2
    for character in text:
        columns = count_character_columns(character)
        if columns:
            row[cell] = character
            row.update(dict.fromkeys(range(cell + 1, cell + columns), ""))
            cell += columns
        elif cell - 1 in row and unicodedata.category(character) != "Cc":
            row[cell - 1] += character


def draw_connectors(
    layout: Layout, columns: list[int], rows: defaultdict[int, dict[int, str]]
) -> None:
    """Draw lines from parents to children into `rows`; `columns[i]` is the middle of node i."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for parent, child in layout.edges():
        children[parent].append(columns[child])
    for parent, below in children.items():
        row, above = rows[2 * layout.nodes[parent].depth + 1], columns[parent]
        first, last = min([*below, above]), max([*below, above])
        for cell in range(first, last + 1):
            directions = (
                "a" * (cell == above) + "b" * (cell in below)
                + "l" * (cell > first) + "r" * (cell < last)
            )  # fmt: skip
            row[cell] = CONNECTORS[directions]


def lay_out(tree: Tree, measure: Measure, gap: float) -> Layout:
    """Return a tree's layout, with at least `gap` between texts; `measure` gives a text's width."""
    nodes = list(list_nodes(tree))
    text_widths = [float(max(measure(node.text), measure(node.word or ""))) for node in nodes]

    # the width of each subtree, and of its children's subtrees together; children before parents
    widths, inner_widths = [0.0] * len(nodes), [0.0] * len(nodes)
    for i, node in reversed([*enumerate(nodes)]):
        widths[i] = max(text_widths[i] + gap, inner_widths[i])
        if node.parent >= 0:
            inner_widths[node.parent] += widths[i]

    # the left edge of each subtree; children are centred below their parents
    lefts, following = [0.0] * len(nodes), [0.0] * len(nodes)
    for i, node in enumerate(nodes):
        if node.parent >= 0:
            lefts[i] = following[node.parent]
            following[node.parent] += widths[i]
        following[i] = lefts[i] + (widths[i] - inner_widths[i]) / 2

    # a text's middle: the mean of the children's, unless the text would reach beyond its subtree
    sums, counts, middles = [0.0] * len(nodes), [0] * len(nodes), [0.0] * len(nodes)
    for i, node in reversed([*enumerate(nodes)]):
        middle = sums[i] / counts[i] if counts[i] else lefts[i] + widths[i] / 2
        half = text_widths[i] / 2
        middles[i] = min(max(middle, lefts[i] + half), lefts[i] + widths[i] - half)
        if node.parent >= 0:
            sums[node.parent] += middles[i]
            counts[node.parent] += 1
    return Layout(nodes, middles, widths[0])


def list_nodes(tree: Tree) -> Iterator[Node]:
    """Yield the constituents and leaves of a tree in preorder."""
    above, number = [-1], 0
    for kind, index in tree.walk():
        if kind is SymbolKind.CLOSE:
            above.pop()
            continue
        if kind is SymbolKind.WORD:
            word = DISPLAYED.get(tree.words[index], tree.words[index])
            yield Node(above[-1], len(above) - 1, tree.tags[index], word, index)
        else:
            yield Node(above[-1], len(above) - 1, tree.labels[index], None, index)
        if kind is SymbolKind.OPEN:
            above.append(number)
        number += 1
