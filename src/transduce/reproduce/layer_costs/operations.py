"""Counts the operations of a layer with torch; a multiply-add is two operations.

Matrix products are counted, and the products with the per-channel kernels of a separable
convolution. As in the paper's table, softmax, gates, masks and plain sums are not.
"""

import math
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from transduce.reproduce.layer_costs.layer import EXACT, MeasuredLayer


@torch.no_grad()
def count_operations(layer: MeasuredLayer) -> tuple[int, int]:
    """Return a forward pass's operations as (outside of attention's projections, in them)."""
    x = layer.random_sentence(EXACT)
    rules = {torch.ops.aten.addcmul: count_addcmul_operations}
    with FlopCounterMode(display=False, custom_mapping=rules) as counter:
        layer(x)
    total = counter.get_total_flops()
    projections = sum(
        sum(found.values())
        for name, found in counter.get_flop_counts().items()
        if name in ("SelfAttention.query_key_value", "SelfAttention.output")
    )
    return total - projections, projections


def count_addcmul_operations(*_shapes: Any, out_shape: tuple[int, ...], **_: Any) -> int:  # noqa: ANN401
    """Return addcmul's operations: a multiplication and an addition for each output element."""
    return 2 * math.prod(out_shape)
