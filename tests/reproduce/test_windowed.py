from dataclasses import replace

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes, states_of
from tests.reference.attention import ReferenceAttention

from transduce.paper.operations import FULL_ATTENTION, PLAIN, AttentionMask
from transduce.reproduce.layer_costs.windowed import WindowedAttention, build_windowed_attention

LENGTHS = (5, 1, 9, 3)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("r", [1, 3, 5, 31])
def test_windows_give_what_the_reference_kernel_gives(r, causal):
    mask = AttentionMask(neighbourhood=r, causal=causal)
    generator = torch.Generator().manual_seed(r)
    shapes = [(18, 2, 3), (18, 2, 3), (18, 2, 5)]
    parts = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
    direction = torch.randn(18, 2, 5, generator=generator, dtype=torch.float64)
    found = []
    for build in (build_windowed_attention, ReferenceAttention):
        fresh = [part.clone().requires_grad_() for part in parts]
        q, k, v = fresh
        out = build(LENGTHS, LENGTHS, mask)(q, k, v)
        (out * direction).sum().backward()
        found.append([out.detach(), *(part.grad for part in fresh)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_a_restricted_model_has_the_same_states_with_windows():
    found = []
    for build in (build_windowed_attention, ReferenceAttention):
        architecture = sizes(encoder_neighbourhood=3, decoder_neighbourhood=5)
        model = model_of(architecture, operations=replace(PLAIN, attention=build))
        found.append(states_of(model, packed(LENGTHS), packed((2, 6, 1, 8))))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_without_a_neighbourhood_there_are_no_windows():
    windowed = build_windowed_attention((3,), (3,), AttentionMask(neighbourhood=3))
    assert isinstance(windowed, WindowedAttention)
    assert not isinstance(build_windowed_attention((3,), (4,), FULL_ATTENTION), WindowedAttention)
