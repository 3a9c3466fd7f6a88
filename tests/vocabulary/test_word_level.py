"""Vocabularies of whole words: one symbol a word, and classes for the words that they lack."""

import json
import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from transduce.errors import FolderError, InputError
from transduce.vocabulary import BEGIN, END, Vocabulary
from transduce.vocabulary.kinds import EXAMPLES, UNKNOWN, is_class, learn_word_level
from transduce.vocabulary.learn import learn_vocabulary

STEMS = [f"{first}{second}" for first in "bdfgklmn" for second in ("a", "e", "i")]
RARE = [f"{stem}ing" for stem in STEMS] + [f"{stem.title()}x" for stem in STEMS]
LINES = ["the cat sat .", "the dog sat .", "the cat ran , 17 -LRB- km -RRB- .", *RARE]


@pytest.fixture(scope="module")
def words():
    return learn_vocabulary(LINES, 300, "word")


def spell(vocabulary, line):
    return [vocabulary.symbols[number] for number in vocabulary.encode(line)]


def test_frequent_words_are_symbols_the_most_frequent_first(words):
    known = [symbol for symbol in words.symbols[BEGIN + 1 :] if not is_class(symbol)]
    assert known == [".", "the", "cat", "sat"]


def test_every_other_word_is_the_most_specific_class_that_has_examples(words):
    assert spell(words, "the walking sat Bax , 3.5 .") == [
        "the",
        "<a*ing>",
        "sat",
        "<Aa*x>",
        UNKNOWN,
        UNKNOWN,
        ".",
    ]


@pytest.mark.parametrize(("count", "expected"), [(EXAMPLES - 1, UNKNOWN), (EXAMPLES, "<0>")])
def test_a_class_needs_twenty_different_rare_words(count, expected):
    vocabulary = Vocabulary(learn_word_level([str(number) for number in range(count)], 300))
    assert spell(vocabulary, "4,711") == [expected]


@given(st.lists(st.text(st.characters(exclude_characters=" ", codec="utf-8"), min_size=1)))
def test_a_line_has_as_many_symbols_as_words(found):
    vocabulary = learn_vocabulary(LINES, 300, "word")
    ids = vocabulary.encode(" ".join(found))
    assert len(ids) == len(found)
    assert not {END, BEGIN} & {*ids}


@given(st.lists(st.sampled_from(["a", "b", "c", "Dd", "3"]), min_size=1), st.integers(258, 300))
def test_all_words_that_occur_twice_are_symbols_if_there_is_room(found, size):
    learned = learn_word_level([" ".join(found)], size)
    assert {*learned.symbols[2:]} - {UNKNOWN} == {
        word for word, count in Counter(found).items() if count > 1
    }


def test_the_size_is_the_most_symbols_and_a_tenth_of_them_are_classes():
    lines = [f"word{number} word{number}" for number in range(1_000)]
    endings = [
        f"{first}{number}{last}" for number in range(30) for first in "Aa" for last in "bcdefgh"
    ]
    learned = learn_word_level(lines + endings * 1, 300)
    assert len(Vocabulary(learned)) == 300
    assert 1 < sum(map(is_class, learned.symbols)) <= 30


def test_a_text_without_words_is_refused():
    with pytest.raises(InputError, match="no text"):
        learn_vocabulary(["", " "], 300, "word")


def test_words_that_look_like_special_symbols_are_text(words):
    assert spell(words, "</s> <s> <a*ing> <unk>") == ["<a>"] * 4
    learned = learn_word_level(["</s> </s> <x> <x> a a"], 300)
    assert learned.symbols[3:] == ["a"]


def test_the_file_gives_the_vocabulary_again(words):
    assert Vocabulary.from_bytes(words.to_bytes()).to_bytes() == words.to_bytes()
    again = pickle.loads(pickle.dumps(words))
    assert again.encode("the walking dog") == words.encode("the walking dog")


def test_the_library_tokenizers_reads_the_file_and_knows_the_same_words(words):
    theirs = Tokenizer.from_str(words.to_bytes().decode())
    assert theirs.encode("the cat sat .").ids == words.encode("the cat sat .")
    assert theirs.encode("the Bax").tokens == ["the", UNKNOWN]


def exchange(file):
    vocab = file["model"]["vocab"]
    vocab["the"], vocab[UNKNOWN] = vocab[UNKNOWN], vocab["the"]


def word_like_a_class(file):
    vocab = file["model"]["vocab"]
    vocab["<b>"] = len(vocab)


def word_with_blank(file):
    vocab = file["model"]["vocab"]
    vocab["a b"] = len(vocab)


@pytest.mark.parametrize("change", [exchange, word_like_a_class, word_with_blank])
def test_a_changed_file_is_refused(words, change):
    file = json.loads(words.to_bytes())
    change(file)
    with pytest.raises(FolderError, match="no vocabulary of transduce"):
        Vocabulary.from_bytes(json.dumps(file).encode())
