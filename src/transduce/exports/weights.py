"""Collects a model's weights by name, as numpy arrays in the layout that other programs expect."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float
from torch import Tensor

from transduce.paper.model import Transformer, compute_sinusoids
from transduce.settings import Architecture

Array = Float[np.ndarray, "..."]
Arrays = Mapping[str, Array]  # by name
POSITIONS = 2048  # rows of an exported table of sinusoids


@final
@dataclass(frozen=True)
class Weights:
    """All weights of a model by name; tied matrices are one object.

    Names are as in the model, such as encoder.0.feed_forward.inner.weight, but in each attention
    query, key, value and output are separate matrices, with each head padded to `head_width`.
    source.weight, target.weight, output.weight, source_positions.weight and
    target_positions.weight are always there; the bias of the logits is output.bias. A matrix has
    the shape [outputs inputs].
    """

    arrays: Arrays
    sizes: Architecture
    head_width: int

    def list_layers(self) -> Iterator[tuple[str, int, Arrays]]:
        """Yield each layer's side ("encoder" or "decoder"), its index, and its weights by name.

        A weight's name is relative to its layer, such as feed_forward.inner.weight.
        """
        depths = {"encoder": self.sizes.encoder_depth, "decoder": self.sizes.decoder_depth}
        for side, depth in depths.items():
            for number in range(depth):
                start = f"{side}.{number}."
                names = [name for name in self.arrays if name.startswith(start)]
                yield side, number, {name.removeprefix(start): self.arrays[name] for name in names}


def bias_or_zeros(layer: Arrays, name: str) -> Array:
    """Return the bias of a layer's matrix, or zeros if the model has none there."""
    zeros = np.zeros(len(layer[f"{name}.weight"]), np.float32)
    return layer.get(f"{name}.bias", zeros)


def collect_weights(model: Transformer, head_width: int | None = None) -> Weights:
    """Return a model's weights with all heads padded to one width, by default max(d_k, d_v).

    Padding changes no output: zeros in queries and keys add nothing to their products. The queries
    are scaled so that dividing by √head_width equals dividing by √d_k.
    """
    sizes = model.sizes
    width = head_width or max(sizes.d_k, sizes.d_v)
    found = {name: to_numpy(weight) for name, weight in model.named_weights().items()}
    sinusoids = to_numpy(compute_sinusoids(POSITIONS, sizes.d_model, sizes.positions))
    for side in ("source", "target"):
        found.setdefault(f"{side}_positions.weight", sinusoids)
    for tied in ("source", "output"):
        found.setdefault(f"{tied}.weight", found["target.weight"])
    if sizes.output_bias:
        found["output.bias"] = found.pop("output_bias.weight")
    for name in [name for name in found if "attention." in name]:
        found |= dict(pad_heads(name, found.pop(name), sizes, width))
    return Weights(found, sizes, width)


def pad_heads(
    name: str, weight: Array, sizes: Architecture, width: int
) -> Iterator[tuple[str, Array]]:
    """Yield (name, array) of each projection in a weight, with heads padded and queries scaled.

    A weight may hold several projections, one below the other, as query_key_value does.
    """
    place, joined, kind = name.rsplit(".", 2)
    if joined == "output":  # its columns, not its rows, belong to the heads
        rows = pad_rows_by_head(weight.T, sizes.heads, width).T if kind == "weight" else weight
        yield name, np.ascontiguousarray(rows)
        return
    widths = {"query": sizes.d_k, "key": sizes.d_k, "value": sizes.d_v}
    parts = joined.split("_")
    ends = np.cumsum([sizes.heads * widths[part] for part in parts])[:-1]
    for part, rows in zip(parts, np.split(weight, ends), strict=True):
        scale = math.sqrt(width / sizes.d_k) if part == "query" else 1
        padded = pad_rows_by_head(rows, sizes.heads, width)
        yield f"{place}.{part}.{kind}", padded * np.float32(scale)


def pad_rows_by_head(rows: Array, heads: int, width: int) -> Array:
    """Return a matrix or a bias with `width` rows for each head; added rows are zeros."""
    by_head = rows.reshape(heads, -1, *rows.shape[1:])
    missing = [(0, 0), (0, width - by_head.shape[1]), *[(0, 0)] * (rows.ndim - 1)]
    return np.pad(by_head, missing).reshape(heads * width, *rows.shape[1:])


def to_numpy(weight: Tensor) -> Array:
    """Return a weight as a contiguous numpy array in float32."""
    return np.ascontiguousarray(weight.detach().float().cpu().numpy())
