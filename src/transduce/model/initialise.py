"""Initial weights, which the paper does not state; each layer class draws its own.

- Matrices: Glorot uniform, U(±√(6 / (fan-in + fan-out))). W^Q, W^K and W^V, each of all heads, are
  separate matrices in this formula, although they are stored in one tensor.
- Embeddings: normal with standard deviation d_model^-0.5. They are multiplied by √d_model and so
  begin about as large as the sinusoids.
- Learned positions: normal with standard deviation √½, which is that of the sinusoids.
- Biases: 0. Gains of norms: 1.
- An LSTM (Table 1): each gate is a separate matrix; the bias of the forget gate is 1.
- A convolution (Table 1): one matrix with fan-in k d_model and fan-out d_model. The depthwise
  weights of a separable convolution have fan-in = fan-out = k, the kernel width.

The last matrix of each sub-layer is then divided by √(number of sub-layers in its stack): 2N in the
encoder, 3N in the decoder. In post-norm each LayerNorm divides the residual stream by the standard
deviation of x + Sublayer(x), so that large sub-layer outputs shrink the token's embedding from
layer to layer. With small sub-layer outputs the embedding passes through the stack almost
unchanged: the variances that all sub-layers add sum up to about that of the input. Post-norm then
learns to attend to the source in half the updates (docs/internals/decisions/0014). An LSTM has no
last matrix to divide; its initial states are about as small without the division.
"""

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from transduce.model.layers import DecoderLayer, EncoderLayer


@runtime_checkable
class Initialised(Protocol):
    """A layer that draws all its initial weights from a random generator."""

    def initialise(self, generator: torch.Generator) -> None:
        """Draw all initial weights of the layer from the generator, in place."""


@torch.no_grad()
def initialise(model: nn.Module, generator: torch.Generator) -> None:
    """Draw the initial weights of a model in place, layer by layer in the order of `modules()`.

    Fails if any weight stays unset, because the seed would not determine that weight.
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
    """Divide the last matrix of each sub-layer by √(number of sub-layers)    (decision 0014)"""
    sub_layers = [one for layer in layers for one in layer.sub_layers()]
    for sub_layer in sub_layers:
        if sub_layer.last_matrix is not None:
            sub_layer.last_matrix.div_(math.sqrt(len(sub_layers)))
