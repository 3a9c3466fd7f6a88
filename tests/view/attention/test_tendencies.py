"""Heads whose tendency is known by construction get its label."""

import math

import numpy as np
import pytest

from transduce.view.attention.record import AttentionView, ModelName, PieceSequence, Word
from transduce.view.attention.tendencies import TENDENCIES, compute_tendencies

PIECES = ("The", "␣dog", "gy", "␣saw", ",", "␣a", "␣cat", "</s>")
WORDS = (
    Word(0, 0, "The"),
    Word(1, 2, "doggy"),
    Word(3, 3, "saw"),
    Word(4, 4, ","),
    Word(5, 5, "a"),
    Word(6, 6, "cat"),
    Word(7, 7, "</s>"),
)
SOURCE = PieceSequence(PIECES, WORDS, "The doggy saw, a cat")
OUTPUT = PieceSequence(("Cat", "</s>"), (Word(0, 0, "Cat"), Word(1, 1, "</s>")), "Cat")
COUNT = len(PIECES)


def tendency_of(weights, kind="encoder", output=OUTPUT):
    view = AttentionView(
        model=ModelName("tiny", "", layers=1, heads=1),
        task="translation",
        source=SOURCE,
        input=output,
        output=output,
        layers=(1,),
        weights={kind: np.array(weights, dtype=np.float32)[None, None]},
        steps=(),
        is_given=True,
    )
    return compute_tendencies(view)[kind][0][0]


def shifted(offset):
    """A head in which each position reads the one at an offset, or the nearest to it."""
    weights = np.zeros((COUNT, COUNT))
    for query in range(COUNT):
        weights[query, min(max(query + offset, 0), COUNT - 1)] = 1
    return weights


def reading(key):
    weights = np.zeros((COUNT, COUNT))
    weights[:, key] = 1
    return weights


@pytest.mark.parametrize(
    ("weights", "label"),
    [
        (shifted(-1), "previous"),
        (shifted(1), "next"),
        (shifted(0), "same"),
        (reading(0) / 2 + reading(6) / 2, "far"),
        (reading(7), "separator"),
        (reading(4), "punctuation"),
        (np.full((COUNT, COUNT), 1 / COUNT), "broad"),
        (0.4 * shifted(-1) + 0.35 * shifted(1) + 0.25 * reading(7), "mixed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_head_is_labelled_by_what_it_reads(weights, label):
    assert tendency_of(weights).label == label


def test_shares_sum_to_one_and_the_share_is_the_largest():
    found = tendency_of(0.7 * shifted(-1) + 0.3 * reading(7))
    assert set(found.shares) == set(TENDENCIES)
    assert sum(found.shares.values()) == pytest.approx(1)
    assert found.share == max(found.shares.values())
    assert found.shares["separator"] == pytest.approx(0.3)
    assert found.shares["same"] == pytest.approx(0.7 / 7)  # The first word reads itself


def test_the_other_pieces_of_a_word_are_the_same_word_and_its_neighbour_is_near():
    """␣dog and gy are one word; what reads from ␣saw to ␣dog reads the word before."""
    weights = shifted(0)
    weights[3] = np.eye(COUNT)[1]
    assert tendency_of(weights).shares["previous"] == pytest.approx(1 / 7)


def test_entropy_is_in_bits():
    assert tendency_of(shifted(0)).entropy == pytest.approx(0)
    assert tendency_of((reading(0) + reading(6)) / 2).entropy == pytest.approx(1)
    assert tendency_of(np.full((COUNT, COUNT), 1 / COUNT)).entropy == pytest.approx(
        math.log2(COUNT)
    )


def test_cross_attention_to_a_word_of_the_same_letters_is_the_same():
    weights = np.zeros((2, COUNT))
    weights[:, 6] = 1
    found = tendency_of(weights, "cross")
    assert (found.label, found.share) == ("same", 1)
    assert (found.shares["previous"], found.shares["next"]) == (0, 0)
    weights = np.eye(COUNT)[[3, 3]]
    assert tendency_of(weights, "cross").label == "other"


def test_an_output_of_nothing_but_end_has_tendencies():
    empty = PieceSequence(("</s>",), (Word(0, 0, "</s>"),), "")
    assert tendency_of(np.eye(COUNT)[-1:], "cross", empty).label == "separator"
    assert tendency_of([[1.0]], "decoder", empty).label == "separator"
