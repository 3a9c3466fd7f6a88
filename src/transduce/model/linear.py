"""The linear map x Wᵀ + b, alone or with a ReLU or sum after it; how to replace all in a model.

Every product with a weight matrix is computed by `Linear`, the output projection included; only an
LSTM uses torch's own class. Packing or quantising a model therefore takes only a class with the
three methods of `LinearOperator`, and `replace_linear_operators`.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from transduce.model.bfloat16_linear import OneDnnLinearFunction, should_use_onednn

# R rows · n numbers in, m out


@runtime_checkable
class LinearOperator(Protocol):
    """A module that computes x Wᵀ + b: a `Linear`, or its replacement for inference.

    A kernel may compute a product together with the ReLU or the residual sum that follows it.
    """

    def __call__(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]: ...

    def relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b)."""
        ...

    def add(self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b."""
        ...


@final
class Linear(nn.Module):
    """The linear map x Wᵀ + b; its weights are unset until the layer that owns it draws them."""

    def __init__(
        self, inputs: int, outputs: int, *, bias: bool, follows_relu: bool = False
    ) -> None:
        super().__init__()
        self.follows_relu = follows_relu  # no input is negative
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None

    @staticmethod
    def from_weight(weight: nn.Parameter, bias: nn.Parameter | None = None) -> "Linear":
        """Return a linear map that shares the given weight, and the bias if there is one."""
        linear = Linear(0, 0, bias=False)
        linear.weight, linear.bias = weight, bias
        return linear

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each."""
        if should_use_onednn(x):
            out: Tensor = OneDnnLinearFunction.apply(x, self.weight, self.bias, "none")
            return out
        return functional.linear(x, self.weight, self.bias)

    def relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b) for R rows of n numbers each."""
        if should_use_onednn(x):
            out: Tensor = OneDnnLinearFunction.apply(x, self.weight, self.bias, "relu")
            return out
        return functional.linear(x, self.weight, self.bias).relu_()

    def add(self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b for R rows of n numbers each."""
        if self.bias is None:
            return torch.addmm(residual, x, self.weight.t())
        return functional.linear(x, self.weight, self.bias).add_(residual)

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
    """Replace every `Linear` in a model by `build(linear)`, in place.

    Each old weight is freed before the next one is built.
    """
    parents = [module for module in model.modules() if not isinstance(module, Linear)]
    for parent in parents:
        for name, child in list(parent.named_children()):
            if isinstance(child, Linear):
                setattr(parent, name, build(child))
