"""Build the mixing layer that a recipe asks for: self-attention or another of Table 1    (section 4)

Any of them takes self-attention's place; the rest of the model stays as it is. In the encoder they
reach to both sides, in the decoder to the past only.
"""

from typing import cast

from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.multi_head import SelfAttention
from transduce.model.mixing.convolution import (
    ConvolutionLayer,
    FullProjection,
    SeparableProjection,
)
from transduce.model.mixing.mixing import Mixing, MixingContext
from transduce.model.mixing.recurrent import RecurrentLayer
from transduce.settings import Architecture

MAX_DILATION = 1 << 20  # no sentence is as long: a wider dilation reaches no further


def build_mixing(sizes: Architecture, number: int, *, causal: bool) -> Mixing[MixingContext]:
    """Build the mixing of layer `number`, from 0, that a recipe asks for."""
    layer = build_mixing_layer(sizes, number, causal=causal)
    return cast("Mixing[MixingContext]", layer)  # it is only given the context that it built


def build_mixing_layer(
    sizes: Architecture, number: int, *, causal: bool
) -> SelfAttention | RecurrentLayer | ConvolutionLayer:
    """Build the layer of `architecture.mixing` as a module of its own class."""
    if sizes.mixing == "self-attention":
        r = sizes.decoder_neighbourhood if causal else sizes.encoder_neighbourhood
        return SelfAttention(sizes, AttentionMask(causal=causal, neighbourhood=r))
    if sizes.mixing == "recurrent":
        return RecurrentLayer(sizes.d_model, causal=causal)
    projection = SeparableProjection if sizes.mixing == "separable" else FullProjection
    side = sizes.kernel_size - 1 if causal else sizes.kernel_size // 2
    dilation = compute_dilation(side, number) if sizes.mixing == "dilated" else 1
    offsets = [dilation * (index - side) for index in range(sizes.kernel_size)]
    return ConvolutionLayer(offsets, projection(sizes.kernel_size, sizes.d_model))


def compute_dilation(side: int, number: int) -> int:
    """Return the distance between the positions of a kernel with `side` of them on a side.

    The wider steps of upper layers begin where those below end, so every position is reached by
    steps in one direction. Wider ones would need steps back, which leave the sentence at its ends.
    """
    return min((side + 1) ** number, MAX_DILATION)
