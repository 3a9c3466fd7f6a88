"""Draws attention as SVG in the geometry and colours of the paper's Figures 3, 4 and 5.

Each panel has two rows of the same words. Lines lead from query words above to key words
below. A line's opacity is its weight if a single query word is shown, else its weight divided by
the number of heads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float32

from transduce.text.xml import escape_xml
from transduce.view.attention.figures.colours import CATEGORY10, head_colour, lighten

# W words of the sentence · H heads that are shown

COLUMN = 15  # width in pixels; word i (from 0) has column i + 1
HEADING, SQUARE, WORDS, LINES = 30, 20, 80, 100  # heights, from the top
PANEL = HEADING + SQUARE + WORDS + LINES + WORDS
GAP = 20  # between panels, and at the right
TOP, BOTTOM = HEADING + SQUARE + WORDS, HEADING + SQUARE + WORDS + LINES  # y of the lines' ends
LEAST = 0.0157  # 4 / 255: lines and boxes with a smaller opacity are left out, as in the paper
FONT = "Arial, Helvetica, sans-serif"
LETTER = 5.6  # an estimate of a letter's width in Arial 10


@final
@dataclass(frozen=True, eq=False)
class Panel:
    """One picture of a figure: the words, the drawn heads, and the heads' weights."""

    heading: str
    words: tuple[str, ...]
    count: int  # the number of heads in the model, each of which has a square
    heads: tuple[int, ...]  # the numbers, from 1, of the heads that are shown
    weights: Float32[np.ndarray, "H W W"]
    chosen: int | None = None  # the index of the only query word; None if all words are

    @property
    def width(self) -> int:
        """The width in pixels of words, squares and heading, whichever is widest."""
        letters = 12 * len(self.heading)
        return max(COLUMN * (len(self.words) + 1), SQUARE * (self.count + 1), letters) + GAP


def draw_figure(panels: Sequence[Panel], title: str, description: str) -> str:
    """Return panels one below the other as an SVG document; equal panels give equal bytes."""
    width = max(panel.width for panel in panels)
    height = (PANEL + GAP) * len(panels)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT}" '
            'font-size="10">',
            f"<title>{escape_xml(title)}</title>",
            f"<desc>{escape_xml(description)}</desc>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *(
                line
                for number, panel in enumerate(panels)
                for line in draw_panel(panel, (PANEL + GAP) * number)
            ),
            "</svg>",
            "",
        ]
    )


def draw_panel(panel: Panel, top: int) -> Iterator[str]:
    """Yield the SVG elements of a panel whose upper edge is at y = `top`."""
    yield f'<g transform="translate(0 {top})">'
    yield (
        f'<text x="{SQUARE}" y="{HEADING - 9}" font-size="21" font-weight="bold" '
        f'fill="#212121">{escape_xml(panel.heading)}</text>'
    )
    yield from draw_squares(panel)
    yield from draw_boxes(panel)
    yield from draw_lines(panel)
    yield from draw_words(panel)
    yield "</g>"


def draw_squares(panel: Panel) -> Iterator[str]:
    """Yield a square for each head of the model, numbered if colours repeat."""
    for head in range(1, panel.count + 1):
        colour = head_colour(head)
        shown = colour if head in panel.heads else lighten(colour)
        x, y = SQUARE * head, HEADING
        yield f'<rect x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" fill="{shown}"/>'
        if panel.count > len(CATEGORY10):
            yield f'<text x="{x + SQUARE // 2}" y="{y + 14}" text-anchor="middle">{head}</text>'


def draw_boxes(panel: Panel) -> Iterator[str]:
    """Yield a grey box for a single query word, and per head a box on each word it attends to."""
    if panel.chosen is None:
        return
    yield (
        f'<rect x="{COLUMN * (panel.chosen + 1)}" y="{TOP - WORDS}" width="{COLUMN}" '
        f'height="{WORDS}" fill="#d3d3d3"/>'
    )
    height = WORDS / len(panel.heads)
    for index, head in enumerate(panel.heads):
        for word, weight in enumerate(panel.weights[index, panel.chosen].tolist()):
            if weight >= LEAST:
                yield (
                    f'<rect x="{COLUMN * (word + 1)}" y="{BOTTOM + index * height:g}" '
                    f'width="{COLUMN}" height="{height:g}" fill="{head_colour(head)}" '
                    f'fill-opacity="{weight:.3f}"/>'
                )


def draw_lines(panel: Panel) -> Iterator[str]:
    """Yield a line for each head, from each query word to each word that it attends to."""
    queries = range(len(panel.words)) if panel.chosen is None else [panel.chosen]
    divisor = len(panel.heads) if panel.chosen is None else 1
    for index, head in enumerate(panel.heads):
        yield f'<g stroke="{head_colour(head)}" stroke-width="2">'
        for query in queries:
            for key, weight in enumerate((panel.weights[index, query] / divisor).tolist()):
                if weight >= LEAST:
                    yield (
                        f'<line x1="{middle(query):g}" y1="{TOP}" x2="{middle(key):g}" '
                        f'y2="{BOTTOM}" stroke-opacity="{weight:.3f}"/>'
                    )
        yield "</g>"


def draw_words(panel: Panel) -> Iterator[str]:
    """Yield the words of the upper and the lower row as SVG texts, turned to read upwards."""
    for anchor, y in (("start", TOP - 2), ("end", BOTTOM + 2)):
        yield f'<g fill="#000000" text-anchor="{anchor}">'
        for index, word in enumerate(panel.words):
            x = middle(index) + 3.5  # base line that centres the turned letters in the column
            fit = f' textLength="{WORDS - 4}" lengthAdjust="spacingAndGlyphs"'
            yield (
                f'<text transform="translate({x:g} {y}) rotate(-90)"'
                f"{fit if LETTER * len(word) > WORDS else ''}>{escape_xml(word)}</text>"
            )
        yield "</g>"


def middle(index: int) -> float:
    """Return the x coordinate of the middle of a word's column, given the word's index."""
    return COLUMN * (index + 1) + COLUMN / 2
