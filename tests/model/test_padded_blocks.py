import random

import numpy as np
import torch

from transduce.model.attention.mask import FULL_ATTENTION, AttentionMask
from transduce.model.attention.padded_blocks import FREE, WASTE, rectangles

CPU = torch.device("cpu")


def drawn(count, longest, seed=1):
    draw = random.Random(seed)
    return [draw.randint(1, longest) for _ in range(count)]


def test_every_token_has_a_real_place_in_exactly_one_rectangle():
    queries, keys = drawn(300, 200), drawn(300, 200, seed=2)
    made = rectangles(queries, keys, FULL_ATTENTION, CPU)
    assert len(made) > 1
    for sides, total in (
        ([one.queries for one in made], sum(queries)),
        ([one.keys for one in made], sum(keys)),
    ):
        found = np.concatenate([side.tokens[side.real] for side in sides])
        assert sorted(found.tolist()) == list(range(total))


def test_no_rectangle_wastes_more_scores_than_it_may():
    queries, keys = drawn(300, 200), drawn(300, 200, seed=2)
    order = {start: n for n, start in enumerate(torch.tensor([0, *queries]).cumsum(0).tolist())}
    for one in rectangles(queries, keys, FULL_ATTENTION, CPU):
        area = one.queries.tokens.size * one.keys.tokens.shape[1]
        chosen = [order[start] for start in one.queries.tokens[:, 0].tolist()]
        needed = sum(queries[n] * keys[n] for n in chosen)
        assert area <= WASTE * needed + FREE


def test_a_place_past_a_sentences_end_repeats_its_last_token_and_is_hidden():
    (one,) = rectangles([2, 3], [2, 3], FULL_ATTENTION, CPU)
    assert one.queries.tokens.tolist() == [[0, 1, 1], [2, 3, 4]]
    assert one.queries.real.tolist() == [[True, True, False], [True, True, True]]
    assert one.hidden is not None
    assert one.hidden[0, 0].tolist() == [[False, False, True]] * 3
    assert not one.hidden[1].any()


def test_sentences_of_one_length_that_see_everything_need_no_mask():
    (one,) = rectangles([4, 4], [3, 3], FULL_ATTENTION, CPU)
    assert one.hidden is None
    assert one.queries.real.all()
    assert one.keys.real.all()


def test_every_place_sees_something_or_its_softmax_would_not_be_a_number():
    for sight in (AttentionMask(causal=True, neighbourhood=1), AttentionMask(neighbourhood=3)):
        for one in rectangles(drawn(50, 30), drawn(50, 30), sight, CPU):
            assert one.hidden is not None
            assert not one.hidden.all(dim=-1).any()
