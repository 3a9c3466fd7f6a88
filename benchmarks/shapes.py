"""What is trained and searched in the comparisons: sizes, sentences, operations."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.plan import Plan
from transduce.packed import Batch, Packed
from transduce.settings import Architecture

V = 10_000  # symbols
TOKENS = 3_000  # of an update, each side
MEAN = 13  # tokens of a sentence, as in Multi30k

SHAPES: Mapping[str, Architecture] = MappingProxyType(
    {
        "tiny": Architecture(layers=4, d_model=128, d_ff=256, heads=4, d_k=32, d_v=32),
        "small": Architecture(layers=3, d_model=256, d_ff=1024, heads=4),
        "d256": Architecture(layers=4, d_model=256, d_ff=1024, heads=4),
        "base": Architecture(),
    }
)


def lengths(pairs: int) -> tuple[Int[np.ndarray, " N"], Int[np.ndarray, " N"]]:
    """Lengths like those of image captions and their translations, END counted."""
    draws = np.random.default_rng(1)
    source = np.clip(draws.gamma(9, MEAN / 9, pairs), 3, 60)
    target = np.clip(source * draws.normal(1, 0.12, pairs), 3, 60)
    return source.astype(np.int64), target.astype(np.int64)


def batches(turn: int, count: int) -> list[Batch]:
    """The updates of one turn: the same for every variant."""
    source, target = lengths(40_000)
    plan = Plan(source, target, source_tokens=TOKENS, target_tokens=TOKENS, seed=1)
    draws = np.random.default_rng(turn)
    chosen = [plan.select_pairs(turn * count + number) for number in range(1, count + 1)]
    return [Batch(packed(source[some], draws), packed(target[some], draws)) for some in chosen]


def sentences(count: int) -> list[list[int]]:
    """Sources for the search, each with its END."""
    draws = np.random.default_rng(2)
    source, _ = lengths(count)
    return [[*draws.integers(2, V, length - 1).tolist(), 0] for length in source]


def packed(lengths: Int[np.ndarray, " P"], draws: np.random.Generator) -> Packed:
    """Any symbols but BEGIN and END."""
    ids = torch.from_numpy(draws.integers(2, V, int(lengths.sum())))
    return Packed(ids, tuple(lengths.tolist()))


def operations(sizes: Architecture, source_tokens: int, target_tokens: int) -> int:
    """Of a training step, on real tokens: the products with weights, forward and twice back."""
    width = sizes.heads * (sizes.d_k + sizes.d_v)
    attention, half = 4 * sizes.d_model * width, 2 * sizes.d_model * width
    feed_forward = 4 * sizes.d_model * sizes.d_ff
    encoder = sizes.layers * (attention + feed_forward + half)  # half: the decoder's K and V of it
    decoder = sizes.layers * (attention + half + feed_forward) + 2 * sizes.d_model * V
    return 3 * (encoder * source_tokens + decoder * target_tokens)
