"""A worker: training steps of ours. Arguments: shape, updates a turn, precision, kernel."""

import sys
import time
from collections.abc import Mapping
from types import MappingProxyType

import torch

from benchmarks.machine import read_memory
from benchmarks.padded_attention import PaddedAttention
from benchmarks.shapes import SHAPES, V, batches
from benchmarks.turns import Turn, serve
from transduce.machine.process_settings import keep_freed_memory
from transduce.model.attention.bucketed import BucketedAttention
from transduce.model.attention.kernel import AttentionKernel
from transduce.model.attention.reference import ReferenceAttention
from transduce.model.initialise import initialise
from transduce.model.transformer import Transformer
from transduce.settings import Training
from transduce.training.optimiser import Optimiser
from transduce.training.step import queue_update

KERNELS: Mapping[str, AttentionKernel] = MappingProxyType(
    {"grouped": BucketedAttention, "plain": ReferenceAttention, "torch": PaddedAttention}
)


def main(shape: str, updates: str, precision: str, kernel: str) -> None:
    """Serve turns."""
    keep_freed_memory()
    start = read_memory()["resident"]
    model = Transformer(SHAPES[shape], V, V, kernel=KERNELS[kernel])
    initialise(model, torch.Generator().manual_seed(1))
    training = Training(precision=precision)
    optimiser = Optimiser(model, training)

    def turn(number: int) -> Turn:
        some = batches(number, int(updates))
        began = time.perf_counter()
        queued = (queue_update(model, optimiser, training, number + 1, [batch]) for batch in some)
        taken = [update.read() for update in queued if update]
        seconds = time.perf_counter() - began
        return {
            "seconds": seconds,
            "source_tokens": sum(update.source_tokens for update in taken),
            "target_tokens": sum(update.target_tokens for update in taken),
            "memory": read_memory()["peak"] - start,
        }

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
