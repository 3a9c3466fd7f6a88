"""The weights of a checkpoint as a block of a page: float16, int8 or float32, compressed.

A page computes with the weights as it stores them. Comparisons must use the same numbers, which
are `StoredWeights.tensors`.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from transduce.paper.model import Transformer
from transduce.settings.fields import require

HALF_LIMIT = 65_504.0  # the largest float16
Encoded = tuple[bytes, Float32[np.ndarray, "..."]]


@final
@dataclass(frozen=True, eq=False)
class StoredWeights:
    """A checkpoint's weights in a page: a compressed block, its layout, and the decoded weights."""

    block: bytes
    layout: list[dict[str, Any]]  # name, shape, type, offset and size of each tensor
    tensors: Mapping[str, Tensor]  # the weights that the page computes with


def encode_halves(values: Float32[np.ndarray, "..."]) -> Encoded:
    """Encode numbers as float16, high bytes before low bytes; also return the rounded numbers."""
    halves = values.astype("<f2")
    pairs = halves.reshape(-1).view(np.uint8).reshape(-1, 2)
    return pairs[:, ::-1].T.tobytes(), halves.astype(np.float32)


def encode_bytes(values: Float32[np.ndarray, "..."]) -> Encoded:
    """Encode numbers as signed bytes with a scale per row; also return the rounded numbers."""
    rows = values.reshape(len(values), -1)
    scales = (np.abs(rows).max(axis=1, keepdims=True) / 127).astype("<f4")
    signed = np.rint(rows / np.where(scales > 0, scales, 1)).astype(np.int8)
    held = (signed.astype(np.float64) * scales).astype(np.float32)
    return scales.tobytes() + signed.tobytes(), held.reshape(values.shape)


def encode_floats(values: Float32[np.ndarray, "..."]) -> Encoded:
    """Encode numbers as little-endian float32, exactly; also return the numbers."""
    return values.astype("<f4").tobytes(), values


ENCODINGS: Mapping[str, Callable[[Float32[np.ndarray, "..."]], Encoded]] = MappingProxyType(
    {"float16": encode_halves, "int8": encode_bytes, "float32": encode_floats}
)


def store_weights(weights: Mapping[str, Tensor], number: str) -> StoredWeights:
    """Return weights as a block of a page; `number` is "float16", "int8" or "float32".

    Vectors such as biases keep 16 bits when matrices have 8. A tensor that float16 cannot hold is
    stored as float32.
    """
    require(number in ENCODINGS, f"unknown numbers {number!r}", f"known: {', '.join(ENCODINGS)}")
    layout, parts, held, offset = [], [], dict[str, Tensor](), 0
    for name, tensor in weights.items():
        values = tensor.detach().float().cpu().contiguous().numpy()
        kind = choose_number(values, number)
        content, stored = ENCODINGS[kind](values)
        layout.append(
            {"name": name, "shape": list(values.shape), "type": kind}
            | {"offset": offset, "size": len(content)}
        )
        parts.append(content)
        held[name] = torch.from_numpy(stored.copy())
        offset += len(content)
    return StoredWeights(zlib.compress(b"".join(parts), 9), layout, MappingProxyType(held))


def choose_number(values: Float32[np.ndarray, "..."], wanted: str) -> str:
    """Return the number format to store a tensor in: `wanted`, or a finer one if needed."""
    if wanted == "int8" and values.ndim < 2:
        wanted = "float16"
    if wanted == "float16" and values.size and float(np.abs(values).max()) > HALF_LIMIT:
        return "float32"
    return wanted


def read_weights(model: Transformer) -> dict[str, Tensor]:
    """Return all weights of a model by name; weights packed for inference are unpacked."""
    packed = {
        f"{name}.weight": module.unpack()
        for name, module in model.named_modules()
        if hasattr(module, "unpack") and module is not model.output_projection
    }
    return {**model.named_weights(), **packed}
