"""A look at pairs that are not trained on: perplexity per piece, without smoothing."""

from collections.abc import Iterable

import torch

from transduce.corpus.batch import Batch
from transduce.machine.device import accumulation_dtype
from transduce.model.transformer import Transformer
from transduce.training.loss import log_probs
from transduce.vocabulary import BEGIN


@torch.no_grad()
def nats_of(model: Transformer, batches: Iterable[Batch]) -> tuple[float, int]:
    """Summed -log p of all target pieces, and how many they are, ends of sentences included."""
    model.eval()
    nats, pieces = 0.0, 0
    for batch in batches:
        states = model.decode(batch.target.shift_right(BEGIN), model.encode(batch.source))
        found = log_probs(states, model.output.weight, batch.target.ids)
        nats -= float(found.sum(dtype=accumulation_dtype(found.device)))
        pieces += len(batch.target.ids)
    return nats, pieces
