"""How likely models find targets that are given: log P of every piece, all places at once."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transduce.corpus.shard import micro_batches
from transduce.model.transformer import Transformer
from transduce.packed import Packed
from transduce.search.ensemble import log_mean_exp
from transduce.training.loss import log_probs
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
        pieces = log_mean_exp([pieces_of(model, source, target) for model in models])
        for number, own in zip(
            part.tolist(), pieces.cpu().double().split(target.lengths), strict=True
        ):
            found[number] = float(own.sum())
    return found


def pieces_of(model: Transformer, source: Packed, target: Packed) -> Float[Tensor, " T"]:
    """log P of every target piece, given the source and the pieces before it."""
    device = model.output.weight.device
    memory = model.eval().encode(source.to(device))
    states = model.decode(target.to(device).shifted(BEGIN), memory)
    return log_probs(states, model.output.weight, target.ids.to(device))
