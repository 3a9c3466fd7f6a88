"""Drawing of a tree as SVG, for a page or a notebook; it can mark differences from a gold tree."""

import unicodedata
from collections import Counter
from collections.abc import Iterator

from transduce.errors import InputError
from transduce.text.trees.layout import Layout, lay_out
from transduce.text.trees.tree import Constituent, Tree
from transduce.text.xml import escape_xml

FONT, FONT_SIZE = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif", 14
GAP, MARGIN, ROW, WORD_ROW, LEGEND_ROW = 14.0, 12.0, 48.0, 18.0, 22.0  # pixels
INK, TAG, EDGE = "#1f2328", "#57606a", "#8c959f"
# Both colours have a contrast of over 6 : 1 on white and differ in lightness for the colour-blind;
# wrong brackets are also underlined.
RIGHT, WRONG = "#0b5d3b", "#c01048"
MAX_TEXT = 160  # most characters of a title or a line of the legend
NARROW, WIDE = frozenset("ijl|.,:;'!`I()[]{}/\\ftr-"), frozenset("mwMW%@&—…\u2030")


def draw_svg(tree: Tree, gold: Tree | None = None) -> str:
    """Return a drawing of a tree as SVG; colours mark right and wrong brackets if gold is given.

    With a gold tree over the same words, a legend counts the right and the wrong brackets and lists
    those of the gold tree that are missing.
    """
    layout = lay_out(tree, estimate_width, GAP)
    is_right, legend = compare_with_gold(tree, gold) if gold else (None, [])
    top = max(ROW * node.depth + WORD_ROW * (node.word is not None) for node in layout.nodes)
    bottom = MARGIN + FONT_SIZE + top + FONT_SIZE
    width = max([layout.width, *(estimate_width(text) for text, _ in legend)]) + 2 * MARGIN
    height = bottom + LEGEND_ROW * len(legend) + MARGIN
    title = escape_xml(shorten(" ".join(tree.words)))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}"'
            f' height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
            f' font-family="{FONT}" font-size="{FONT_SIZE}">',
            f"<title>{title}</title>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            f'<g stroke="{EDGE}" stroke-width="1">',
            *draw_edges(layout),
            '</g>\n<g text-anchor="middle">',
            *draw_nodes(layout, is_right),
            "</g>",
            *(
                draw_label(text, MARGIN, bottom + LEGEND_ROW * number, style)
                for number, (text, style) in enumerate(legend, start=1)
            ),
            "</svg>",
        ]
    )


def draw_edges(layout: Layout) -> Iterator[str]:
    """Yield an SVG line from below each constituent's label to above each child's text."""
    for parent, child in layout.edges():
        (x1, y1), (x2, y2) = (text_position(layout, i) for i in (parent, child))
        yield (f'<line x1="{x1:.1f}" y1="{y1 + 5:.1f}" x2="{x2:.1f}" y2="{y2 - FONT_SIZE:.1f}"/>')


def draw_nodes(layout: Layout, is_right: list[bool] | None) -> Iterator[str]:
    """Yield an SVG text element for each label, tag and word; colour labels by `is_right`."""
    for number, node in enumerate(layout.nodes):
        x, y = text_position(layout, number)
        if node.word is not None:
            yield draw_label(node.text, x, y, f'fill="{TAG}"')
            yield draw_label(node.word, x, y + WORD_ROW, f'fill="{INK}"')
        else:
            right = None if is_right is None else is_right[node.number]
            yield draw_label(node.text, x, y, label_style(right))


def text_position(layout: Layout, number: int) -> tuple[float, float]:
    """Return the pixel position (middle x, base line y) of the text of node `number`."""
    return MARGIN + layout.middles[number], MARGIN + FONT_SIZE + ROW * layout.nodes[number].depth


def draw_label(text: str, x: float, y: float, style: str) -> str:
    """Return an SVG text element centred at x, with its base line at y."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape_xml(text)}</text>'


def label_style(right: bool | None) -> str:  # noqa: FBT001 - right, wrong, or not compared
    """Return the SVG attributes of a label that is right, wrong, or not compared (None)."""
    if right is None:
        return f'fill="{INK}" font-weight="600"'
    decoration = "" if right else ' text-decoration="underline"'
    return f'fill="{RIGHT if right else WRONG}" font-weight="600"{decoration}'


def compare_with_gold(tree: Tree, gold: Tree) -> tuple[list[bool], list[tuple[str, str]]]:
    """Return whether each of the tree's brackets is in gold, and a legend of (text, style) lines.

    Brackets are equal if their labels and spans are. All words count; EVALB's score leaves
    punctuation out.
    """
    if tree.words != gold.words:
        raise InputError("the gold tree has other words than the tree that is drawn")
    left, is_right = Counter(gold.constituents), list[bool]()
    for one in tree.constituents:
        is_right.append(left[one] > 0)
        left[one] -= is_right[-1]
    missing = [f"{one.label} “{constituent_text(gold, one)}”" for one in (+left).elements()]
    legend = [
        (f"right: {sum(is_right)} of {len(is_right)}", label_style(right=True)),
        (f"wrong: {len(is_right) - sum(is_right)}, underlined", label_style(right=False)),
        (shorten(f"missing: {len(missing)}  {'  '.join(missing)}"), label_style(None)),
    ]
    return is_right, legend


def constituent_text(tree: Tree, constituent: Constituent) -> str:
    """Return the words of a tree's constituent, joined with blanks."""
    return " ".join(tree.words[constituent.start : constituent.end])


def shorten(text: str) -> str:
    """Return a text of at most 160 characters; a longer one is cut and ends in …."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def estimate_width(text: str) -> float:
    """Return an upper estimate of the width in pixels of a text in a usual sans-serif font."""
    return FONT_SIZE * sum(map(estimate_character_width, text), 0.0)


def estimate_character_width(character: str) -> float:
    """Return an upper estimate of the width in ems of a character, even in bold type."""
    if character in NARROW:
        return 0.5
    if character in WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if character.isascii():
        return 0.85 if character.isupper() else 0.72
    return 0.9 if character.isalpha() else 1.0
