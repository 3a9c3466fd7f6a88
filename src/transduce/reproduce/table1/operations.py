"""Operations of a running layer, counted by torch: a multiplication and an addition are two.

Products of matrices, and the weights along the sentence of a separable convolution. Not counted, as
in the paper's table: softmax, gates, masks, sums of neighbours that are no product.
"""

import math
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from transduce.reproduce.table1.layer import Layer

# The layer runs in float64, for which torch has no fused LSTM: every step shows its products.
EXACT = torch.float64


@torch.no_grad()
def counted(layer: Layer) -> tuple[int, int]:
    """What a forward pass takes in the mixing itself, and in the projections around it."""
    x = layer.words(EXACT)
    rules = {torch.ops.aten.addcmul: two_for_each}
    with FlopCounterMode(display=False, custom_mapping=rules) as counter:
        layer(x)
    total = counter.get_total_flops()
    around = sum(
        sum(found.values())
        for name, found in counter.get_flop_counts().items()
        if name in ("SelfAttention.query_key_value", "SelfAttention.output")
    )
    return total - around, around


def two_for_each(*_shapes: Any, out_shape: tuple[int, ...], **_: Any) -> int:  # noqa: ANN401
    """addcmul multiplies once and adds once for every number."""
    return 2 * math.prod(out_shape)
