"""How likely models find targets that are given: log P of every piece, all places at once."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transduce.corpus.shard import micro_batches
from transduce.model.transformer import Transformer
from transduce.packed import Packed
from transduce.search.ensemble import log_mean
from transduce.training.loss import SLICE
from transduce.vocabulary import BEGIN

# T target tokens of a batch

Sentences = Sequence[Sequence[int]]


@torch.inference_mode()
def log_probs_of(
    models: Sequence[Transformer], sources: Sentences, targets: Sentences, tokens: int
) -> list[float]:
    """log P(target | source) of each pair, both closed by END; so many tokens at once."""
    found = [0.0] * len(sources)
    first, second = (np.array(list(map(len, side)), np.int64) for side in (sources, targets))
    for part in micro_batches(np.arange(len(sources)), first, second, tokens):
        source, target = (Packed.of([side[n] for n in part]) for side in (sources, targets))
        pieces = log_mean([log_probs(model, source, target) for model in models])
        for number, own in zip(part.tolist(), pieces.double().split(target.lengths), strict=True):
            found[number] = float(own.sum())
    return found


def log_probs(model: Transformer, source: Packed, target: Packed) -> Float[Tensor, " T"]:
    """Of every target piece, given the source and the pieces before it."""
    device = model.output.weight.device
    memory = model.eval().encode(source.to(device))
    states = model.decode(target.to(device).shifted(BEGIN), memory)
    rows = max(1, SLICE // len(model.output.weight))  # never all logits at once
    kind = torch.promote_types(states.dtype, torch.float32)  # bfloat16 has too few digits
    found = []
    for some, ids in zip(states.split(rows), target.ids.to(device).split(rows), strict=True):
        log_p = model.logits(some).log_softmax(dim=1, dtype=kind)  # [rows V]
        found.append(log_p.gather(1, ids[:, None])[:, 0])
    return torch.cat(found)
