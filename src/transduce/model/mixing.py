"""How the positions of a sentence exchange information: the layers of Table 1    (section 4)

Any of them stands in self-attention's place; the rest of the model stays as it is. In the encoder
they reach to both sides, in the decoder to the past only. Each says what a step of decoding leaves
for later ones (`kept`: heads and two widths) and for how many steps (`reach`).
"""

from transduce.model.attention import SelfAttention
from transduce.model.convolution import Convolution, Separable, Whole
from transduce.model.recurrent import Recurrent
from transduce.settings import Architecture

FAR = 1 << 20  # no sentence is as long: a wider dilation reaches nobody more


Mixing = SelfAttention | Recurrent | Convolution


def mixing_of(sizes: Architecture, number: int, *, past_only: bool) -> Mixing:
    """The mixing of layer `number`, from 0, that a recipe asks for."""
    if sizes.mixing == "self-attention":
        return SelfAttention(sizes)
    if sizes.mixing == "recurrent":
        return Recurrent(sizes.d_model, past_only=past_only)
    dilation = min(sizes.kernel**number, FAR) if sizes.mixing == "dilated" else 1
    weigh = Separable if sizes.mixing == "separable" else Whole
    first = 1 - sizes.kernel if past_only else (1 - sizes.kernel) // 2
    offsets = [dilation * (first + place) for place in range(sizes.kernel)]
    return Convolution(offsets, weigh(sizes.kernel, sizes.d_model))
