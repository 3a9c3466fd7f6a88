import random

import numpy as np
import pytest
import torch
from tests.fast.test_twins import draw, require_equal, with_gradients

from transduce.fast.blocks import (
    FREE_SCORES,
    MAX_PADDING_RATIO,
    BucketedAttention,
    build_padded_blocks,
)
from transduce.paper.operations import FULL_ATTENTION, AttentionMask, build_padded_attention

CPU = torch.device("cpu")


def random_lengths(count, longest, seed=1):
    draw = random.Random(seed)
    return [draw.randint(1, longest) for _ in range(count)]


def test_every_token_is_real_in_exactly_one_padded_block():
    queries, keys = random_lengths(300, 200), random_lengths(300, 200, seed=2)
    made = build_padded_blocks(queries, keys, FULL_ATTENTION, CPU)
    assert len(made) > 1
    for sides, total in (
        ([one.queries for one in made], sum(queries)),
        ([one.keys for one in made], sum(keys)),
    ):
        found = np.concatenate([side.indices[side.is_real] for side in sides])
        assert sorted(found.tolist()) == list(range(total))


def test_no_block_has_more_padded_scores_than_it_may():
    queries, keys = random_lengths(300, 200), random_lengths(300, 200, seed=2)
    order = {start: n for n, start in enumerate(torch.tensor([0, *queries]).cumsum(0).tolist())}
    for one in build_padded_blocks(queries, keys, FULL_ATTENTION, CPU):
        area = one.queries.indices.size * one.keys.indices.shape[1]
        chosen = [order[start] for start in one.queries.indices[:, 0].tolist()]
        needed = sum(queries[n] * keys[n] for n in chosen)
        assert area <= MAX_PADDING_RATIO * needed + FREE_SCORES


def test_padding_repeats_a_sentences_last_token_and_is_masked():
    (one,) = build_padded_blocks([2, 3], [2, 3], FULL_ATTENTION, CPU)
    assert one.queries.indices.tolist() == [[0, 1, 1], [2, 3, 4]]
    assert one.queries.is_real.tolist() == [[True, True, False], [True, True, True]]
    assert one.masked is not None
    assert one.masked[0, 0].tolist() == [[False, False, True]] * 3
    assert not one.masked[1].any()


def test_sentences_of_one_length_without_a_mask_need_none_in_their_block():
    (one,) = build_padded_blocks([4, 4], [3, 3], FULL_ATTENTION, CPU)
    assert one.masked is None
    assert one.queries.is_real.all()
    assert one.keys.is_real.all()


def test_every_query_has_a_key_or_its_softmax_would_not_be_a_number():
    for mask in (AttentionMask(causal=True, neighbourhood=1), AttentionMask(neighbourhood=3)):
        for one in build_padded_blocks(random_lengths(50, 30), random_lengths(50, 30), mask, CPU):
            assert one.masked is not None
            assert not one.masked.all(dim=-1).any()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("r", [3, 65])
def test_windows_of_long_sentences_have_the_values_and_gradients_of_equation_1(causal, r):
    lengths, mask = [5, 400, 1, 333, 64], AttentionMask(causal=causal, neighbourhood=r)
    tensors = [draw(r, sum(lengths), 2, width) for width in (3, 3, 4)]
    found, expected = (
        with_gradients(attend, tensors)
        for attend in (
            BucketedAttention(lengths, lengths, mask, CPU),
            build_padded_attention(lengths, lengths, mask),
        )
    )
    require_equal(found, expected, torch.float64)


def test_windows_make_the_scores_grow_with_the_length_and_not_with_its_square():
    def count_scores(n, r):
        made = build_padded_blocks([n], [n], AttentionMask(neighbourhood=r), CPU)
        return sum(one.queries.indices.size * one.keys.indices.shape[1] for one in made)

    assert count_scores(256, 129) == 256**2  # cutting would not save half
    for n in (512, 1024, 8192):
        assert count_scores(n, 129) <= 1.5 * n * 129
        assert count_scores(n, 0) == n**2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("keys", [1, 14, 70])
@pytest.mark.parametrize(
    "mask", [FULL_ATTENTION, AttentionMask(causal=True), AttentionMask(neighbourhood=5)]
)
def test_a_sentence_alone_gets_the_same_bits_with_gradients_and_without(dtype, keys, mask):
    queries = keys if mask != FULL_ATTENTION else 9
    q, *_ = draw(keys, queries, 12, 16).to(dtype).split(4, dim=1)  # views, as of `split_heads`
    sides = (q, *draw(1, keys, 8, 16).to(dtype).split(4, dim=1))
    attend = BucketedAttention([queries], [keys], mask, CPU)
    with torch.no_grad():
        alone = attend(*sides)
    assert torch.equal(alone, attend(*sides))
