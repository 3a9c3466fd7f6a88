"""The linear map x Wᵀ + b with W stored by columns, in oneDNN's blocks, or packed for MKL

Each class replaces a `Linear` for inference, computes no gradients, and equals it up to rounding.
"""

import functools
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.fast.onednn import (
    BLOCK,
    LINEAR_ADD,
    PackedModule,
    find_operator,
    multiply_by_onednn,
    script_if_traced,
)
from transduce.machine.process_settings import release_freed_memory
from transduce.paper.model import Linear

# R rows · n numbers in, m out

# names of torch's private operators for MKL
MKL_PACK, MKL_LINEAR = "mkl._mkl_reorder_linear_weight", "mkl._mkl_linear"

MKL_ROWS = 256  # rows of x to pack for: the packed form for 256 or more is the fastest


# Traced, a call would keep the number of rows that it was traced with.
@script_if_traced
def multiply_by_mkl(x: Tensor, packed: Tensor, shape: Tensor, bias: Tensor | None) -> Tensor:
    """Compute x Wᵀ + b with W packed for MKL."""
    return torch.ops.mkl._mkl_linear(x, packed, shape, bias, x.size(0))  # noqa: SLF001


@final
class TransposedLinear(nn.Module):
    """The linear map x Wᵀ + b with W stored column by column, which is faster for few rows of x.

    A decoding step in float32 takes up to a seventh less time on a CPU (decision 0034), and the
    same time on a GPU.
    """

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


@final
class OneDnnLinear(PackedModule):
    """The linear map x Wᵀ + b with W packed in blocks for oneDNN."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        blocks = find_operator(BLOCK)(linear.weight.detach().contiguous())
        self.register_buffer("blocks", blocks, persistent=False)  # else it cannot be in a graph
        self.blocks: Tensor
        self.bias = linear.bias
        self.multiply_and_add = find_operator(LINEAR_ADD)

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        return multiply_by_onednn(x, self.blocks, self.bias, "none")

    def relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b) in one kernel."""
        return multiply_by_onednn(x, self.blocks, self.bias, "relu")

    def add(self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b in one kernel."""
        return self.multiply_and_add(x, residual, self.blocks, self.bias, "add")

    def unpack(self) -> Float[Tensor, "m n"]:
        """Return a copy of W in the ordinary layout."""
        return self.blocks.to_dense()

    if TYPE_CHECKING:
        __call__ = forward


@final
class MklLinear(PackedModule):
    """The linear map x Wᵀ + b with W packed for MKL."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        weight = linear.weight.detach().contiguous()
        # MKL allocates some 8 MB more than it fills, which cost nothing on untouched pages
        release_freed_memory()
        packed = find_operator(MKL_PACK)(weight, MKL_ROWS)
        self.register_buffer("packed", packed, persistent=False)  # else it cannot be in a graph
        self.packed: Tensor
        self.bias = linear.bias
        # The kernel reads only the shape of W. It would multiply with W if it were told another
        # number of rows than x has.
        shape = weight.new_full((1, 1), torch.nan).expand(weight.shape)
        self.register_buffer("shape", shape, persistent=False)
        self.shape: Tensor

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        return multiply_by_mkl(x, self.packed, self.shape, self.bias)

    def relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b)."""
        return self(x).relu_()

    def add(self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b."""
        return self(x).add_(residual)

    def unpack(self) -> Float[Tensor, "m n"]:
        """Return a copy of W in the ordinary layout, computed as products with unit vectors."""
        inputs = self.shape.shape[1]
        unit_vectors = torch.eye(inputs)
        return multiply_by_mkl(unit_vectors, self.packed, self.shape, None).t().contiguous()

    if TYPE_CHECKING:
        __call__ = forward


@functools.cache
def has_mkl_packing() -> bool:
    """Return whether this torch multiplies any number of rows with a matrix that MKL packed."""
    if not all(map(find_operator, (MKL_PACK, MKL_LINEAR))):
        return False
    linear = Linear(8, 6, bias=False)
    nn.init.normal_(linear.weight, generator=torch.Generator().manual_seed(1))
    try:
        product = MklLinear(linear)(torch.eye(8))
    except (RuntimeError, NotImplementedError):
        return False  # a torch without MKL
    return torch.allclose(product, linear.weight.t())
