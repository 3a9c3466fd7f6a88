"""First weights: the paper does not state them. Each layer class draws its own.

Matrices: Glorot uniform, U(±√(6 / (in + out))), each projection (Q, K, V, all heads of it) for
itself, so that it does not matter that some are stored in one tensor. Embeddings and learned
positions: normal with standard deviation d_model^-0.5, so that embeddings, multiplied by √d_model,
begin about as large as the sinusoids; learned positions are not multiplied and begin small. Biases
0, norms 1. Table 1's other layers likewise: each gate of an LSTM for itself, its forget gates open
(bias 1); a convolution as one matrix over its neighbours; the depthwise weights of a separable one
as k numbers to k numbers.

The last matrix of each sub-layer is divided by the root of the number of sub-layers in its stack
(2N or 3N). Norms after every sum scale the residual path down step by step; so it is left almost
whole, and all sub-layers of a stack together begin as large as what they are added to. Post-norm
learns to attend to the source in half the updates (docs/internals/decisions/0014). An LSTM has no
such matrix; its states begin about as small.
"""

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from transduce.model.layers import DecoderLayer, EncoderLayer


@runtime_checkable
class Initialised(Protocol):
    """A layer that draws all its first weights from a generator."""

    def initialise(self, generator: torch.Generator) -> None: ...


@torch.no_grad()
def initialise(model: nn.Module, generator: torch.Generator) -> None:
    """Draw the first weights of a model, layer by layer in the order of the code.

    Weights that no layer sets are an error: they would not follow from the seed.
    """
    for weight in model.parameters():
        weight.fill_(math.nan)
    for module in model.modules():
        if isinstance(module, Initialised):
            module.initialise(generator)
    for stack in model.modules():
        if isinstance(stack, nn.ModuleList):
            scale_by_depth([one for one in stack if isinstance(one, EncoderLayer | DecoderLayer)])
    unset = [name for name, weight in model.named_parameters() if weight.isnan().any()]
    assert not unset, f"no layer's `initialise` sets {', '.join(unset)}"


def scale_by_depth(layers: Sequence[EncoderLayer | DecoderLayer]) -> None:
    """Divide the last matrix of each sub-layer by √(sub-layers of the stack)    (decision 0014)"""
    sub_layers = [one for layer in layers for one in layer.sub_layers()]
    for sub_layer in sub_layers:
        if sub_layer.last_matrix is not None:
            sub_layer.last_matrix.div_(math.sqrt(len(sub_layers)))
