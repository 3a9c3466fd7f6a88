"""What torch's kernel is given; a plain twin of its documentation stands in its place."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fast.test_kernels import CPU, MASKS, inputs, with_gradients
from tests.fast.tiny import with_attention
from tests.model.tiny import model_of, packed, sizes, states_of
from tests.reference.attention import ReferenceAttention
from tests.reference.varlen import varlen_attn

from transduce.fast import varlen as variable_length
from transduce.fast.varlen import (
    VarlenAttention,
    compute_offsets,
    compute_window,
    round_up_to_power_of_two,
)
from transduce.paper.operations import FULL_ATTENTION, AttentionMask


@pytest.fixture(autouse=True)
def _slow_twin(monkeypatch):
    monkeypatch.setattr(variable_length, "import_varlen_kernel", lambda: varlen_attn)


def require_equal(lengths, mask, tensors, tolerance):
    ours = with_gradients(VarlenAttention, lengths, mask, tensors)
    plain = with_gradients(ReferenceAttention, lengths, mask, tensors)
    for one, other in zip(ours, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("widths", [(8, 8), (3, 4), (16, 8), (4, 11)])
def test_it_equals_the_reference_kernel_gradients_included(mask, widths):
    """Also where keys and values differ in width: zeros fill the narrower ones."""
    lengths = [3, 1, 7, 4]
    tensors = inputs(lengths, lengths, d_k=widths[0], d_v=widths[1])
    require_equal((lengths, lengths), mask, tensors, 1e-12)


def test_in_float32_it_equals_the_reference_kernel_to_rounding():
    lengths = ([2, 5, 1], [4, 1, 6])
    tensors = [x.detach().float().requires_grad_() for x in inputs(*lengths, d_k=16, d_v=8)]
    require_equal(lengths, FULL_ATTENTION, tensors, 1e-5)


def test_queries_and_keys_may_have_different_lengths():
    require_equal(([2, 5, 1], [4, 1, 6]), FULL_ATTENTION, inputs([2, 5, 1], [4, 1, 6]), 1e-12)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=20), st.sampled_from(MASKS))
def test_any_lengths_under_any_mask(lengths, mask):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variable_length, "import_varlen_kernel", lambda: varlen_attn)
        require_equal((lengths, lengths), mask, inputs(lengths, lengths, heads=1), 1e-12)


@pytest.mark.parametrize(
    ("mask", "window"),
    [
        (AttentionMask(), (-1, -1)),
        (AttentionMask(causal=True), (-1, 0)),
        (AttentionMask(neighbourhood=5), (2, 2)),
        (AttentionMask(causal=True, neighbourhood=5), (2, 0)),
        (AttentionMask(neighbourhood=1), (0, 0)),
    ],
)
def test_a_mask_is_a_window(mask, window):
    assert compute_window(mask) == window


def test_empty_sentences_round_the_number_of_offsets_up():
    assert compute_offsets([3, 1, 7]).tolist() == [0, 3, 4, *[11] * 14]
    assert len(compute_offsets([1] * 16)) == 17
    assert len(compute_offsets([1] * 17)) == 33
    assert compute_offsets([2]).dtype == torch.int32


def test_the_bound_of_a_length_is_a_power_of_two():
    assert [round_up_to_power_of_two(n) for n in (1, 16, 17, 64, 65)] == [16, 16, 32, 64, 128]
    assert VarlenAttention([3, 40], [200, 5], FULL_ATTENTION, CPU).longest == (64, 256)


def test_dropout_on_the_weights_is_refused():
    q, k, v = inputs([2], [2])
    with pytest.raises(AssertionError, match="drops no weights"):
        VarlenAttention([2], [2], FULL_ATTENTION, CPU)(q, k, v, 0.1)


@pytest.mark.parametrize("changes", [{}, {"encoder_neighbourhood": 3, "decoder_neighbourhood": 5}])
def test_a_whole_model_computes_the_same_with_it(changes):
    source, target = packed([4, 2, 9]), packed([3, 6, 5], seed=5)
    found = [
        states_of(model_of(sizes(**changes), operations=with_attention(kernel)), source, target)
        for kernel in (VarlenAttention, ReferenceAttention)
    ]
    for ours, plain in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain, rtol=0, atol=1e-10)
