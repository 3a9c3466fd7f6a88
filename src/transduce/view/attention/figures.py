"""Figures 3, 4 and 5 of the paper, drawn as SVG from the attention weights of any model.

Each panel has two rows of the same words. Lines lead from query words above to key words
below. A line's opacity is its weight if a single query word is shown, else its weight divided by
the number of heads. In another model other heads do what the paper's heads do, so that heads are
ranked by how strongly they show a figure's effect.
"""

import colorsys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import final

import numpy as np
from jaxtyping import Float32

from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.text.xml import escape_xml
from transduce.view.attention.record import AttentionView, join_words
from transduce.view.drawings.axes import CATEGORY10, build_svg

COLUMN = 15  # width in pixels; word i (from 0) has column i + 1
HEADING, SQUARE, WORDS, LINES = 30, 20, 80, 100  # heights, from the top
PANEL = HEADING + SQUARE + WORDS + LINES + WORDS
GAP = 20  # between panels, and at the right
TOP, BOTTOM = HEADING + SQUARE + WORDS, HEADING + SQUARE + WORDS + LINES  # y of the lines' ends
LEAST = 0.0157  # 4 / 255: lines and boxes with a smaller opacity are left out, as in the paper
FONT = "Arial, Helvetica, sans-serif"
LETTER = 5.6  # an estimate of a letter's width in Arial 10
STRONG = 0.5  # a head with at least this weight on the key words shows Figure 3's or 4's effect
LAYER = 5  # "layer 5 of 6" in the captions, counted from 1
MAKING = (
    "It is in this spirit that a majority of American governments have passed new laws since 2009 "
    "making the registration or voting process more difficult."
)
LAW = (
    "The Law will never be perfect, but its application should be just - this is what we are "
    "missing, in my opinion."
)


