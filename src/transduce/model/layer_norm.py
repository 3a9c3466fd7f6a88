"""Layer normalisation    (section 3.1)

In bfloat16 on a CPU torch adds the tokens' gradients of gain and bias one after another in
bfloat16, where a sum soon outgrows what is added to it. Here products with rows of factors compute
these sums, which oneDNN adds in float32 (decision 0046).
"""

from typing import TYPE_CHECKING, Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from transduce.machine.device import is_bfloat16_training_on_cpu
from transduce.model.bfloat16_linear import weighted_sums
from transduce.settings import Architecture

# T tokens of a batch, end to end


@final
class LayerNorm(nn.LayerNorm):
    """Layer normalisation over d_model numbers, with a gain and a bias for each    (section 3.1)"""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__(sizes.d_model, eps=sizes.norm_epsilon)

    def forward(self, x: Float[Tensor, "T d_model"]) -> Float[Tensor, "T d_model"]:
        """Compute gain · (x - mean) / √(variance + ε) + bias for every token."""
        if not is_bfloat16_training_on_cpu(x):
            return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        out: Tensor = Bfloat16NormFunction.apply(x, self.weight, self.bias, self.eps)
        return out

    def initialise(self, generator: torch.Generator) -> None:  # noqa: ARG002 - nothing is drawn
        """Set the gain to 1 and the bias to 0."""
        self.reset_parameters()

    if TYPE_CHECKING:
        __call__ = forward


class Bfloat16NormFunction(torch.autograd.Function):
    """Autograd function of layer normalisation in bfloat16, with sums over tokens in float32."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor, bias: Tensor, epsilon: float) -> Tensor:  # noqa: ANN401
        """Compute gain · (x - mean) / √(variance + ε) + bias for every token."""
        out, mean, scale = torch.native_layer_norm(x, gain.shape, gain, bias, epsilon)
        ctx.save_for_backward(x, gain, bias, mean, scale)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:  # noqa: ANN401
        """Return the gradients of x, gain and bias."""
        x, gain, bias, mean, scale = ctx.saved_tensors
        only_x = [True, False, False]
        d_x, _, _ = torch.ops.aten.native_layer_norm_backward(
            d_out, x, gain.shape, mean, scale, gain, bias, only_x
        )
        # Σ_t d_out (x - mean) · scale = Σ_t scale · d_out x - Σ_t scale · mean · d_out
        scales = scale.t()  # [1 T]
        factors = torch.cat((torch.ones_like(scales), scales * mean.t()))  # [2 T]
        d_bias, shift = weighted_sums(factors, d_out)
        return d_x, weighted_sums(scales, d_out * x)[0] - shift, d_bias, None
