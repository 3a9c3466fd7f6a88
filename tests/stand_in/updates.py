"""Updates of a small model on the stand-in device, and of the paper's models in shapes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from benchmarks.on_gpu.scale import lengths
from tests.model.tiny import sizes
from tests.stand_in.device import CUDA, stand_in_device
from tests.stand_in.record import Record
from tests.training.tiny import SYMBOLS, batches, training_of

from transduce.fast.choose import equip_for_training
from transduce.fast.flat_adam import FlatAdam
from transduce.mixing import find_mixing
from transduce.packed import Batch, Packed
from transduce.paper.model import Transformer, build_transformer
from transduce.paper.training import update_weights
from transduce.settings import Architecture, Training
from transduce.training.distributed.process_group import SINGLE_PROCESS

PAPER_SYMBOLS = 37_000  # section 5.1
PAPER_TOKENS = 25_000  # of an update, a side


@dataclass
class TracedTraining:
    """A model with its optimiser on the stand-in device, and the record of what that did."""

    model: Transformer
    optimiser: FlatAdam
    training: Training
    record: Record

    def queue(self, step: int, group=SINGLE_PROCESS, batches=batches):
        """Queue one update and keep only its own calls in the record."""
        self.record.clear()
        given = batches(step)
        return update_weights(
            self.model, self.optimiser, self.training, step, given, group.run_micro_batches
        )


@contextmanager
def small_training(
    changes: dict[str, Any] | None = None, **settings: object
) -> Iterator[TracedTraining]:
    """Context manager of a stand-in device with a small model on it; `changes` are its sizes."""
    training = training_of(**settings)
    with stand_in_device() as record:
        architecture = sizes(**({"layers": 1} | (changes or {})))
        model = build_transformer(architecture, SYMBOLS, SYMBOLS, 3, find_mixing(architecture)).to(
            CUDA
        )
        equip_for_training(model, training)
        yield TracedTraining(model, FlatAdam(model, training), training, record)


@contextmanager
def paper_training(architecture: Architecture, **settings: Any) -> Iterator[TracedTraining]:
    """Context manager of a stand-in device of shapes only, with a model of the paper on it."""
    training = Training(**settings)
    with stand_in_device("meta") as record:
        with torch.device("meta"):
            model = Transformer(architecture, PAPER_SYMBOLS, PAPER_SYMBOLS)
        equip_for_training(model.to(CUDA), training)
        yield TracedTraining(model, FlatAdam(model, training), training, record)


def paper_batch(_step: int) -> list[Batch]:
    """The paper's update as one micro-batch: sentences of 28 tokens in the mean."""
    sides = lengths(PAPER_TOKENS, 28, 0.5, 1)
    return [Batch(*(Packed(torch.zeros(sum(n), dtype=torch.long), tuple(n)) for n in sides))]


BASE = Architecture()
BIG = replace(BASE, d_model=1024, d_ff=4096, heads=16, dropout=0.3)
