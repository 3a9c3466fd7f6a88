"""A worker: training steps of ours. Arguments: shape, updates a turn, precision, kernel."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import torch

from benchmarks.machine import read_memory
from benchmarks.padded_attention import PaddedAttention
from benchmarks.shapes import SHAPES, V, batches
from benchmarks.turns import Turn, serve
from transduce.fast.blocks import BucketedAttention
from transduce.fast.choose import equip_for_training
from transduce.fast.flat_adam import FlatAdam
from transduce.machine.process_settings import keep_freed_memory
from transduce.paper.model import build_transformer
from transduce.paper.operations import AttentionMask, BatchAttention, build_padded_attention
from transduce.paper.training import update_weights
from transduce.settings import Training


def attend_plainly(
    queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
) -> BatchAttention:
    """Equation 1 of a padded batch."""
    del device  # that of the tensors
    return build_padded_attention(queries, keys, mask)


KERNELS: Mapping[str, Callable[..., BatchAttention]] = MappingProxyType(
    {"grouped": BucketedAttention, "plain": attend_plainly, "torch": PaddedAttention}
)


def main(shape: str, updates: str, precision: str, kernel: str) -> None:
    """Serve turns."""
    keep_freed_memory()
    start = read_memory()["resident"]
    model = build_transformer(SHAPES[shape], V, V, 1)
    training = Training(precision=precision)
    equip_for_training(model, training)
    attention = partial(KERNELS[kernel], device=torch.device("cpu"))
    model.operations = replace(model.operations, build_attention=attention)
    optimiser = FlatAdam(model, training)

    def turn(number: int) -> Turn:
        some = batches(number, int(updates))
        began = time.perf_counter()
        queued = (update_weights(model, optimiser, training, number + 1, [batch]) for batch in some)
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
