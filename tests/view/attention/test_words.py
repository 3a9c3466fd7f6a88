"""Pieces become words, and weights between pieces become weights between words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.view.attention.record import Word, is_punctuation, join_words, read_sequence
from transduce.vocabulary import END
from transduce.vocabulary.learn import learn_closed_list, learn_vocabulary

LETTERS = learn_vocabulary(["no merges here"], 258)
PIECES = learn_vocabulary(["the lowest lows are slower than the lower ones"] * 9, 275)


def words_of(text, vocabulary=LETTERS, *, is_tokenised=False):
    sequence = read_sequence(vocabulary, [*vocabulary.encode(text), END], is_tokenised=is_tokenised)
    return [word.text for word in sequence.words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Law, here.", ["The", "Law", ",", "here", "."]),
        ("don't 'quote' it’s", ["don't", "'", "quote", "'", "it’s"]),
        ("3,000.5 or 1, 2", ["3,000.5", "or", "1", ",", "2"]),
        ("just - this", ["just", "-", "this"]),
        ("well-known ...", ["well", "-", "known", "..."]),
        ("naïve cafe\u0301 Straße", ["naïve", "cafe\u0301", "Straße"]),
        ("我们 は", ["我", "们", "は"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("<b>x</b>", ["<", "b", ">", "x", "</", "b", ">"]),
    ],
)
def test_words_are_runs_of_letters_or_of_punctuation(text, words):
    assert words_of(text) == [*words, "</s>"]


def test_words_of_tokenised_text_are_what_blanks_separate():
    assert words_of("-LRB- U.S. 's", is_tokenised=True) == ["-LRB-", "U.S.", "'s", "</s>"]


def test_every_label_is_a_word():
    labels = learn_closed_list([["B-NP", "I-NP", "("]])
    sequence = read_sequence(
        labels, [*(labels.lookup(["I-NP", "(", "("]) or []), END], is_tokenised=False
    )
    assert [word.text for word in sequence.words] == ["I-NP", "(", "(", "</s>"]
    assert sequence.pieces == ("I-NP", "(", "(", "</s>")


def test_a_word_has_all_its_pieces():
    sequence = read_sequence(PIECES, [*PIECES.encode("the lowest"), END], is_tokenised=False)
    assert "".join(sequence.pieces) == "the␣lowest</s>"
    assert len(sequence.pieces) < 12
    for word in sequence.words[:2]:
        joined = "".join(sequence.pieces[word.first : word.last + 1])
        assert joined.removeprefix("␣") == word.text


@given(st.text(), st.booleans())
def test_every_piece_is_in_exactly_one_word(text, is_tokenised):
    ids = [*PIECES.encode(text), END]
    words = read_sequence(PIECES, ids, is_tokenised=is_tokenised).words
    covered = [index for word in words for index in range(word.first, word.last + 1)]
    assert covered == list(range(len(ids)))


@given(st.lists(st.integers(0, len(PIECES) - 1), min_size=1))
def test_any_output_of_a_model_has_words(ids):
    """A model may write half a character, BEGIN, or END in the middle."""
    words = read_sequence(PIECES, ids, is_tokenised=False).words
    covered = [index for word in words for index in range(word.first, word.last + 1)]
    assert covered == list(range(len(ids)))


def test_keys_of_a_word_are_summed_and_its_queries_averaged():
    weights = np.array([[[0.5, 0.2, 0.3], [0.1, 0.7, 0.2], [0.6, 0.4, 0.0]]], dtype=np.float32)
    words = [Word(0, 1, "one"), Word(2, 2, "two")]
    expected = [[[(0.7 + 0.8) / 2, (0.3 + 0.2) / 2], [1.0, 0.0]]]
    np.testing.assert_allclose(join_words(weights, words, words), expected, atol=1e-6)


def test_punctuation_is_what_has_no_letter():
    assert is_punctuation(".")
    assert is_punctuation("...")
    assert not is_punctuation("a.")
    assert not is_punctuation("")
