"""The linear map x Wᵀ + b, and a function that replaces all linear maps of a model.

Every product with a weight matrix is computed by `Linear`, the output projection included; only an
LSTM uses torch's own class. Packing or quantising a model therefore takes only a class that
computes the same as `Linear`, and `replace_linear_operators`.
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
    """A module that computes x Wᵀ + b: a `Linear`, or its replacement for inference."""

    def __call__(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]: ...


@final
class Linear(nn.Module):
    """The linear map x Wᵀ + b; its weights are unset until the layer that owns it draws them."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None

    @staticmethod
    def from_weight(weight: nn.Parameter) -> "Linear":
        """Return a linear map without bias that shares the given weight."""
        linear = Linear(0, 0, bias=False)
        linear.weight = weight
        return linear

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each."""
        return functional.linear(x, self.weight, self.bias)

    def fill_glorot(self, generator: torch.Generator, parts: Sequence[int] = ()) -> None:
        """Draw the weight by Glorot's rule, as one matrix or several of `parts` rows; bias 0."""
        fill_glorot(self.weight, generator, parts)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    if TYPE_CHECKING:
        __call__ = forward


def fill_glorot(weight: Tensor, generator: torch.Generator, parts: Sequence[int] = ()) -> None:
    """Draw a weight in place by Glorot's rule, as one matrix or several of `parts` rows.

    The rule is U(±√(6 / (fan-in + fan-out))). With `parts`, the tensor holds several matrices with
    these numbers of rows, each with its own fan-out.
    """
    for matrix in weight.split(list(parts) or [weight.shape[0]]):
        bound = math.sqrt(6 / sum(matrix.shape))
        nn.init.uniform_(matrix, -bound, bound, generator=generator)


def replace_linear_operators(model: nn.Module, build: Callable[[Linear], nn.Module]) -> None:
    """Replace every `Linear` in a model by `build(linear)`, in place."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, Linear):
                setattr(module, name, build(child))
