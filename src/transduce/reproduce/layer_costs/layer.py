"""A single layer of Table 1, built as in a model, for one sentence of n positions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.equip import choose_operations
from transduce.mixing import find_mixing
from transduce.mixing.layers import ConvolutionLayer, RecurrentLayer
from transduce.paper.model import SelfAttention, initialise
from transduce.reproduce.layer_costs.kinds import LayerKind
from transduce.settings import Architecture

# The type for counts and paths. Torch has no fused float64 LSTM, so that each product is seen, and
# a small gradient over a long path does not round to 0.
EXACT = torch.float64
HEADS = 8  # as in the paper's base model; d_k = d_v = d / h


@final
@dataclass(frozen=True)
class MeasuredLayer:
    """A token-mixing layer of Table 1, ready to be applied to one sentence of n positions."""

    kind: LayerKind
    sizes: Architecture
    mixing: SelfAttention | RecurrentLayer | ConvolutionLayer
    context: Any  # what `mixing.bind` returns for a sentence of n positions
    n: int

    def __call__(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """Apply the token-mixing layer to the n vectors of one sentence."""
        return self.mixing(x, self.context)

    def random_sentence(self, dtype: torch.dtype) -> Float[Tensor, "n d"]:
        """Return n random vectors of width d that require gradients, equal at every call."""
        generator = torch.Generator().manual_seed(self.n)
        shape = (self.n, self.sizes.d_model)
        return torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()

    def build_update(self) -> Callable[[], None]:
        """Return a function that runs a forward and a backward pass of the layer in float32."""
        x = self.random_sentence(torch.float32)

        def forward_and_back() -> None:
            self.mixing.zero_grad()
            x.grad = None
            self(x).sum().backward()

        return forward_and_back


def build_sizes(kind: LayerKind, d: int, k: int, r: int) -> Architecture:
    """Build a model's settings for a kind of layer, width d, kernel width k, neighbourhood r."""
    return Architecture(
        d_model=d,
        heads=HEADS,
        d_k=d // HEADS,
        d_v=d // HEADS,
        mixing=kind.mixing,
        kernel_size=k,
        encoder_neighbourhood=r if kind.restricted else 0,
        decoder_neighbourhood=r if kind.restricted else 0,
    )


def build_layer(
    kind: LayerKind,
    n: int,
    sizes: Architecture,
    index: int = 0,
    *,
    dtype: torch.dtype = torch.float32,
    causal: bool = False,
) -> MeasuredLayer:
    """Build the sub-layer `kind` of encoder layer `index` (of a decoder layer if `causal`).

    The layer is for a sentence of n positions, and computes attention with the kernel that models
    use on a CPU. `index` counts from 0 and seeds the initial weights.
    """
    mixing = find_mixing(sizes)(sizes, index, causal=causal)
    initialise(mixing, torch.Generator().manual_seed(index))
    operations = choose_operations(sizes, torch.device("cpu"), dtype)
    return MeasuredLayer(kind, sizes, mixing.to(dtype), mixing.bind(operations, (n,)), n)
