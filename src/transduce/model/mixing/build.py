"""How the positions of a sentence exchange information: the layers of Table 1    (section 4)

Any of them stands in self-attention's place; the rest of the model stays as it is. In the encoder
they reach to both sides, in the decoder to the past only. Each says what a step of decoding leaves
for later ones (`kept`: heads and two widths) and for how many steps (`reach`).
"""

from transduce.model.attention.multi_head import SelfAttention
from transduce.model.mixing.convolution import ConvolutionLayer, FullProjection, SeparableProjection
from transduce.model.mixing.recurrent import RecurrentLayer
from transduce.settings import Architecture

FAR = 1 << 20  # no sentence is as long: a wider dilation reaches nobody more

Mixing = SelfAttention | RecurrentLayer | ConvolutionLayer


def build_mixing(sizes: Architecture, number: int, *, causal: bool) -> Mixing:
    """The mixing of layer `number`, from 0, that a recipe asks for."""
    if sizes.mixing == "self-attention":
        return SelfAttention(sizes)
    if sizes.mixing == "recurrent":
        return RecurrentLayer(sizes.d_model, causal=causal)
    weigh = SeparableProjection if sizes.mixing == "separable" else FullProjection
    side = sizes.kernel_size - 1 if causal else sizes.kernel_size // 2
    dilation = compute_dilation(side, number) if sizes.mixing == "dilated" else 1
    offsets = [dilation * (place - side) for place in range(sizes.kernel_size)]
    return ConvolutionLayer(offsets, weigh(sizes.kernel_size, sizes.d_model))


def compute_dilation(side: int, number: int) -> int:
    """How far apart the places of layer `number` lie, of kernels with so many on a side.

    The wider steps of upper layers begin where those below end, so every place is reached by steps
    in one direction. Wider ones would need steps back, and at its ends these leave the sentence.
    """
    return min((side + 1) ** number, FAR)
