"""The attention page, one HTML file that shows an attention view and requests nothing.

Its data are a JSON header and the weights. Each layer of each kind of attention is one block
[heads, queries, keys], so that a page decompresses only the layers that it shows. The blocks are
joined in base64; the header has each block's offset and number of characters.
"""

import base64
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Float32, Float64

from transduce.settings.fields import require
from transduce.settings.recipe import shorten_name
from transduce.view.attention.record import (
    SIDES,
    AttentionView,
    NextPiece,
    OutputStep,
    PieceSequence,
)
from transduce.view.attention.tendencies import choose_head_to_show, compute_tendencies
from transduce.view.page.document import (
    DataBlock,
    build_page,
    json_block,
    list_parts,
    read_texts,
    texts_block,
)
from transduce.vocabulary.symbols import SPECIALS

SCRIPTS = (
    *("data", "state", "units", "colours", "bipartite", "matrix", "panels", "grid", "align"),
    *("lists", "stage", "export", "controls", "keys", "main"),
)
PARTS = list_parts("attention", [f"script/{name}" for name in SCRIPTS])
Block = Float32[np.ndarray, "H Q K"]


def build_levels(keys: int) -> Float64[np.ndarray, " N"]:
    """Return the levels, from 0 to 1, that weights over `keys` keys are rounded to on a page.

    A step is 8 % of the level below it, but at most 0.008 and at least 2 % of 1 / keys, the mean
    of a row. The error is at most half a step. A page computes the same list.
    """
    smallest, levels = max(0.02 / keys, 1e-6), [0.0]
    while levels[-1] < 1:
        levels.append(min(1.0, levels[-1] + min(0.008, max(smallest, 0.08 * levels[-1]))))
    return np.array(levels)


def encode_levels(weights: Block) -> bytes:
    """Encode each attention weight as one byte, the index of the nearest level (`build_levels`)."""
    levels = build_levels(weights.shape[-1])
    return np.searchsorted((levels[1:] + levels[:-1]) / 2, weights).astype(np.uint8).tobytes()


def encode_halves(weights: Block) -> bytes:
    """Encode attention weights as little-endian float16, with errors of at most 0.00025."""
    return weights.astype("<f2").tobytes()


NUMBERS = {"step8": encode_levels, "float16": encode_halves}
KNOWN_NUMBERS = f"known: {', '.join(NUMBERS)}"


@final
@dataclass(frozen=True)
class WeightEncoding:
    """The encoding of attention weights in a page: number format, threshold and compression."""

    numbers: str = "step8"  # "step8": one byte for each weight; "float16": two, nearly exact
    minimum: float = 0.0  # smaller weights are written as 0, which makes the page smaller
    compression: str = "zlib"  # or "none", for browsers without DecompressionStream

    def __post_init__(self) -> None:
        """Raise InputError for an unknown format or compression, or a minimum outside [0, 1)."""
        require(self.numbers in NUMBERS, f"unknown numbers {self.numbers!r}", KNOWN_NUMBERS)
        known = self.compression in ("zlib", "none")
        require(known, f"unknown compression {self.compression!r}", "known: zlib, none")
        require(
            0 <= self.minimum < 1,
            f"the smallest weight that is written is {self.minimum}, not in [0, 1)",
            "0.004 leaves out what the default encoding can hardly show",
        )

    def encode_block(self, weights: Block) -> str:
        """Return a layer's weights in this encoding as base64; those below `minimum` become 0."""
        kept = np.where(weights < self.minimum, np.float32(0), weights)
        content = NUMBERS[self.numbers](kept)
        if self.compression == "zlib":
            content = zlib.compress(content, 9 if len(content) < 1_000_000 else 6)
        return base64.b64encode(content).decode("ascii")


def encode_view(view: AttentionView, encoding: WeightEncoding) -> tuple[dict[str, Any], str]:
    """Return a page's data as (header as JSON values, all weights as base64)."""
    kinds, texts, offset = list[dict[str, Any]](), list[str](), 0
    for kind in (one for one in SIDES if one in view.weights):
        queries, keys = SIDES[kind]
        heads, rows, columns = view.weights[kind].shape[1:]
        places = list[tuple[int, int]]()
        for layer in view.weights[kind]:
            texts.append(encoding.encode_block(layer))
            places.append((offset, len(texts[-1])))
            offset += len(texts[-1])
        about = {"kind": kind, "layers": view.layers_of(kind), "queries": queries, "keys": keys}
        size = {"heads": heads, "rows": rows, "columns": columns}
        kinds.append({**about, **size, "blocks": places})
    header = {
        "numbers": encoding.numbers,
        "compression": encoding.compression,
        "name": shorten_name(view.model.name),
        "given": view.is_given,
        "notes": list(view.notes),
        "alignment": asdict(view.alignment) if view.alignment else None,
        "source": describe_sequence(view.source),
        "input": describe_sequence(view.input),
        "output": describe_sequence(view.output),
        "tendencies": describe_tendencies(view),
        "clearest": {kind: choose_head_to_show(view, kind) for kind in view.weights},
        "steps": [describe_step(step) for step in view.steps],
        "kinds": kinds,
    }
    return header, "".join(texts)


def describe_sequence(sequence: PieceSequence) -> dict[str, Any]:
    """Return a sequence as JSON values: its pieces, words, text, and positions of BEGIN and END."""
    ends = {0, len(sequence.pieces) - 1}
    marks = [i for i in sorted(ends) if i >= 0 and sequence.pieces[i] in SPECIALS]
    words = [[word.first, word.last, word.text] for word in sequence.words]
    pieces, text = list(sequence.pieces), sequence.text
    return {"pieces": pieces, "words": words, "marks": marks, "text": text}


def describe_step(step: OutputStep) -> dict[str, Any]:
    """Return a step of the output as JSON values; probabilities have four significant digits."""
    return {
        "chosen": [step.chosen.piece, round_to_four_digits(step.chosen.probability)],
        "alternatives": describe_pieces(step.alternatives),
        "beam": [
            {
                "parent": one.parent,
                "piece": one.piece,
                "logProb": round(one.log_prob, 3),
                "alternatives": describe_pieces(one.alternatives),
                "chosen": one.is_chosen,
            }
            for one in step.beam
        ],
    }


def describe_pieces(pieces: Iterable[NextPiece]) -> list[list[str | float]]:
    """Return [text, probability] for each next piece."""
    return [[one.piece, round_to_four_digits(one.probability)] for one in pieces]


def describe_tendencies(view: AttentionView) -> dict[str, list[list[list[str | float]]]]:
    """Return for each kind of attention a list [layer][head] of [label, largest share, entropy]."""
    return {
        kind: [
            [[one.label, round_to_four_digits(one.share), round(one.entropy, 2)] for one in heads]
            for heads in layers
        ]
        for kind, layers in compute_tendencies(view).items()
    }


def round_to_four_digits(probability: float) -> float:
    """Round a probability to four significant digits."""
    return float(f"{probability:.4g}")


def build_attention_page(view: AttentionView, encoding: WeightEncoding | None = None) -> str:
    """Return an HTML page that shows all attention weights of a view.

    It is one file that requests nothing. Equal views give equal bytes.
    """
    encoding = encoding or WeightEncoding()
    header, weights = encode_view(view, encoding)
    texts = texts_block(read_texts("attention"))
    data = [texts, json_block("header", header), DataBlock("weights", "text/plain", weights)]
    title = f"Attention of {shorten_name(view.model.name)}"
    return build_page(title, PARTS, data, is_compressed=encoding.compression != "none")
