import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fast.test_kernels import inputs, with_gradients
from tests.reference.attention import ReferenceAttention

from transduce.fast import blocks as padded_blocks
from transduce.fast.blocks import BucketedAttention
from transduce.paper.operations import AttentionMask

lengths = st.lists(st.integers(1, 20), min_size=1, max_size=5)
widths = st.integers(1, 4)
masks = st.builds(
    AttentionMask, causal=st.booleans(), neighbourhood=st.sampled_from([0, 1, 3, 5, 7])
)


def require_equal_to_reference(queries, keys, mask, **shape):
    tensors = inputs(queries, keys, **shape)
    found = [
        with_gradients(one, (queries, keys), mask, tensors)
        for one in (ReferenceAttention, BucketedAttention)
    ]
    for plain, grouped in zip(*found, strict=True):
        torch.testing.assert_close(grouped, plain, rtol=0, atol=1e-12)


@settings(max_examples=8)
@given(lengths, masks, widths, widths, st.integers(1, 3), st.integers(0, 99))
def test_the_bucketed_kernel_equals_the_reference_in_self_attention(
    sentences, mask, d_k, d_v, heads, seed
):
    require_equal_to_reference(sentences, sentences, mask, d_k=d_k, d_v=d_v, heads=heads, seed=seed)


@settings(max_examples=8)
@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=5))
def test_the_bucketed_kernel_equals_the_reference_in_cross_attention(pairs):
    queries, keys = (list(side) for side in zip(*pairs, strict=True))
    require_equal_to_reference(queries, keys, AttentionMask())


@settings(max_examples=8)
@given(lengths, masks)
def test_neither_does_it_matter_into_how_many_padded_blocks_a_batch_is_cut(sentences, mask):
    free, padded_blocks.FREE_SCORES = padded_blocks.FREE_SCORES, 0
    try:
        require_equal_to_reference(sentences, sentences, mask)
    finally:
        padded_blocks.FREE_SCORES = free
