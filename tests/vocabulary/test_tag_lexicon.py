"""The unigram tagger that is stored with a parser."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.errors import FolderError
from transduce.vocabulary.tag_lexicon import TagLexicon, learn_tag_lexicon

FILE = Path("model/tags.json")
SENTENCES = [
    [("the", "DT"), ("saw", "NN"), ("saw", "VBD")],
    [("saw", "VBD"), ("running", "VBG"), ("the", "DT"), ("the", "NNP")],
    [("eating", "VBG"), ("king", "NN"), ("Bonn", "NNP"), ("Rome", "NNP"), ("Acme", "NNP")],
]
LEXICON = learn_tag_lexicon(SENTENCES)


def test_a_known_word_has_its_most_frequent_tag():
    assert LEXICON.tag(["the", "saw", "king"]) == ["DT", "VBD", "NN"]


def test_an_unknown_word_has_the_tag_of_rare_words_with_its_ending():
    assert LEXICON.tag(["walking"]) == ["VBG"]


def test_an_unknown_ending_has_the_most_frequent_tag_of_rare_words():
    assert LEXICON.tag(["xyz", ""]) == ["NNP", "NNP"]


def test_of_equally_frequent_tags_the_first_in_the_alphabet_wins():
    lexicon = learn_tag_lexicon([[("a", "Z"), ("a", "B")]])
    assert lexicon.tag(["a", "other"]) == ["B", "B"]


def test_it_can_be_learned_of_nothing():
    assert learn_tag_lexicon([]).tag(["word"]) == ["NN"]


words = st.text("abc", min_size=1, max_size=4)
tagged = st.lists(st.lists(st.tuples(words, st.sampled_from("XYZ"))), min_size=1)


@given(tagged)
def test_every_training_word_gets_one_of_its_most_frequent_tags(sentences):
    lexicon = learn_tag_lexicon(sentences)
    counts = Counter(pair for sentence in sentences for pair in sentence)
    for word, _ in counts:
        (found,) = lexicon.tag([word])
        assert counts[word, found] == max(counts[word, tag] for tag in "XYZ")


@given(tagged)
def test_its_file_gives_it_again(sentences):
    lexicon = learn_tag_lexicon(sentences)
    again = TagLexicon.from_bytes(lexicon.to_bytes(), FILE)
    assert again == lexicon
    assert again.hash == learn_tag_lexicon(reversed(sentences)).hash


def test_a_damaged_file_is_refused_by_name():
    data = LEXICON.to_bytes()
    assert b'"VBD"' in data
    with pytest.raises(FolderError, match=r"tags\.json: is not as it was written"):
        TagLexicon.from_bytes(data.replace(b'"VBD"', b'"VBN"'), FILE)
    with pytest.raises(FolderError):
        TagLexicon.from_bytes(data[:-20], FILE)


@pytest.mark.parametrize(
    "lexicon",
    [TagLexicon({"a": ""}, {}, "NN"), TagLexicon({}, {"ing": ""}, "NN"), TagLexicon({}, {}, "")],
)
def test_a_file_with_an_empty_tag_is_refused(lexicon):
    with pytest.raises(FolderError, match="is no lexicon of tags"):
        TagLexicon.from_bytes(lexicon.to_bytes(), FILE)
