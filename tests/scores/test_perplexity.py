import json
import math

import pytest

from transduce.errors import InputError
from transduce.scores.score import Perplexity


def test_a_fair_die_has_perplexity_6():
    perplexity = Perplexity(nats=20 * math.log(6), pieces=20, words=20)
    assert perplexity.per_piece == pytest.approx(6)


def test_a_word_of_two_pieces_costs_both():
    """Table 3's perplexities are per word-piece and cannot be compared with those per word."""
    perplexity = Perplexity(nats=12 * math.log(5), pieces=12, words=6)
    assert perplexity.per_piece == pytest.approx(5)
    assert perplexity.per_word == pytest.approx(25)
    assert str(perplexity) == "perplexity 5.000 a piece (12), 25.000 a word (6)"


def test_outputs_without_words_have_a_perplexity_per_piece_alone():
    perplexity = Perplexity(nats=12 * math.log(5), pieces=12, words=0)
    assert str(perplexity) == "perplexity 5.000 a piece (12)"
    assert math.isnan(perplexity.per_word)
    assert perplexity.as_json()["per_word"] is None


def test_large_figures_are_written_as_elsewhere():
    perplexity = Perplexity(nats=20.0 * math.log(10), pieces=5_000, words=4)
    assert str(perplexity).endswith("a piece (5,000), 100,000.000 a word (4)")


def test_perplexity_is_infinite_before_it_is_an_error():
    assert Perplexity(nats=1e6, pieces=10, words=5).per_word == math.inf


def test_perplexity_goes_to_json_with_what_it_comes_from():
    back = json.loads(json.dumps(Perplexity(nats=0.0, pieces=3, words=2).as_json()))
    assert back == {"per_piece": 1.0, "per_word": 1.0, "nats": 0.0, "pieces": 3, "words": 2}


def test_a_perplexity_of_no_lines_is_nan_and_goes_to_json_as_null():
    unknown = Perplexity(nats=math.nan, pieces=0, words=0)
    assert math.isnan(unknown.per_piece)
    assert math.isnan(unknown.per_word)
    found = json.loads(json.dumps(unknown.as_json(), allow_nan=False))
    assert found == {"per_piece": None, "per_word": None, "nats": None, "pieces": 0, "words": 0}


def test_no_text_has_no_perplexity():
    with pytest.raises(InputError, match="there is no text to take the perplexity of"):
        Perplexity(nats=0.0, pieces=0, words=0)


def test_without_a_number_of_nats_there_is_no_perplexity():
    assert math.isnan(Perplexity(nats=math.nan, pieces=5, words=3).per_word)
    assert Perplexity(nats=1e6, pieces=5, words=3).per_word == math.inf
