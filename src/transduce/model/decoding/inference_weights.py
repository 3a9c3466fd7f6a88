"""Converts trained weights for inference: their precision and memory layout (decision 0034)"""

from typing import TYPE_CHECKING, Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.linear import Linear, replace_linear_operators
from transduce.model.transformer import Transformer
from transduce.settings.precision import InferencePrecision

# R rows · n numbers in, m out

# names of torch's private operators for oneDNN
PACK, LINEAR = "_reorder_linear_weight", "_linear_pointwise"
HAS_BFLOAT16 = "_is_mkldnn_bf16_supported"


def prepare_for_inference(model: Transformer, precision: InferencePrecision) -> None:
    """Convert a model in place to a precision and to the fastest weight layout for decoding.

    The conversion is final: packed weights cannot be trained, saved, copied or moved to a device.
    """
    model.to(getattr(torch, precision.value))
    (pack_weights if should_pack_weights(model.output.weight) else transpose_weights)(model)


def transpose_weights(model: Transformer) -> None:
    """Store every weight matrix column by column: x Wᵀ is faster if x has few rows.

    A decoding step in float32 takes up to a seventh less time on a CPU (decision 0033), and as much
    as before on a GPU.
    """
    for module in model.modules():
        if isinstance(module, Linear):
            module.weight.data = module.weight.data.t().contiguous().t()


def pack_weights(model: Transformer) -> None:
    """Replace every linear map by one with weights packed for the CPU's matrix instructions.

    Embeddings keep a separate, unpacked matrix.
    """
    replace_linear_operators(model, lambda linear: PackedLinear(linear.weight, linear.bias))


def should_pack_weights(weight: Tensor) -> bool:
    """Return whether `weight` is bfloat16 on a CPU for which oneDNN can pack it (AVX-512)."""
    fits = weight.device.type == "cpu" and weight.dtype == torch.bfloat16
    known = all(map(find_onednn_operator, (PACK, LINEAR, HAS_BFLOAT16)))
    return fits and known and find_onednn_operator(HAS_BFLOAT16)()


def find_onednn_operator(name: str) -> Any:  # noqa: ANN401
    """Return a private torch operator of oneDNN by name, or None if this torch lacks it."""
    return getattr(torch.ops.mkldnn, name, None)


@final
class PackedLinear(nn.Module):
    """The linear map x Wᵀ + b with W packed for oneDNN: replaces a `Linear` for inference."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.blocks = find_onednn_operator(PACK)(weight.detach().contiguous())
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        return find_onednn_operator(LINEAR)(x, self.blocks, self.bias, "none", [], "")

    if TYPE_CHECKING:
        __call__ = forward
