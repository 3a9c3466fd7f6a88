"""Self-attention, or another layer of Table 1 in its place, as `architecture.mixing` names it

The other layers are imported only for a model that has them.
"""

from typing import Any

from transduce.paper.model import (
    BuildMixing,
    StepwiseTransformer,
    Transformer,
    build_self_attention,
)
from transduce.paper.operations import Operations
from transduce.paper.search import StepwiseModel
from transduce.settings import Architecture


def find_mixing(sizes: Architecture) -> BuildMixing:
    """Return the function that builds a layer's token mixing: self-attention or a replacement."""
    if sizes.mixing == "self-attention" and not sizes.neighbourhood_row:
        return build_self_attention
    from transduce.mixing.layers import build_layer

    return build_layer


def build_stepwise_model(
    model: Transformer, operations: Operations | None = None
) -> StepwiseModel[Any]:
    """Return a model for a search, with a KV cache if its layers allow it, else without one."""
    sizes = model.sizes
    is_grid = sizes.neighbourhood_row and sizes.decoder_neighbourhood
    if sizes.mixing == "self-attention" and not is_grid:
        return StepwiseTransformer(model, operations)
    from transduce.mixing.layers import RecomputingModel

    return RecomputingModel(model, operations)
