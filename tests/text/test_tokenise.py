"""Raw English text split into the words of a treebank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.words import tokenise


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("The dog barks.", "The dog barks ."),
        (
            "He didn't see it; she'll go, won't she?",
            "He did n't see it ; she 'll go , wo n't she ?",
        ),
        ("The dog's bone, the dogs' bones", "The dog 's bone , the dogs ' bones"),
        ('"Stop," he said.', "`` Stop , '' he said ."),
        ("“Stop,” he said.", "`` Stop , '' he said ."),
        ('He said ("no").', "He said -LRB- `` no '' -RRB- ."),
        ("a [b] {c}", "a -LSB- b -RSB- -LCB- c -RCB-"),
        ("In 1,000 years at 12:30, or: 3.5 %", "In 1,000 years at 12:30 , or : 3.5 %"),
        ("a well-known IL-2/p53 site", "a well - known IL - 2 / p53 site"),
        ("Mr. Smith of the U.S. left.", "Mr. Smith of the U.S. left ."),
        ("And then... it went -- away", "And then ... it went -- away"),
        ("He said it (twice.)", "He said it -LRB- twice . -RRB-"),
        ("", ""),
        ("  \t ", ""),
    ],
)
def test_words_are_split_as_the_newer_penn_treebanks_split_them(raw, words):
    assert tokenise(raw) == words.split()


@given(st.text())
def test_words_have_no_blanks_and_no_brackets_and_lose_no_letter(line):
    words = tokenise(line)
    assert all(word and word.split() == [word] for word in words)
    assert not set("()[]{}") & set("".join(words))
    letters = [sign for sign in line if sign.isalpha()]
    kept = "".join(word for word in words if not word.endswith("B-") or word in line)
    assert [sign for sign in kept if sign.isalpha()] == letters


@given(st.lists(st.sampled_from(["dog", "n't", "'s", ",", "``", "''", "-LRB-", "3.5", "--"])))
def test_words_that_are_split_already_stay_as_they_are(words):
    spaced = [word for word in words if word != "-LRB-"]
    assert tokenise(" ".join(spaced)) == spaced
