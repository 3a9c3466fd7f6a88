"""First weights: the paper does not state them; ours follow its published code.

Matrices: Glorot uniform, U(±√(6 / (in + out))), each projection (Q, K, V, all heads of it) for
itself, so that it does not matter that some lie in one tensor. Symbol and learned position
vectors: normal with standard deviation d_model^-0.5, so that symbols, scaled by √d_model, begin
about as large as the sinusoids; learned positions are not scaled and begin small. Biases 0, norms
1. With this post-norm trains at N = 6 (tests/training/test_learning.py; docs/deviations.md).
"""

import math

import torch
from torch import Tensor, nn

from transduce.model.attention import CrossAttention, SelfAttention
from transduce.model.embedding import Embedding
from transduce.model.positions import LearnedPositions


def initialise(model: nn.Module, generator: torch.Generator) -> None:
    """Fill a model with its first weights, module by module in the order of the code."""
    for module in model.modules():
        if isinstance(module, SelfAttention):
            parts = [module.heads * width for width in module.widths]
            glorot(module.query_key_value.weight, generator, parts)
            glorot(module.output.weight, generator)
        elif isinstance(module, CrossAttention):
            parts = [module.heads * width for width in module.widths]
            glorot(module.query.weight, generator)
            glorot(module.key_value.weight, generator, parts)
            glorot(module.output.weight, generator)
        elif isinstance(module, nn.Linear) and module.bias is not None:
            glorot(module.weight, generator)
            nn.init.zeros_(module.bias)
        elif isinstance(module, (Embedding, LearnedPositions)):
            spread = module.weight.shape[1] ** -0.5
            nn.init.normal_(module.weight, std=spread, generator=generator)


def glorot(weight: Tensor, generator: torch.Generator, parts: list[int] | None = None) -> None:
    """Glorot uniform for each of the matrices that lie in one tensor."""
    for matrix in weight.split(parts or [weight.shape[0]]):
        bound = math.sqrt(6 / sum(matrix.shape))
        nn.init.uniform_(matrix, -bound, bound, generator=generator)
