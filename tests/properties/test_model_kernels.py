import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.test_kernels import inputs, with_gradients

from transduce.model.attention import padded_blocks as rectangles
from transduce.model.attention.bucketed import Grouped
from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.reference import Plain

lengths = st.lists(st.integers(1, 20), min_size=1, max_size=5)
widths = st.integers(1, 4)
sights = st.builds(
    AttentionMask, causal=st.booleans(), neighbourhood=st.sampled_from([0, 1, 3, 5, 7])
)


def held_against_plain(queries, keys, sight, **shape):
    tensors = inputs(queries, keys, **shape)
    found = [with_gradients(one, (queries, keys), sight, tensors) for one in (Plain, Grouped)]
    for plain, grouped in zip(*found, strict=True):
        torch.testing.assert_close(grouped, plain, rtol=0, atol=1e-12)


@settings(max_examples=8)
@given(lengths, sights, widths, widths, st.integers(1, 3), st.integers(0, 99))
def test_the_fast_kernel_equals_the_plain_one_in_self_attention(
    sentences, sight, d_k, d_v, heads, seed
):
    held_against_plain(sentences, sentences, sight, d_k=d_k, d_v=d_v, heads=heads, seed=seed)


@settings(max_examples=8)
@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=5))
def test_the_fast_kernel_equals_the_plain_one_over_sources_of_other_lengths(pairs):
    queries, keys = (list(side) for side in zip(*pairs, strict=True))
    held_against_plain(queries, keys, AttentionMask())


@settings(max_examples=8)
@given(lengths, sights)
def test_neither_does_it_matter_into_how_many_rectangles_a_batch_is_cut(sentences, sight):
    free, rectangles.FREE = rectangles.FREE, 0
    try:
        held_against_plain(sentences, sentences, sight)
    finally:
        rectangles.FREE = free
