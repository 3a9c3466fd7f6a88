"""The linear map of a layer, and how to replace all those of a model by faster ones for inference.

Every product with a weight matrix is computed by `Linear`, the map before the softmax included; only
an LSTM keeps torch's own. So a packed or quantised product needs one class and
`replace_linear_operators`.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

# R rows · n numbers in, m out


@runtime_checkable
class LinearOperator(Protocol):
    """Anything that computes x Wᵀ + b: a `Linear`, or what replaces it for inference."""

    def __call__(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]: ...


@final
class Linear(nn.Module):
    """x Wᵀ + b. The weights are unset until the layer that owns it initialises them."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None

    @staticmethod
    def from_weight(weight: nn.Parameter) -> "Linear":
        """Return the linear map without bias that shares a weight matrix."""
        linear = Linear(0, 0, bias=False)
        linear.weight = weight
        return linear

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b."""
        return functional.linear(x, self.weight, self.bias)

    def fill_glorot(self, generator: torch.Generator, parts: Sequence[int] = ()) -> None:
        """Draw the weights by Glorot's rule, each of `parts` rows for itself; set the bias to 0."""
        fill_glorot(self.weight, generator, parts)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    if TYPE_CHECKING:
        __call__ = forward


def fill_glorot(weight: Tensor, generator: torch.Generator, parts: Sequence[int] = ()) -> None:
    """Draw U(±√(6 / (in + out))) for each of the matrices, of `parts` rows, in one tensor."""
    for matrix in weight.split(list(parts) or [weight.shape[0]]):
        bound = math.sqrt(6 / sum(matrix.shape))
        nn.init.uniform_(matrix, -bound, bound, generator=generator)


def replace_linear_operators(model: nn.Module, build: Callable[[Linear], nn.Module]) -> None:
    """Replace every `Linear` of a model by the module that `build` makes of it, in place."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, Linear):
                setattr(module, name, build(child))
