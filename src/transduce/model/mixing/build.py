"""Builds the token-mixing layer that a recipe names: self-attention or another layer of Table 1.

The layer takes the place of self-attention (section 4); the rest of the model is the same. In the
encoder a position depends on earlier and later positions, in the decoder on earlier ones only.
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

MAX_DILATION = 1 << 20  # longer than any sentence: larger values would change nothing


def build_mixing(sizes: Architecture, number: int, *, causal: bool) -> Mixing[MixingContext]:
    """Build the token-mixing sub-layer of encoder (decoder if `causal`) layer `number`, from 0."""
    layer = build_mixing_layer(sizes, number, causal=causal)
    return cast("Mixing[MixingContext]", layer)  # each layer receives only contexts that it built


def build_mixing_layer(
    sizes: Architecture, number: int, *, causal: bool
) -> SelfAttention | RecurrentLayer | ConvolutionLayer:
    """Build layer `number`'s self-attention, LSTM or convolution, without a future if `causal`."""
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
    """Return (side + 1)^number: the dilation of layer `number` with `side` neighbours to the left.

    This dilation is 1 more than the layers below reach together, so that a path in one direction
    leads to every position. With a larger dilation some positions could be reached only by steps
    back, which lead out of the sentence near its ends.
    """
    return min((side + 1) ** number, MAX_DILATION)
