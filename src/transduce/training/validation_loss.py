"""The loss of the development set, without label smoothing and dropout"""

from collections.abc import Iterable

import torch

from transduce.machine.device import accumulation_dtype
from transduce.packed import Batch
from transduce.paper.model import Transformer
from transduce.vocabulary import BEGIN


@torch.no_grad()
def sum_validation_loss(model: Transformer, batches: Iterable[Batch]) -> tuple[float, int]:
    """Return the sum of -log p in nats over all target tokens with END, and the token count.

    Switches the model to evaluation mode.
    """
    model.eval()
    nats, tokens = 0.0, 0
    for batch in batches:
        states = model.decode(batch.target.shift_right(BEGIN), model.encode(batch.source))
        log_probs = model.target_log_probs(states, batch.target.ids)
        nats -= float(log_probs.sum(dtype=accumulation_dtype(log_probs.device)))
        tokens += len(batch.target.ids)
    return nats, tokens
