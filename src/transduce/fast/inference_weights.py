"""Conversion of trained weights for inference: precision and memory layout (decision 0037)

A linear map x Wᵀ + b has W stored by columns, in oneDNN's blocks, or packed for MKL. Each class
replaces a `Linear`, computes no gradients, and equals it up to rounding.
"""

import functools
from collections.abc import Callable
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.fast.onednn import (
    BLOCK,
    LINEAR_ADD,
    DecodingLinear,
    PackedModule,
    find_operator,
    has_onednn_bfloat16,
    has_onednn_operators,
    multiply_by_onednn,
    script_if_traced,
)
from transduce.fast.unchanged import is_changed
from transduce.machine.device import Processor, read_processor
from transduce.machine.process_settings import release_freed_memory
from transduce.paper.model import Linear, Transformer
from transduce.settings.search import InferencePrecision

# R rows · n numbers in, m out

# names of torch's private operators for MKL
MKL_PACK, MKL_LINEAR = "mkl._mkl_reorder_linear_weight", "mkl._mkl_linear"

MKL_ROWS = 256  # rows of x that W is packed for; packing for 256 or more rows is fastest


# A traced call would keep the number of rows that it was traced with.
@script_if_traced
def multiply_by_mkl(x: Tensor, packed: Tensor, shape: Tensor, bias: Tensor | None) -> Tensor:
    """Compute x Wᵀ + b with W packed for MKL; `shape` is any tensor of the shape of W."""
    return torch.ops.mkl._mkl_linear(x, packed, shape, bias, x.size(0))  # noqa: SLF001


@final
class TransposedLinear(DecodingLinear):
    """The linear map x Wᵀ + b with W stored column by column, which is faster for few rows of x.

    A decoding step in float32 takes up to a seventh less time on a CPU (decision 0034), and the
    same time on a GPU.
    """

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        self.weight.data = self.weight.data.t().contiguous().t()
        self.columns = self.weight.detach().t()  # a view, not a copy

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        if self.bias is None:
            return torch.mm(x, self.columns)
        return torch.addmm(self.bias, x, self.columns)

    def forward_add(
        self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]
    ) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b."""
        out = torch.addmm(residual, x, self.columns)
        return out if self.bias is None else out.add_(self.bias)


@final
class OneDnnLinear(DecodingLinear, PackedModule):
    """The linear map x Wᵀ + b with W packed in blocks for oneDNN."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        blocks = find_operator(BLOCK)(linear.weight.detach().contiguous())
        # a buffer, since a traced graph cannot hold a packed tensor as a constant
        self.register_buffer("blocks", blocks, persistent=False)
        self.blocks: Tensor
        self.bias = linear.bias
        self.multiply_and_add = find_operator(LINEAR_ADD)

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        return multiply_by_onednn(x, self.blocks, self.bias, "none")

    def forward_relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b) in one kernel."""
        return multiply_by_onednn(x, self.blocks, self.bias, "relu")

    def forward_add(
        self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]
    ) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b in one kernel."""
        return self.multiply_and_add(x, residual, self.blocks, self.bias, "add")

    def unpack(self) -> Float[Tensor, "m n"]:
        """Return a copy of W in the ordinary layout."""
        return self.blocks.to_dense()


