import random

import torch

from transduce.model.rectangles import FREE, WASTE, rectangles
from transduce.model.sight import EVERYWHERE, Sight

CPU = torch.device("cpu")


def drawn(count, longest, seed=1):
    draw = random.Random(seed)
    return [draw.randint(1, longest) for _ in range(count)]


def test_every_token_has_a_real_place_in_exactly_one_rectangle():
    queries, keys = drawn(300, 200), drawn(300, 200, seed=2)
    laid = rectangles(queries, keys, EVERYWHERE, CPU)
    assert len(laid) > 1
    for tokens, real, total in (
        ("query_tokens", "query_real", sum(queries)),
        ("key_tokens", "key_real", sum(keys)),
    ):
        found = []
        for one in laid:
            places = getattr(one, tokens)
            found += (places if getattr(one, real) is None else places[getattr(one, real)]).tolist()
        assert sorted(found) == list(range(total))


def test_no_rectangle_wastes_more_scores_than_it_may():
    queries, keys = drawn(300, 200), drawn(300, 200, seed=2)
    order = {start: n for n, start in enumerate(torch.tensor([0, *queries]).cumsum(0).tolist())}
    for one in rectangles(queries, keys, EVERYWHERE, CPU):
        places = one.query_tokens.view(one.sentences, -1)
        area = places.numel() * one.key_tokens.numel() // one.sentences
        chosen = [order[start] for start in places[:, 0].tolist()]
        needed = sum(queries[n] * keys[n] for n in chosen)
        assert area <= WASTE * needed + FREE


def test_a_place_past_a_sentences_end_repeats_its_last_token_and_is_hidden():
    (one,) = rectangles([2, 3], [2, 3], EVERYWHERE, CPU)
    assert one.query_tokens.tolist() == [0, 1, 1, 2, 3, 4]
    assert one.query_real is not None
    assert one.query_real.tolist() == [0, 1, 3, 4, 5]
    assert one.hidden is not None
    assert one.hidden[0, 0].tolist() == [[False, False, True]] * 3
    assert not one.hidden[1].any()


def test_sentences_of_one_length_that_see_everything_need_no_mask():
    (one,) = rectangles([4, 4], [3, 3], EVERYWHERE, CPU)
    assert one.hidden is None
    assert one.query_real is None
    assert one.key_real is None


def test_every_place_sees_something_or_its_softmax_would_not_be_a_number():
    for sight in (Sight(past_only=True, neighbourhood=1), Sight(neighbourhood=3)):
        for one in rectangles(drawn(50, 30), drawn(50, 30), sight, CPU):
            assert one.hidden is not None
            assert not one.hidden.all(dim=-1).any()
