"""Converts trained weights for inference: their precision and memory layout (decision 0037)"""

from enum import StrEnum
from typing import TYPE_CHECKING, Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.machine.processor import Processor, read_processor
from transduce.model.decoding.int8 import Int8Linear
from transduce.model.linear import Linear, replace_linear_operators
from transduce.model.transformer import Transformer
from transduce.settings.precision import InferencePrecision

# R rows · n numbers in, m out

# names of torch's private operators for oneDNN
PACK, LINEAR = "_reorder_linear_weight", "_linear_pointwise"
HAS_BFLOAT16 = "_is_mkldnn_bf16_supported"

LARGE_MATRIX = 2**20  # numbers of a matrix, 4 MB: larger than the cache of a core


class Packing(StrEnum):
    """Which weight matrices are packed in blocks for oneDNN; the others are transposed for MKL."""

    ALL = "all"
    LARGE = "large"  # matrices of at least `LARGE_MATRIX` numbers with more outputs than inputs
    NONE = "none"


def prepare_for_inference(model: Transformer, precision: InferencePrecision) -> None:
    """Convert a model in place to a precision and to the fastest weight layout for decoding.

    The conversion is final: packed weights cannot be trained, saved, copied or moved to a device.
    """
    if precision == InferencePrecision.INT8:
        replace_linear_operators(model.float().requires_grad_(requires_grad=False), Int8Linear)
        return
    model.to(getattr(torch, precision.value))
    pack_weights(model, choose_packing(model.output.weight, read_processor()))
    transpose_weights(model)


def choose_packing(weight: Tensor, processor: Processor) -> Packing:
    """Return which matrices of a model with weights like `weight` are packed for oneDNN.

    The answer depends on the device, on the precision and on the kind of processor, never on a
    measurement: results must not change from one start to the next. In bfloat16 oneDNN's blocks are
    faster wherever it has instructions for them. In float32 torch's other library, MKL, is as fast
    or faster on Intel; on AMD oneDNN is faster with AVX-512, and without it for large matrices.
    """
    if weight.device.type != "cpu" or not has_onednn_operators():
        return Packing.NONE
    if weight.dtype == torch.bfloat16:
        return Packing.ALL if find_onednn_operator(HAS_BFLOAT16)() else Packing.NONE
    if weight.dtype != torch.float32 or processor.vendor != "AuthenticAMD":
        return Packing.NONE
    return Packing.ALL if "avx512f" in processor.features else Packing.LARGE


def pack_weights(model: Transformer, packing: Packing) -> None:
    """Replace the linear maps that `packing` names by ones with packed weights.

    Embeddings keep a separate, unpacked matrix.
    """
    replace_linear_operators(
        model, lambda one: PackedLinear(one) if is_packed(one.weight, packing) else one
    )


def is_packed(weight: Tensor, packing: Packing) -> bool:
    """Return whether `packing` stores a weight matrix of this size in oneDNN's blocks."""
    outputs, inputs = weight.shape
    large = packing == Packing.LARGE and weight.numel() >= LARGE_MATRIX and outputs > inputs
    return large or packing == Packing.ALL


def transpose_weights(model: Transformer) -> None:
    """Store every matrix that is not packed column by column: x Wᵀ is faster if x has few rows.

    A decoding step in float32 takes up to a seventh less time on a CPU (decision 0033), and as much
    as before on a GPU.
    """
    replace_linear_operators(model, TransposedLinear)


def describe_precision(model: Transformer) -> str:
    """Return the precision in which a model computes products: "float32", "bfloat16", "int8"."""
    if any(isinstance(module, Int8Linear) for module in model.modules()):
        return InferencePrecision.INT8.value
    return str(model.output.weight.dtype).removeprefix("torch.")


def read_weights(model: Transformer) -> dict[str, Tensor]:
    """Return all weights of a model by name, as before it was prepared for inference."""
    packed = {
        f"{name}.weight": module.unpack()
        for name, module in model.named_modules()
        if isinstance(module, PackedLinear) and module is not model.output_projection
    }
    return {**model.named_weights(), **packed}


def has_onednn_operators() -> bool:
    """Return whether this torch has the private operators that pack and multiply weights."""
    return all(map(find_onednn_operator, (PACK, LINEAR, f"{LINEAR}.binary", HAS_BFLOAT16)))


def find_onednn_operator(name: str) -> Any:  # noqa: ANN401
    """Return a private torch operator of oneDNN by name, or None if this torch lacks it."""
    operator, _, overload = name.partition(".")
    found = getattr(torch.ops.mkldnn, operator, None)
    return getattr(found, overload or "default", None)


@final
class PackedLinear(nn.Module):
    """The linear map x Wᵀ + b with W packed for oneDNN: replaces a `Linear` for inference."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        self.blocks = find_onednn_operator(PACK)(linear.weight.detach().contiguous())
        self.bias = linear.bias
        self.multiply = find_onednn_operator(LINEAR)
        self.multiply_and_add = find_onednn_operator(f"{LINEAR}.binary")

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        return self.multiply(x, self.blocks, self.bias, "none", [], "")

    def relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b) in one kernel."""
        return self.multiply(x, self.blocks, self.bias, "relu", [], "")

    def add(self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b in one kernel."""
        return self.multiply_and_add(x, residual, self.blocks, self.bias, "add")

    def unpack(self) -> Float[Tensor, "m n"]:
        """Return a copy of W in the ordinary layout."""
        return self.blocks.to_dense()

    if TYPE_CHECKING:
        __call__ = forward


@final
class TransposedLinear(nn.Module):
    """The linear map x Wᵀ + b with W stored column by column: replaces a `Linear` for inference."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        self.weight.data = self.weight.data.t().contiguous().t()
        self.columns = self.weight.detach().t()  # the same memory

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        if self.bias is None:
            return torch.mm(x, self.columns)
        return torch.addmm(self.bias, x, self.columns)

    def relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b)."""
        return self(x).relu_()

    def add(self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b."""
        out = torch.addmm(residual, x, self.columns)
        return out if self.bias is None else out.add_(self.bias)

    if TYPE_CHECKING:
        __call__ = forward