@final
class MklLinear(DecodingLinear, PackedModule):
    """The linear map x Wᵀ + b with W packed for MKL."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        weight = linear.weight.detach().contiguous()
        # MKL allocates 8 MB that it never writes; fresh from the system, they take no memory
        release_freed_memory()
        packed = find_operator(MKL_PACK)(weight, MKL_ROWS)
        self.register_buffer("packed", packed, persistent=False)  # a buffer, as in `OneDnnLinear`
        self.packed: Tensor
        self.bias = linear.bias
        # The kernel reads only the shape of W, unless it is told another number of rows than x
        # has. Then it multiplies by W, which is NaN here so that the error cannot pass unseen.
        shape = weight.new_full((1, 1), torch.nan).expand(weight.shape)
        self.register_buffer("shape", shape, persistent=False)
        self.shape: Tensor

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        return multiply_by_mkl(x, self.packed, self.shape, self.bias)

    def unpack(self) -> Float[Tensor, "m n"]:
        """Return a copy of W in the ordinary layout, computed as products with unit vectors."""
        inputs = self.shape.shape[1]
        unit_vectors = torch.eye(inputs)
        return multiply_by_mkl(unit_vectors, self.packed, self.shape, None).t().contiguous()


@functools.cache
def has_mkl_packing() -> bool:
    """Return whether torch multiplies by MKL-packed matrices for any number of rows of x."""
    if not all(map(find_operator, (MKL_PACK, MKL_LINEAR))):
        return False
    linear = Linear(8, 6, bias=False)
    nn.init.normal_(linear.weight, generator=torch.Generator().manual_seed(1))
    try:
        product = MklLinear(linear)(torch.eye(8))
    except (RuntimeError, NotImplementedError):
        return False  # a torch without MKL
    return torch.allclose(product, linear.weight.t())


# a matrix with fewer weights is slower packed, since each call of oneDNN costs 17 µs
SMALL_FOR_ONEDNN = 2**17
# a matrix with at least this many weights is faster in packed form
LARGE_FOR_ONEDNN = 2**20  # 4 MB: larger than the cache of a core
LARGE_FOR_MKL = 2**18  # 256 × 1,024 or 512 × 512


def prepare_for_inference(model: Transformer, precision: InferencePrecision) -> None:
    """Convert a model in place to a precision and to the fastest weight layout for decoding.

    The conversion is final: packed weights cannot be trained, saved, copied or moved to a device.
    """
    if precision == InferencePrecision.INT8:
        from transduce.fast.int8 import build_int8

        replace_linear_modules(model.float().requires_grad_(requires_grad=False), build_int8)
        release_freed_memory()  # the float32 weights have been replaced
    else:
        model.to(getattr(torch, precision.value))
        processor = read_processor()
        replace_linear_modules(model, lambda one, _: choose_layout(one.weight, processor)(one))


def replace_linear_modules(
    model: nn.Module, build: Callable[[Linear, nn.Module], nn.Module]
) -> None:
    """Replace every `Linear` in a model by `build(linear, its parent)`, in place.

    Modules of derived classes stay, and so do embeddings that are tied to the output matrix. All
    stay if the code of `Linear` in `paper/` was changed. Each old weight is freed before the next
    one is built.
    """
    if is_changed(Linear.__name__):
        return
    parents = [module for module in model.modules() if not isinstance(module, Linear)]
    for parent in parents:
        names = [name for name, child in parent.named_children() if type(child) is Linear]
        for name in names:
            setattr(parent, name, build(getattr(parent, name), parent))


def choose_layout(weight: Tensor, processor: Processor) -> type[DecodingLinear]:
    """Return the class of linear map that stores a weight in the layout fastest for search.

    The choice depends on the device, the matrix' precision and size, and the kind of processor, but
    on no measurement, so that results do not change from one start to the next. In bfloat16
    oneDNN's blocks are faster wherever the processor has instructions for bfloat16.
    """
    if weight.device.type != "cpu":
        return TransposedLinear
    if weight.dtype == torch.float32:
        return choose_float32_layout(weight, processor)
    is_packed = weight.dtype == torch.bfloat16 and has_onednn_bfloat16()
    return OneDnnLinear if is_packed else TransposedLinear


def choose_float32_layout(weight: Tensor, processor: Processor) -> type[DecodingLinear]:
    """Return the class of linear map with the fastest layout of a float32 matrix on a CPU.

    On Intel, MKL is as fast as oneDNN or faster, and with AVX-512 it is faster still if large
    matrices are packed. On AMD, oneDNN is faster with AVX-512 for all but small matrices; without
    AVX-512, only for large matrices that have more outputs than inputs.
    """
    has_avx512 = "avx512f" in processor.features
    if processor.vendor == "GenuineIntel" and has_avx512 and weight.numel() >= LARGE_FOR_MKL:
        return MklLinear if has_mkl_packing() else TransposedLinear
    outputs, inputs = weight.shape
    is_wide = outputs > inputs or has_avx512
    least = SMALL_FOR_ONEDNN if has_avx512 else LARGE_FOR_ONEDNN
    if processor.vendor == "AuthenticAMD" and is_wide and weight.numel() >= least:
        return OneDnnLinear if has_onednn_operators() else TransposedLinear
    return TransposedLinear
