from dataclasses import replace

import numpy as np
import pytest

from transduce.errors import InputError
from transduce.view.attention.record import AttentionView, ModelName, PieceSequence, Word


def sequence(*pieces):
    return PieceSequence(pieces, tuple(Word(n, n, one) for n, one in enumerate(pieces)), "")


def view_of(**weights):
    return AttentionView(
        model=ModelName("tiny", "", layers=2, heads=1),
        task="translation",
        source=sequence("a", "b", "</s>"),
        input=sequence("<s>", "c"),
        output=sequence("c", "</s>"),
        layers=(2,),
        weights=weights,
        steps=(),
        is_given=True,
    )


def test_queries_of_cross_attention_are_the_output_and_those_of_the_decoder_its_input():
    view = view_of()
    assert (view.queries("cross"), view.keys("cross")) == (view.output, view.source)
    assert (view.queries("decoder"), view.keys("decoder")) == (view.input, view.input)
    assert (view.queries("encoder"), view.keys("encoder")) == (view.source, view.source)


def test_heads_are_found_by_the_numbers_of_their_layers():
    weights = np.full((1, 1, 2, 3), 1 / 3, dtype=np.float32)
    assert np.array_equal(view_of(cross=weights).head("cross", 2, 1), weights[0, 0])


@pytest.mark.parametrize(
    ("asked", "fact"),
    [
        (("self", 2, 1), "there is no kind of attention 'self'\nhint: known: cross"),
        (("cross", 1, 1), "there is no layer 1\nhint: known: 2"),
        (("cross", 2, 0), "there is no head 0\nhint: known: 1"),
        (("cross", 2, -1), "there is no head -1"),
    ],
)
def test_a_head_that_is_not_there_is_refused(asked, fact):
    view = view_of(cross=np.full((1, 1, 2, 3), 1 / 3, dtype=np.float32))
    with pytest.raises(InputError, match=fact):
        view.head(*asked)


def test_layers_without_weights_are_refused_where_depths_differ():
    weights = np.full((1, 1, 2, 3), 1 / 3, dtype=np.float32)
    view = replace(view_of(cross=weights), layers=(1, 2))
    assert view.select_layers([1, 2]).layers == (1, 2)
    with pytest.raises(InputError, match="no attention weights\nhint: known: 1"):
        view.select_layers([2])