@final
@dataclass(frozen=True)
class PaperFigure:
    """Figure 3, 4 or 5: its number, sentence, heads, query word, and the words it attends to."""

    number: int
    text: str
    heads: tuple[int, ...]  # from 1; all heads if empty
    word: str = ""  # the attending word; "" if no single word is shown
    read: tuple[str, ...] = ()  # the words that `word` attends to

    def panels(self, heads: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Return each panel's (heads, query word) from the top; the word "" means all words."""
        if self.number == 3:
            return ((heads, self.word),)
        if self.number == 4:
            return ((heads[:1], ""), (heads, self.word))
        return tuple(((head,), "") for head in heads)


FIGURES: Mapping[int, PaperFigure] = {
    3: PaperFigure(3, MAKING, (), "making", ("more", "difficult")),
    4: PaperFigure(4, LAW, (5, 6), "its", ("Law", "application")),
    5: PaperFigure(5, LAW, (3, 4)),
}


def require_heads(heads: tuple[int, ...], layer: int, layers: tuple[int, ...], count: int) -> None:
    """Raise InputError unless `layer` is in the recorded `layers` and each head is 1 to `count`."""
    if layer not in layers:
        known = ", ".join(map(str, layers)) or "none"
        fact = f"there is no layer {layer!r} of the encoder here, but {known}"
        raise InputError(fact, "--layer with one of these, or --find")
    for head in heads:
        if head not in range(1, count + 1):
            fact = f"there is no head {head!r}: this model has {count:,}"
            raise InputError(fact, f"--heads with numbers from 1 to {count}, or --find")


# L layers · H heads · W words of the source


@final
@dataclass(frozen=True, eq=False)
class WordWeights:
    """The words of a source, and the attention weights between them in the encoder."""

    words: tuple[str, ...]
    weights: Float32[np.ndarray, "L H W W"]

    def find(self, word: str) -> int:
        """Return the index of the first word spelled like `word`; raise InputError if none is."""
        if word in self.words:
            return self.words.index(word)
        raise InputError(f"the text has no word {word!r}", "its words: " + " ".join(self.words))


def join_encoder_words(view: AttentionView) -> WordWeights:
    """Return the encoder's attention between words; InputError if it has no self-attention."""
    if "encoder" not in view.weights:
        raise InputError(
            "this model has no self-attention, which the figures of the paper show",
            "the page without --figure shows its attention from the output to the source",
        )
    words = view.source.words
    return WordWeights(
        tuple(word.text for word in words), join_words(view.weights["encoder"], words, words)
    )


def draw_paper_figure(
    view: AttentionView, figure: PaperFigure, layer: int, heads: Sequence[int] = ()
) -> str:
    """Return a figure of the paper as SVG, from one layer (counted from 1) of an attention record.

    Without `heads`, the heads of the paper's figure are drawn. Raises InputError if the record
    lacks the layer, a head or the figure's word.
    """
    joined, count = join_encoder_words(view), view.model.heads
    chosen = tuple(heads) or figure.heads or tuple(range(1, count + 1))
    require_heads(chosen, layer, view.layers_of("encoder"), count)
    of_layer = joined.weights[view.layers.index(layer)]
    panels = [
        Panel(
            heading=f"Input-Input Layer {layer}",
            words=joined.words,
            count=count,
            heads=shown,
            weights=of_layer[[head - 1 for head in shown]],
            chosen=joined.find(word) if word else None,
        )
        for shown, word in figure.panels(chosen)
    ]
    title = f"Encoder self-attention of {view.model.name}, layer {layer}"
    reader = f"the word {figure.word!r} reads" if figure.word else "each word reads"
    description = (
        f"In the geometry of Figure {figure.number} of Attention Is All You Need: how much "
        f"{reader} from each word of: {view.source.text}"
    )
    return draw_figure(panels, title, description)


@final
@dataclass(frozen=True)
class RankedHeads:
    """One or two heads of a layer, and how strongly they show a figure's effect (`rank_heads`)."""

    layer: int  # from 1
    heads: tuple[int, ...]  # from 1
    strength: float  # from 0 to 1


def rank_heads(
    joined: WordWeights, figure: PaperFigure, layers: Sequence[int]
) -> list[RankedHeads]:
    """Return every head, or for Figure 5 every pair of heads of a layer, strongest first.

    For Figures 3 and 4 the strength is the weight from the figure's word on the words that it
    should attend to. For Figure 5 it is the total variation distance between two heads of a
    layer, averaged over queries. `layers` are the numbers of the layers in `joined`. Raises
    InputError if the text lacks one of the words, or for Figure 5 if the model has one head.
    """
    if figure.word:
        keys = [joined.find(word) for word in figure.read]
        weights = joined.weights[:, :, joined.find(figure.word), keys].sum(axis=-1)  # [L H]
        ranked = [
            RankedHeads(layers[layer], (head + 1,), float(weights[layer, head]))
            for layer, head in np.ndindex(weights.shape)
        ]
    else:
        fact = "Figure 5 compares two heads of a layer, and this model has one"
        require(joined.weights.shape[1] > 1, fact, "draw another")
        ranked = [
            RankedHeads(layer, (a + 1, b + 1), float(np.abs(one[a] - one[b]).sum(-1).mean() / 2))
            for layer, one in zip(layers, joined.weights, strict=True)
            for a, b in combinations(range(len(one)), 2)
        ]
    return sorted(ranked, key=lambda one: (-one.strength, one.layer, one.heads))


def count_strong(ranked: Sequence[RankedHeads]) -> dict[int, int]:
    """Return for each ranked layer how many of its heads have a strength of at least 0.5."""
    layers = sorted({one.layer for one in ranked})
    return {
        layer: sum(one.layer == layer and one.strength >= STRONG for one in ranked)
        for layer in layers
    }


def choose_heads(ranked: Sequence[RankedHeads], figure: PaperFigure) -> tuple[int, tuple[int, ...]]:
    """Return (layer, heads) that show a figure's effect best; () stands for all heads.

    `ranked` is sorted as by `rank_heads`. For Figure 3 these are all heads of the layer with the
    most strong heads, for Figure 4 the strongest head and the next strongest of its layer, for
    Figure 5 the two that differ most.
    """
    if figure.number == 3:
        counts = count_strong(ranked)

        def rank(layer: int) -> tuple[int, float]:
            return counts[layer], sum(one.strength for one in ranked if one.layer == layer)

        return max(counts, key=rank), ()
    best = ranked[0]
    if figure.number == 4:
        heads = [one.heads[0] for one in ranked if one.layer == best.layer]
        return best.layer, tuple(heads[:2])
    return best.layer, best.heads


@final
@dataclass(frozen=True, eq=False)
class Panel:
    """One panel of a figure: its words, heads and weights, and the query word if there is one."""

    heading: str
    words: tuple[str, ...]
    count: int  # the number of heads in the model, each of which has a square
    heads: tuple[int, ...]  # the numbers, from 1, of the heads that are shown
    weights: Float32[np.ndarray, "H W W"]
    chosen: int | None = None  # the index of the only query word; None if every word is a query

    @property
    def width(self) -> int:
        """The width in pixels of the panel's widest row (words, squares or heading), plus a gap."""
        letters = 12 * len(self.heading)
        return max(COLUMN * (len(self.words) + 1), SQUARE * (self.count + 1), letters) + GAP


def draw_figure(panels: Sequence[Panel], title: str, description: str) -> str:
    """Return panels one below the other as an SVG document; equal panels give equal bytes."""
    size = max(panel.width for panel in panels), (PANEL + GAP) * len(panels)
    drawn = (draw_panel(panel, (PANEL + GAP) * number) for number, panel in enumerate(panels))
    return build_svg(size, title, description, [*chain.from_iterable(drawn)], (FONT, 10))


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
    """Yield an SVG square per head, pale if the head is not shown, numbered if colours repeat."""
    for head in range(1, panel.count + 1):
        colour = head_colour(head)
        shown = colour if head in panel.heads else lighten(colour)
        x, y = SQUARE * head, HEADING
        yield f'<rect x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" fill="{shown}"/>'
        if panel.count > len(CATEGORY10):
            yield f'<text x="{x + SQUARE // 2}" y="{y + 14}" text-anchor="middle">{head}</text>'


def draw_boxes(panel: Panel) -> Iterator[str]:
    """Yield SVG boxes behind the query word and its key words; none if all words are queries."""
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
    """Yield SVG lines from query words to the words they attend to, in a group for each head."""
    queries = range(len(panel.words)) if panel.chosen is None else [panel.chosen]
    divisor = len(panel.heads) if panel.chosen is None else 1
    for index, head in enumerate(panel.heads):
        yield f'<g stroke="{head_colour(head)}" stroke-width="2">'
        for query in queries:
            x = column_middle(query)
            for key, weight in enumerate((panel.weights[index, query] / divisor).tolist()):
                if weight >= LEAST:
                    yield (
                        f'<line x1="{x:g}" y1="{TOP}" x2="{column_middle(key):g}" '
                        f'y2="{BOTTOM}" stroke-opacity="{weight:.3f}"/>'
                    )
        yield "</g>"


def draw_words(panel: Panel) -> Iterator[str]:
    """Yield the panel's words as SVG texts that read upwards, once above its lines, once below."""
    rim = 'stroke="#ffffff" stroke-width="2.5" stroke-linejoin="round" paint-order="stroke"'
    for anchor, y in (("start", TOP - 2), ("end", BOTTOM + 2)):
        yield f'<g fill="#000000" {rim} text-anchor="{anchor}">'
        for index, word in enumerate(panel.words):
            x = column_middle(index) + 3.5  # a base line that centres the turned letters
            fit = f' textLength="{WORDS - 4}" lengthAdjust="spacingAndGlyphs"'
            yield (
                f'<text transform="translate({x:g} {y}) rotate(-90)"'
                f"{fit if LETTER * len(word) > WORDS else ''}>{escape_xml(word)}</text>"
            )
        yield "</g>"


def column_middle(index: int) -> float:
    """Return the x coordinate of the middle of a word's column, given the word's index."""
    return COLUMN * (index + 1) + COLUMN / 2


def head_colour(head: int) -> str:
    """Return the colour of a head, counted from 1; after ten heads the colours repeat."""
    return CATEGORY10[(head - 1) % len(CATEGORY10)]


def lighten(colour: str) -> str:
    """Return a lighter, less saturated version of a colour, for a head that is not shown."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    change = 0.6 * (1 - light)
    channels = colorsys.hls_to_rgb(hue, light + change, max(saturation - change, 0.0))
    return "#" + "".join(f"{round(255 * one):02x}" for one in channels)
