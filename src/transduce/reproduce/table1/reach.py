"""How far a word must travel: the maximum path length, measured by gradients.

Where all positions are computed at once, one layer is one step of the way: the path length is the
smallest number of layers after which every output depends on every input, in a decoder on every
input that is not later. Where a layer goes along the sentence, each position is a step: it is the
number of states that the gradient of the last output passes on its way to the first input, its own
among them.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.initialise import initialise
from transduce.model.mixing.recurrent import RecurrentLayer
from transduce.reproduce.table1.kinds import Kind
from transduce.reproduce.table1.layer import Layer, stack_of
from transduce.settings import Architecture

WIDE = 16  # d, of which no path depends
EXACT = torch.float64  # a gradient over long ways is small, and must not be taken for none


def path_length(kind: Kind, n: int, sizes: Architecture, *, causal: bool) -> int:
    """Of a sentence of n words, in an encoder or a decoder."""
    if kind.mixing == "recurrent":
        return states_passed(n, sizes)

    def reaches(layers: int) -> bool:
        stack = stack_of(kind, n, sizes, layers, causal=causal)
        return every_output_sees_all(stack, causal=causal)

    return fewest(reaches, most=n)


def fewest(enough: Callable[[int], bool], most: int) -> int:
    """The smallest number that is enough, when all larger ones are."""
    low, high = 0, 1
    while not enough(high):
        assert high < most, "every layer reaches the next position at least"
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def every_output_sees_all(stack: Sequence[Layer], *, causal: bool) -> bool:
    """All inputs, or those up to its own place; the ends, which are farthest, are asked first."""
    x = stack[0].words(EXACT)
    y: Float[Tensor, "n d"] = x
    for layer in stack:
        y = layer(y)
    last = len(y) - 1
    places = [last, *range(last)]
    return all(felt_by(y[place], x)[: place + 1 if causal else None].all() for place in places)


def felt_by(output: Float[Tensor, " d"], x: Float[Tensor, "n d"]) -> Tensor:
    """Which inputs an output depends on."""
    (gradient,) = torch.autograd.grad(output.sum(), x, retain_graph=True)
    return gradient.ne(0).any(dim=1)


def states_passed(n: int, sizes: Architecture) -> int:
    """How many states of an LSTM the first word comes through, the last output among them."""
    layer = RecurrentLayer(sizes.d_model, causal=True).to(EXACT)
    initialise(layer, torch.Generator().manual_seed(0))
    x = torch.randn(n, 1, sizes.d_model, dtype=EXACT).requires_grad_()
    state, sides = None, []
    for word in x[:-1]:
        _, state = layer.lstm(word, state)
        sides += state
    last, _ = layer.lstm(x[-1], state)
    on_x, *felt = torch.autograd.grad(last.sum(), [x, *sides])
    assert on_x[0].any(), "the last output depends on the first word"
    passed = [h.any() or c.any() for h, c in zip(felt[::2], felt[1::2], strict=True)]
    return sum(map(bool, passed)) + 1
