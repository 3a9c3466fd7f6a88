"""First weights: the paper does not state them.

Matrices: Glorot uniform, U(±√(6 / (in + out))), each projection (Q, K, V, all heads of it) for
itself, so that it does not matter that some lie in one tensor. Symbol and learned position
vectors: normal with standard deviation d_model^-0.5, so that symbols, scaled by √d_model, begin
about as large as the sinusoids; learned positions are not scaled and begin small. Biases 0, norms
1. Of Table 1's other layers the same: each gate of an LSTM for itself, its forget gates open
(bias 1); a convolution as one matrix over its neighbours; along the sentence, a separable one as
k numbers to k numbers.

The last matrix of each sub-layer is divided by the root of the number of sub-layers in its stack
(2N or 3N). Norms after every sum take the way around the sub-layers down step by step; so it is
left almost whole, and all sub-layers of a stack together begin as large as what they are added
to. Post-norm learns to look at the source in half the updates (decision 0014). An LSTM has no
such matrix; its states begin about as small.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from transduce.model.attention.multi_head import CrossAttention, SelfAttention
from transduce.model.embedding import Embedding
from transduce.model.feed_forward import FeedForward
from transduce.model.mixing.convolution import FullProjection, SeparableProjection
from transduce.model.mixing.recurrent import RecurrentLayer
from transduce.model.positions import LearnedPositions


def initialise(model: nn.Module, generator: torch.Generator) -> None:
    """Fill a model with its first weights, module by module in the order of the code."""
    for module in model.modules():
        if isinstance(module, (SelfAttention, CrossAttention)):
            fill_attention(module, generator)
        elif isinstance(module, nn.LSTM):
            fill_lstm(module, generator)
        elif isinstance(module, (FullProjection, SeparableProjection)):
            fill_convolution(module, generator)
        elif isinstance(module, nn.Linear) and module.bias is not None:
            glorot(module.weight, generator)
            nn.init.zeros_(module.bias)
        elif isinstance(module, (Embedding, LearnedPositions)):
            spread = module.weight.shape[1] ** -0.5
            nn.init.normal_(module.weight, std=spread, generator=generator)
    for stack in (module for module in model.modules() if isinstance(module, nn.ModuleList)):
        soften(stack)


def fill_attention(module: SelfAttention | CrossAttention, generator: torch.Generator) -> None:
    """Each projection of all heads for itself."""
    parts = [module.heads * width for width in module.widths]
    if isinstance(module, SelfAttention):
        glorot(module.query_key_value.weight, generator, parts)
    else:
        glorot(module.query.weight, generator)
        glorot(module.key_value.weight, generator, parts)
    glorot(module.output.weight, generator)


def fill_lstm(module: nn.LSTM, generator: torch.Generator) -> None:
    """Input, forget, cell and output gate each for itself; the forget gates begin open."""
    width = module.hidden_size
    for from_input, from_state, bias, other_bias in module.all_weights:
        for weight in (from_input, from_state):
            glorot(weight, generator, [width] * 4)
        nn.init.zeros_(bias)
        nn.init.zeros_(other_bias)
        nn.init.ones_(bias.detach()[width : 2 * width])


def fill_convolution(
    module: FullProjection | SeparableProjection, generator: torch.Generator
) -> None:
    """The matrix as it lies; along the sentence, k numbers to k numbers."""
    if isinstance(module, SeparableProjection):
        bound = math.sqrt(6 / (2 * len(module.along)))
        nn.init.uniform_(module.along, -bound, bound, generator=generator)
    glorot(module.output.weight, generator)


@torch.no_grad()
def soften(stack: nn.Module) -> None:
    """Let the sub-layers of a stack add, all together, about as much as one would alone."""
    lasts = list(find_last_matrices(stack))
    recurrent = sum(isinstance(module, RecurrentLayer) for module in stack.modules())
    for matrix in lasts:
        matrix /= math.sqrt(len(lasts) + recurrent)


def find_last_matrices(stack: nn.Module) -> Iterator[Tensor]:
    """What each sub-layer's output went through last: W^O, or W2 of the feed-forward network."""
    for module in stack.modules():
        if isinstance(module, (SelfAttention, CrossAttention, FullProjection, SeparableProjection)):
            yield module.output.weight
        elif isinstance(module, FeedForward):
            yield module.outer.weight


def glorot(weight: Tensor, generator: torch.Generator, parts: list[int] | None = None) -> None:
    """Glorot uniform for each of the matrices that lie in one tensor."""
    for matrix in weight.split(parts or [weight.shape[0]]):
        bound = math.sqrt(6 / sum(matrix.shape))
        nn.init.uniform_(matrix, -bound, bound, generator=generator)
