"""Builds the panels of a figure of the paper from an attention record, between words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float32

from transduce.errors import InputError
from transduce.view.attention.figures.drawing import Panel, draw_figure
from transduce.view.attention.figures.paper import PaperFigure, require_heads
from transduce.view.attention.record import AttentionView
from transduce.view.attention.words import join_words

# L layers · H heads · W words of the source


@final
@dataclass(frozen=True, eq=False)
class WordWeights:
    """The words of a source, and the encoder's weights between them in every layer and head."""

    words: tuple[str, ...]
    weights: Float32[np.ndarray, "L H W W"]

    def find(self, word: str) -> int:
        """Return the index of the first word spelled like `word`; raise InputError if none is."""
        if word in self.words:
            return self.words.index(word)
        raise InputError(f"the text has no word {word!r}", "its words: " + " ".join(self.words))


def join_encoder_words(view: AttentionView) -> WordWeights:
    """Return the encoder's weights between words; raise InputError without self-attention."""
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
    """Draw a figure of the paper as SVG from one layer (number from 1) of an attention record.

    `heads` are those of the paper if none are given.
    """
    joined, count = join_encoder_words(view), view.model.heads
    chosen = tuple(heads) or figure.heads or tuple(range(1, count + 1))
    require_heads(chosen, layer, view.model.layers, count)
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
    title = f"Encoder self-attention of {view.model.name}, layer {layer} of {view.model.layers}"
    return draw_figure(panels, title, describe(figure, view.source.text))


def describe(figure: PaperFigure, text: str) -> str:
    """Return a sentence that describes a figure of `text`, for those who cannot see it."""
    reader = f"the word {figure.word!r} reads" if figure.word else "each word reads"
    return (
        f"In the geometry of Figure {figure.number} of Attention Is All You Need: how much "
        f"{reader} from each word of: {text}"
    )
