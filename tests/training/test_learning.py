"""That training trains: six layers, normalised after the sum, under equation 3's warm-up."""

import math

import pytest
import torch
from tests.model.tiny import packed, sizes
from tests.training.tiny import take_update

from transduce.fast.flat_adam import FlatAdam
from transduce.packed import Batch
from transduce.paper.model import build_transformer
from transduce.runs.validation import sum_validation_loss
from transduce.settings import Training

SYMBOLS = 12
SIX = sizes(layers=6, d_model=64, d_ff=128, heads=4, d_k=16, d_v=16, dropout=0.1)


def copies(step):
    """32 sentences that are to be said again."""
    generator = torch.Generator().manual_seed(step)
    lengths = torch.randint(3, 9, (32,), generator=generator).tolist()
    words = packed(lengths, symbols=SYMBOLS, seed=step)
    return [Batch(words, words)]


def unigram_nats(batches):
    """Per piece, of a model that knows how often each symbol comes and nothing else."""
    ids = torch.cat([batch.target.ids for batch in batches])
    shares = ids.bincount().double() / len(ids)
    return float(torch.special.entr(shares).sum())


@pytest.mark.slow
def test_six_layers_begin_to_copy_within_200_steps():
    """Equation 3 at a tenth: so few steps warm up so fast that its own peak would be 0.0125."""
    training = Training(steps=200, warmup=100, learning_rate_factor=0.1)
    model = build_transformer(SIX, SYMBOLS, SYMBOLS, seed=1)
    optimiser = FlatAdam(model, training)
    for step in range(1, training.steps + 1):
        update = take_update(model, optimiser, training, step, copies(step))
        assert update is not None
        assert update.applied
    unseen = copies(10_000)
    nats, pieces = sum_validation_loss(model, unseen)
    assert nats / pieces < 0.7 * unigram_nats(unseen)


def test_the_gradients_of_a_new_model_of_six_layers_are_as_large_at_the_bottom_as_at_the_top():
    """Post-norm: with last matrices as large as the others the decoder's differ sixfold."""
    model = build_transformer(SIX, SYMBOLS, SYMBOLS, seed=1)
    optimiser = FlatAdam(model, Training())
    update = take_update(model, optimiser, Training(), 1, copies(1))
    assert update is not None
    assert update.nats < 2 * math.log(SYMBOLS)
    gradients = dict(zip(optimiser.names, optimiser.gradient_views, strict=True))
    for stack in ("encoder", "decoder"):
        norms = [
            math.hypot(*(float(g.norm()) for name, g in gradients.items() if layer in name))
            for layer in (f"{stack}.{number}." for number in range(6))
        ]
        assert 0 < max(norms) < 2 * min(norms)
