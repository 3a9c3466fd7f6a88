"""Measure the maximum path length between two positions by gradients    (section 4)

If a layer computes all positions at once, the path length is the smallest number of layers after
which every output depends on every input (in a decoder: on every input up to its position). In a
recurrent layer, the path length is the number of states through which the gradient of the last
output flows back to the first input, the states of the first and the last position included.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.mixing.layers import RecurrentLayer
from transduce.paper.model import initialise
from transduce.reproduce.layer_costs.kinds import LayerKind
from transduce.reproduce.layer_costs.layer import EXACT, MeasuredLayer, build_layer
from transduce.settings import Architecture

WIDE = 16  # the width d of the layers; path lengths do not depend on it


def measure_path_length(kind: LayerKind, n: int, sizes: Architecture, *, causal: bool) -> int:
    """Measure the maximum path length between n positions of an encoder (decoder if `causal`)."""
    if kind.mixing == "recurrent":
        return count_states_passed(n, sizes)

    def reaches(layers: int) -> bool:
        stack = [
            build_layer(kind, n, sizes, index, dtype=EXACT, causal=causal)
            for index in range(layers)
        ]
        return has_full_dependence(stack, causal=causal)

    return find_smallest_sufficient(reaches, most=n)


def find_smallest_sufficient(enough: Callable[[int], bool], most: int) -> int:
    """Return the smallest number from 1 to `most` for which `enough` is true, by bisection."""
    low, high = 0, 1
    while not enough(high):
        assert high < most, "every layer reaches the next position at least"
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def has_full_dependence(stack: Sequence[MeasuredLayer], *, causal: bool) -> bool:
    """Return whether every output depends on every input (if `causal`, on inputs up to it)."""
    x = stack[0].random_sentence(EXACT)
    y: Float[Tensor, "n d"] = x
    for layer in stack:
        y = layer(y)
    last = len(y) - 1
    positions = [last, *range(last)]  # the last has the longest path
    for i in positions:
        (gradient,) = torch.autograd.grad(y[i].sum(), x, retain_graph=True)
        if not gradient[: i + 1 if causal else None].ne(0).any(dim=1).all():
            return False
    return True


def count_states_passed(n: int, sizes: Architecture) -> int:
    """Return how many states an LSTM's gradient passes from output n back to input 1    (Table 1)

    This is a recurrent layer's maximum path length. The states of the first and the last position
    are counted, too.
    """
    layer = RecurrentLayer(sizes.d_model, causal=True).to(EXACT)
    initialise(layer, torch.Generator().manual_seed(0))
    x = torch.randn(n, 1, sizes.d_model, dtype=EXACT).requires_grad_()
    state, states = None, []
    for vector in x[:-1]:
        _, state = layer.lstm(vector, state)
        states += state
    last, _ = layer.lstm(x[-1], state)
    x_gradient, *gradients = torch.autograd.grad(last.sum(), [x, *states])
    assert x_gradient[0].any(), "the last output depends on the first input"
    passed = [h.any() or c.any() for h, c in zip(gradients[::2], gradients[1::2], strict=True)]
    return sum(map(bool, passed)) + 1
