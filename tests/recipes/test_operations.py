"""The operations that the formula counts, beside those that torch counts while a model runs."""

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from transduce.mixing import find_mixing
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.reproduce.layer_costs.measure import count_addcmul_operations
from transduce.settings import Architecture
from transduce.settings.counts import (
    TextSize,
    count_forward_operations,
    count_training_operations,
)

SYMBOLS = 50
SIZES: dict[str, Any] = {
    "layers": 2,
    "d_model": 16,
    "d_ff": 24,
    "heads": 2,
    "d_k": 6,
    "d_v": 4,
}
B, N, M = 3, 7, 5  # sentences of one length: nothing is padded anywhere
TEXT = TextSize(*map(float, (B * N, B * M, B * N**2, B * M**2, B * N * M)))


def counted(architecture: Architecture, *, backward: bool) -> int:
    """Operations of one forward pass, or of both, as torch counts them."""
    mixing = find_mixing(architecture)
    model = Transformer(architecture, SYMBOLS, SYMBOLS, build_mixing=mixing).train()
    model = model.double()  # so that torch has an LSTM's products one by one
    for weight in model.parameters():
        torch.nn.init.normal_(weight)
    source = Packed.from_sentences([range(2, 2 + N)] * B)
    target = Packed.from_sentences([range(2, 2 + M)] * B)
    rules = {torch.ops.aten.addcmul: count_addcmul_operations}
    with FlopCounterMode(display=False, custom_mapping=rules) as counter:
        states = model.decode(target.shift_right(1), model.encode(source))
        logits = model.logits(states)
        if backward:
            logits.sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"heads": 1, "d_k": 3, "d_v": 11},
        {"tie_embeddings": "none", "layers": 1},
        {"mixing": "convolution", "kernel_size": 5},
        {"mixing": "dilated"},
        {"mixing": "separable"},
        {"mixing": "recurrent"},
    ],
)
def test_a_forward_pass_takes_what_torch_counts(change):
    sizes = Architecture(**SIZES | change)
    assert count_forward_operations(sizes, SYMBOLS, TEXT) == pytest.approx(
        counted(sizes, backward=False), rel=0.01
    )


def test_a_backward_pass_takes_twice_a_forward_one():
    sizes = Architecture(**SIZES | {"layers": 4})
    assert count_training_operations(sizes, SYMBOLS, TEXT) == pytest.approx(
        counted(sizes, backward=True), rel=0.03
    )


def test_base_takes_about_six_operations_a_parameter_and_token():
    """A rule of thumb that others use; attention's pairs come on top, embeddings are looked up."""
    tokens = TextSize(*[25_000.0] * 2, *[25_000.0 * 25] * 3)
    rule = 6 * 25_000 * (44_101_632 + 512 * 37_000)
    assert count_training_operations(Architecture(), 37_000, tokens) == pytest.approx(
        rule, rel=0.05
    )
