"""Attention to two-dimensional neighbourhoods: the plain equation, position by position."""

import itertools
import math

import pytest
import torch
from tests.model.tiny import BEGIN, model_of, sentences, sizes

from transduce.errors import InputError
from transduce.fast.blocks import BucketedAttention, build_padded_blocks
from transduce.mixing import GridMask, RecomputingModel, build_stepwise_model
from transduce.packed import Packed
from transduce.paper.model import StepwiseTransformer
from transduce.paper.operations import build_padded_attention

CPU = torch.device("cpu")
GRID = {"neighbourhood_row": 3, "encoder_neighbourhood": 3, "decoder_neighbourhood": 3}


def is_near(i, j, *, reach, row, causal):
    (y, x), (v, u) = divmod(i, row), divmod(j, row)
    return abs(y - v) <= reach and abs(x - u) <= reach and not (causal and j > i)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_the_equation_over_the_neighbours_of_each_position(causal):
    lengths, row = [11, 4, 9], 4
    torch.manual_seed(1)
    q, k, v = (torch.randn(sum(lengths), 2, 5, dtype=torch.float64) for _ in range(3))
    found = build_padded_attention(
        lengths, lengths, GridMask(causal=causal, neighbourhood=3, row=row)
    )(q, k, v)
    start = 0
    for length in lengths:
        for i, head in itertools.product(range(length), range(2)):
            near = [
                start + j for j in range(length) if is_near(i, j, reach=1, row=row, causal=causal)
            ]
            scores = [float(q[start + i, head] @ k[j, head]) / math.sqrt(5) for j in near]
            weights = [math.exp(score) for score in scores]
            mean = sum(w * v[j, head] for w, j in zip(weights, near, strict=True)) / sum(weights)
            torch.testing.assert_close(found[start + i, head], mean)
        start += length


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("r", "row", "first"), [(3, 8, 70), (3, 8, 300), (5, 12, 400), (7, 2, 99)])
def test_blocks_have_the_values_and_gradients_of_the_plain_way(causal, r, row, first):
    lengths, mask = [first, 3, 40], GridMask(causal=causal, neighbourhood=r, row=row)
    torch.manual_seed(1)
    q, k, v = (torch.randn(sum(lengths), 2, 4, dtype=torch.float64) for _ in range(3))
    results = []
    for attend in (
        build_padded_attention(lengths, lengths, mask),
        BucketedAttention(lengths, lengths, mask, CPU),
    ):
        sides = [side.clone().requires_grad_() for side in (q, k, v)]
        out = attend(sides[0], sides[1], sides[2])
        (out * torch.arange(out.numel()).view_as(out)).sum().backward()
        results.append([out, *(side.grad for side in sides)])
    for plain, fast in zip(*results, strict=True):
        torch.testing.assert_close(fast, plain)


@pytest.mark.parametrize("causal", [False, True])
def test_scores_of_large_pictures_grow_with_their_pixels_and_not_with_the_square(causal):
    def count_scores(rows):
        mask = GridMask(causal=causal, neighbourhood=5, row=32)
        made = build_padded_blocks([32 * rows], [32 * rows], mask, CPU)
        return sum(one.queries.indices.size * one.keys.indices.shape[1] for one in made)

    assert count_scores(32) < 1024**2 / 3
    assert count_scores(128) < 4.5 * count_scores(32)


@torch.no_grad()
def test_steps_of_a_search_have_the_log_p_of_the_whole_pass():
    model = model_of(sizes(**GRID))
    (source,) = sentences([7])
    decoder, written = build_stepwise_model(model), [BEGIN, 5, 6, 7, 5, 6]
    state = decoder.start([source])
    for one in written[:-1]:
        _, state = decoder.step(state, torch.tensor([one]))
    found, _ = decoder.step(state, torch.tensor(written[-1:]))
    states = model.decode(
        Packed.from_sentences([written]), model.encode(Packed.from_sentences([source]))
    )
    torch.testing.assert_close(found, model.logits(states[-1:]).log_softmax(dim=1))


def test_a_decoder_of_text_behind_a_picture_keeps_its_cache():
    picture = sizes(**GRID)
    assert isinstance(build_stepwise_model(model_of(picture)), RecomputingModel)
    text = sizes(**{**GRID, "decoder_neighbourhood": 0})
    assert isinstance(build_stepwise_model(model_of(text)), StepwiseTransformer)


def test_rows_without_a_neighbourhood_and_of_fewer_than_no_positions_are_refused():
    with pytest.raises(InputError, match="neighbourhood_row is 3 without a neighbourhood"):
        sizes(neighbourhood_row=3)
    with pytest.raises(InputError, match="neighbourhood_row must be 0 or more, not -1"):
        sizes(encoder_neighbourhood=3, neighbourhood_row=-1)
