import math

import pytest
import torch
from tests.reference.attention import (
    ReferenceAttention,
    attention_by_hand,
    packed_attention_by_hand,
    scaled_dot_product_attention,
)

from transduce.fast import blocks as grouped
from transduce.fast.blocks import BucketedAttention
from transduce.paper.operations import FULL_ATTENTION, AttentionMask

CPU = torch.device("cpu")
MASKS = [
    AttentionMask(),
    AttentionMask(causal=True),
    AttentionMask(neighbourhood=1),
    AttentionMask(neighbourhood=3),
    AttentionMask(causal=True, neighbourhood=5),
]


def inputs(queries, keys, *, heads=2, d_k=3, d_v=4, seed=1):
    """Random q, k, v of sentences end to end, in float64."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(sum(queries), heads, d_k), (sum(keys), heads, d_k), (sum(keys), heads, d_v)]
    return [
        torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in shapes
    ]


def with_gradients(kernel, lengths, mask, tensors):
    """What is out, and the gradients of q, k and v."""
    out = kernel(*lengths, mask, CPU)(*tensors)
    direction = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)
    return [out, *torch.autograd.grad((out * direction).sum(), tensors)]


def test_attention_equals_its_definition():
    q, k, v = (x.detach() for x in inputs([4], [6]))
    allowed = torch.rand(4, 6) < 0.7
    allowed[:, 0] = True
    by_head = [x.transpose(0, 1) for x in (q, k, v)]
    out, weights = scaled_dot_product_attention(by_head[0], by_head[1], by_head[2], allowed)
    by_hand = attention_by_hand(q, k, v, lambda t, s: bool(allowed[t, s]))
    torch.testing.assert_close(out.transpose(0, 1), by_hand, rtol=0, atol=1e-12)
    assert not weights[:, ~allowed].any()


@pytest.mark.parametrize("kernel", [ReferenceAttention, BucketedAttention])
@pytest.mark.parametrize("mask", MASKS)
def test_a_kernel_equals_the_definition_sentence_by_sentence(kernel, mask):
    lengths = [3, 1, 7, 4]
    q, k, v = (x.detach() for x in inputs(lengths, lengths))
    out = kernel(lengths, lengths, mask, CPU)(q, k, v)

    def allowed(t, s):
        near = not mask.neighbourhood or abs(t - s) <= (mask.neighbourhood - 1) / 2
        return near and (s <= t or not mask.causal)

    by_hand = packed_attention_by_hand(q, k, v, queries=lengths, keys=lengths, allowed=allowed)
    torch.testing.assert_close(out, by_hand, rtol=0, atol=1e-12)


def test_queries_and_keys_may_have_different_lengths():
    lengths = ([2, 5, 1], [4, 1, 6])
    tensors = inputs(*lengths)
    by_hand = packed_attention_by_hand(
        *(x.detach() for x in tensors), queries=[2, 5, 1], keys=[4, 1, 6], allowed=lambda *_: True
    )
    for kernel in (ReferenceAttention, BucketedAttention):
        out = kernel(*lengths, FULL_ATTENTION, CPU)(*tensors)
        torch.testing.assert_close(out.detach(), by_hand, rtol=0, atol=1e-12)


def test_scores_of_any_size_stay_finite():
    q, k, v = inputs([5, 2], [5, 2])
    for kernel in (ReferenceAttention, BucketedAttention):
        out, *gradients = with_gradients(
            kernel, ([5, 2], [5, 2]), MASKS[1], [q * 1e4, k * 1e4, v * 1]
        )
        assert all(x.isfinite().all() for x in [out, *gradients])


@pytest.mark.parametrize("mask", [MASKS[0], MASKS[1], MASKS[4]])
def test_the_backward_written_by_hand_equals_numerical_gradients(mask):
    lengths = [3, 1, 2]
    attend = BucketedAttention(lengths, lengths, mask, CPU)
    assert torch.autograd.gradcheck(attend, inputs(lengths, lengths, heads=2, d_k=2, d_v=3))


def test_the_backward_under_dropout_equals_numerical_gradients_for_a_fixed_mask(monkeypatch):
    def same_mask(weights, dropout):
        kept = torch.rand(weights.shape, generator=torch.Generator().manual_seed(7)) >= dropout
        return kept.to(weights.dtype) / (1 - dropout)

    monkeypatch.setattr(grouped, "build_dropout_mask", same_mask)
    lengths = ([2, 4], [3, 3])
    attend = BucketedAttention(*lengths, FULL_ATTENTION, CPU)
    q, k, v = inputs(*lengths, d_k=2, d_v=3)
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, 0.4), (q, k, v))
    dropped = (attend(q, k, v, 0.4) - attend(q, k, v)).abs().max()
    assert dropped > 0.1, "the mask took part"


def test_under_dropout_the_last_token_of_a_short_sentence_keeps_to_one_mask():
    """It is repeated to fill its rectangle; output and gradient must belong to the same repeat."""
    q, k, v = inputs([2, 6], [2, 6], heads=1, d_v=6)
    out = BucketedAttention([2, 6], [2, 6], FULL_ATTENTION, CPU)(q, k, v, 0.5)
    (d_v,) = torch.autograd.grad(out[1, 0, 0], v)
    torch.testing.assert_close((d_v[:2, 0, 0] * v[:2, 0, 0]).sum(), out[1, 0, 0])


@pytest.mark.parametrize("kernel", [ReferenceAttention, BucketedAttention])
def test_dropout_leaves_out_its_share_of_the_weights_and_scales_the_others(kernel):
    """With v the unit vectors, what is out are the weights themselves; all equal with q = 0."""
    length, heads = 50, 40
    q = torch.zeros(length, heads, 1)
    v = torch.eye(length)[:, None].expand(-1, heads, -1)
    torch.manual_seed(3)
    attend = kernel([length], [length], FULL_ATTENTION, CPU)
    out = attend(q, q, v, 0.3) * length
    kept = out > 0
    torch.testing.assert_close(out[kept], torch.full_like(out[kept], 1 / 0.7))
    share = 1 - kept.double().mean().item()
    assert abs(share - 0.3) < 5 * math.sqrt(0.3 * 0.7 / out.numel())
    assert (kept[:, 0] != kept[:, 1]).any(), "every head has a mask of its own"


def test_a_long_sentence_and_many_short_ones_are_laid_into_more_than_one_padded_block():
    lengths = [900, *[20] * 40]
    assert len(BucketedAttention(lengths, lengths, FULL_ATTENTION, CPU).blocks) > 1
    tensors = inputs(lengths, lengths, heads=1, d_k=2, d_v=2)
    found = [
        with_gradients(kernel, (lengths, lengths), MASKS[1], tensors)
        for kernel in (ReferenceAttention, BucketedAttention)
    ]
    for plain, fast in zip(*found, strict=True):
        torch.testing.assert_close(fast, plain, rtol=0, atol=1e-12)
