"""Drawing of a tree as plain text with box-drawing characters."""

import unicodedata
from collections import defaultdict
from textwrap import dedent

from transduce.text.trees.layout import Layout, lay_out
from transduce.text.trees.tree import Tree
from transduce.text.trees.write import format_indented

GAP = 2.0  # free columns between neighbours
MAX_LEVELS = 50  # a deeper tree is written as indented brackets
# Box-drawing characters by the directions of their lines: above, below, left, right (a, b, l, r).
CONNECTORS = {
    "ab": "│", "br": "┌", "bl": "┐", "ar": "└", "al": "┘", "blr": "┬", "alr": "┴",
    "abr": "├", "abl": "┤", "ablr": "┼", "lr": "─",
}  # fmt: skip


def draw_text(tree: Tree, *, max_width: int = 100) -> str:
    """Return a plain-text drawing of a tree, or indented brackets if the tree is too large."""
    drawing = draw_grid(tree, max_width) if tree.depth <= MAX_LEVELS else None
    return format_indented(tree, outer="") if drawing is None else drawing


def draw_grid(tree: Tree, max_width: int) -> str | None:
    """Return a tree drawn with box-drawing characters; None if wider than `max_width` columns."""
    layout = lay_out(tree, count_columns, GAP)
    if layout.width - GAP > max_width:
        return None
    columns = [int(middle) for middle in layout.middles]
    rows: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for node, column in zip(layout.nodes, columns, strict=True):
        write_centred(rows[2 * node.depth], node.text, column)
        if node.word is not None:
            write_centred(rows[2 * node.depth + 1], node.word, column)
    draw_connectors(layout, columns, rows)
    return dedent("\n".join(join_cells(rows[number]) for number in range(max(rows) + 1)))


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
    """Draw lines from parents to children into `rows`; node i is centred at `columns[i]`."""
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


def join_cells(row: dict[int, str]) -> str:
    """Return a row, a dict from column to character, as text; missing columns become blanks."""
    return "".join(row.get(cell, " ") for cell in range(max(row, default=-1) + 1))
