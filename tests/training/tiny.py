"""Batches that are a function of the step, and a model that learns from them in milliseconds."""

import torch
from tests.model.tiny import sentences, sizes

from transduce.packed import Batch, Packed
from transduce.paper.model import build_transformer
from transduce.paper.training import update_weights
from transduce.settings import Training
from transduce.training.distributed.process_group import SINGLE_PROCESS
from transduce.training.equip import build_optimiser, equip_for_training

SYMBOLS = 9


def training_of(**changes):
    """Twenty steps with a short warm-up."""
    return Training(**({"steps": 20, "warmup": 10, "seed": 3} | changes))


def fresh(training, *, seed=3, dtype=torch.float32, **changes):
    """A model of one layer with its optimiser, the fast one if it is there."""
    model = build_transformer(sizes(**({"layers": 1} | changes)), SYMBOLS, SYMBOLS, seed).to(dtype)
    equip_for_training(model, training)
    return model, build_optimiser(model, training)


def batch_of(lengths, seed):
    """Pairs of random sentences; targets are a symbol longer than sources."""
    source = sentences(lengths, symbols=SYMBOLS, seed=seed)
    target = sentences([n + 1 for n in lengths], symbols=SYMBOLS, seed=seed + 1)
    return Batch(Packed.from_sentences(source), Packed.from_sentences(target))


def batches(step):
    """The two micro-batches of an update."""
    return [batch_of([2, 3], seed=1000 + step), batch_of([4, 1, 1], seed=2000 + step)]


def joined(parts):
    """Several micro-batches as one."""
    return Batch(
        *(
            Packed.from_sentences(
                [sentence for part in parts for sentence in getattr(part, side).to_sentences()]
            )
            for side in ("source", "target")
        )
    )


def take_update(model, optimiser, training, step, parts, group=SINGLE_PROCESS):
    """Train on the micro-batches of one update; None, with no weight changed, if it was stopped."""
    queued = update_weights(model, optimiser, training, step, parts, group.run_micro_batches)
    return queued.read() if queued else None
