"""Log-probabilities of given targets, with all positions in one forward pass (teacher forcing)."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transduce.checkpoint.weights import require_finite_numbers
from transduce.corpus.shard import split_update
from transduce.inference.halving import Batch, compute_in_batches
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.search.ensemble import log_mean_exp
from transduce.vocabulary import BEGIN

# T target tokens of a batch

Sentences = Sequence[Sequence[int]]


@torch.inference_mode()
def target_log_probs(
    models: Sequence[Transformer], sources: Sentences, targets: Sentences, tokens: int
) -> list[float]:
    """Return each pair's log P(target | source) in nats, computed in batches of `tokens` tokens.

    The ids of every source and target end with END. Batches hold at most `tokens` tokens, source
    and target together. Several models score as an ensemble.
    """
    totals = [0.0] * len(sources)
    first, second = (np.array(list(map(len, side)), np.int64) for side in (sources, targets))

    def compute(batch: Batch) -> Float[Tensor, " T"]:
        source, target = (
            Packed.from_sentences([side[n] for n in batch]) for side in (sources, targets)
        )
        return log_mean_exp([token_log_probs(model, source, target) for model in models]).cpu()

    batches = split_update(np.arange(len(sources)), first, second, tokens)
    for batch, by_token in compute_in_batches(batches, compute):
        require_finite_numbers(by_token, "a pair")
        sentences = by_token.double().split(second[batch].tolist())
        for index, sentence in zip(batch.tolist(), sentences, strict=True):
            totals[index] = float(sentence.sum())
    return totals


def token_log_probs(model: Transformer, source: Packed, target: Packed) -> Float[Tensor, " T"]:
    """Return one model's log P of every target token, given the source and the tokens before it."""
    device = model.output.weight.device
    memory = model.eval().encode(source.to(device))
    states = model.decode(target.to(device).shift_right(BEGIN), memory)
    return model.target_log_probs(states, target.ids.to(device))
