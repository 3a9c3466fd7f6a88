"""Products by torch's private operators for oneDNN, and the linear maps of inference"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.errors import InputError

# R rows · n numbers in, m out

# names of torch's private operators for oneDNN
BLOCK, LINEAR = "mkldnn._reorder_linear_weight", "mkldnn._linear_pointwise"
LINEAR_ADD = f"{LINEAR}.binary"
HAS_BFLOAT16 = "mkldnn._is_mkldnn_bf16_supported"


class PackedModule(nn.Module):
    """A module with weights packed for this machine; copying or pickling it raises InputError."""

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        """Raise InputError, because the packed layout cannot be copied or pickled."""
        raise InputError(
            "a model whose weights are packed for this machine cannot be copied or pickled",
            "load it again where it is needed: transduce.load(folder, precision=...)",
        )


class DecodingLinear(nn.Module):
    """The linear map x Wᵀ + b without gradients; each class of it stores W in a layout of its own.

    A layout with faster kernels for them has its own `forward_relu` and `forward_add`.
    """

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each."""
        raise NotImplementedError

    def forward_relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b)."""
        return self(x).relu_()

    def forward_add(
        self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]
    ) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b."""
        return self(x).add_(residual)

    if TYPE_CHECKING:
        __call__ = forward


def find_operator(name: str) -> Any:  # noqa: ANN401
    """Return a torch.ops operator, such as "mkldnn._linear_pointwise.binary", or None if absent."""
    library, operator, overload, *_ = (*name.split("."), "default")
    found = getattr(getattr(torch.ops, library), operator, None)
    return getattr(found, overload, None)


def script_if_traced(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function that TorchScript compiles when a trace calls it, and only then."""
    jit = getattr(torch, "jit", None)
    return jit.script_if_tracing(function) if jit else function


@script_if_traced  # lists without elements cannot be traced
def multiply_by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None, then: str) -> Tensor:
    """Compute x Wᵀ + b, or max(0, x Wᵀ + b) if `then` is "relu"; W may be packed for oneDNN."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, then, (), "")  # noqa: SLF001


def has_onednn_operators() -> bool:
    """Return whether this torch has the private operators for matrices packed for oneDNN."""
    return all(map(find_operator, (BLOCK, LINEAR, LINEAR_ADD, HAS_BFLOAT16)))


@functools.cache
def has_onednn_bfloat16() -> bool:
    """Return whether this torch multiplies by oneDNN in bfloat16 on this processor."""
    return has_onednn_operators() and bool(find_operator(HAS_BFLOAT16)())
