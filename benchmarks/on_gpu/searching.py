"""Beam search at beam 4: outputs of one length, so that every sentence takes the same steps."""

from functools import partial
from statistics import median

import numpy as np
import torch

from benchmarks.fixed_length import FixedLengthDecoder
from benchmarks.on_gpu.scale import Cases, Figures, Scale, lengths, milliseconds
from transduce.fast.choose import equip_for_inference
from transduce.paper.model import StepwiseTransformer, build_transformer
from transduce.paper.search import beam_search
from transduce.settings import Search
from transduce.settings.search import InferencePrecision

LENGTH = 25  # symbols of every output, and steps of the model


def cases(scale: Scale) -> Cases:
    """Many sentences at once, some, one alone."""
    for kind in (torch.bfloat16, torch.float32):
        for count in scale.sentences:
            name = f"{count} sentence{'s'[: count - 1]} at once, {str(kind).split('.')[1]}"
            yield name, partial(measure_search, scale, count, kind)


def measure_search(scale: Scale, count: int, kind: torch.dtype) -> Figures:
    """Output tokens a second, without END."""
    model = build_transformer(scale.sizes, scale.symbols, scale.symbols, 1).eval()
    length = 3 if scale.rehearsed else LENGTH
    equip_for_inference(model.to(scale.device), InferencePrecision(str(kind).split(".")[1]))
    decoder = FixedLengthDecoder(StepwiseTransformer(model), length)
    sources = draw_sources(scale, count)
    search, operations = Search(batch_size=count), model.operations
    seconds = scale.timed(
        lambda: beam_search(decoder, sources, search, operations=operations), rounds=3
    )
    return {
        **milliseconds(seconds),
        "output tokens/s": count * length / median(seconds),
        "sentences/s": count / median(seconds),
    }


def draw_sources(scale: Scale, count: int) -> list[list[int]]:
    """Draw sentences of 28 symbols on average, END included."""
    draws = np.random.default_rng(1)
    drawn = (lengths(40 * count, 28, 0.3, 1)[0] * count)[:count]
    return [[*draws.integers(2, scale.symbols, n - 1).tolist(), 0] for n in drawn]
