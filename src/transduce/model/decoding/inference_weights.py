"""How the matrices of a model that only answers lie in memory    (decision 0034)"""

from typing import TYPE_CHECKING, Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.transformer import Transformer

# R rows · n numbers in, m out

REORDER, LINEAR = "_reorder_linear_weight", "_linear_pointwise"
ABLE = "_is_mkldnn_bf16_supported"


def prepare_for_inference(model: Transformer) -> None:
    """The same numbers, so that a product of few rows takes the least time.

    No way back: blocks cannot be trained, saved, copied or moved to another device.
    """
    (pack_weights if should_pack_weights(model.output.weight) else transpose_weights)(model)


def transpose_weights(model: Transformer) -> None:
    """Column by column: a product x Wᵀ of few rows reads W in that order.

    On a CPU a step of search in float32 takes up to a seventh less time (decision 0033); a GPU's
    products do not care.
    """
    products = [one for one in model.modules() if isinstance(one, nn.Linear)]
    for weight in (*(one.weight for one in products), model.output.weight):
        weight.data = weight.data.t().contiguous().t()


def pack_weights(model: Transformer) -> None:
    """In the blocks that the processor's matrix instructions take, made once and not each time.

    A symbol's vector is still looked up in the rows of its matrix.
    """
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Linear):
                setattr(module, name, PackedLinear(child.weight, child.bias))
    model.output.product = PackedLinear(model.output.weight)


def should_pack_weights(weight: Tensor) -> bool:
    """In bfloat16, where oneDNN takes it (AVX-512 or newer) and this torch has all functions."""
    mine = weight.device.type == "cpu" and weight.dtype == torch.bfloat16
    return (
        mine
        and all(map(find_onednn_operator, (REORDER, LINEAR, ABLE)))
        and find_onednn_operator(ABLE)()
    )


def find_onednn_operator(name: str) -> Any:  # noqa: ANN401
    """A function that torch's compiler calls, too, and that has no public name; None if gone."""
    return getattr(torch.ops.mkldnn, name, None)


@final
class PackedLinear(nn.Module):
    """x Wᵀ + b, W in blocks: what a Linear computes, without gradients."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.blocks = find_onednn_operator(REORDER)(weight.detach().contiguous())
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """One product."""
        return find_onednn_operator(LINEAR)(x, self.blocks, self.bias, "none", [], "")

    if TYPE_CHECKING:
        __call__ = forward
