"""Each line of input is normalised by one call, however it comes in and however long it is."""

from collections import Counter

import pytest
from tests.inference.random_models import random_translator

from transduce.settings import Data
from transduce.tasks import task, text
from transduce.text import clean

LINES = [
    "the\u00a0dog sees",
    "a  cat",
    "",
    "The dog runs. A cat, and a woman; who runs now and not today",
]


@pytest.fixture
def calls(monkeypatch):
    """Count the texts that are normalised, by any of the modules that may do it."""
    counted: Counter[str] = Counter()
    original = clean.normalise

    def count(line):
        counted[line] += 1
        return original(line)

    for module in (task, text, clean):
        monkeypatch.setattr(module, "normalise", count)
    return counted


def test_a_line_is_normalised_once_on_its_way_through_translate(calls):
    with pytest.warns(UserWarning, match="a sentence of"):
        random_translator(longest=12)(LINES)
    assert {line: calls[line] for line in LINES} == dict.fromkeys(LINES, 1)
    assert not calls["the dog sees"], "what was normalised is not normalised again"
    assert not calls["a cat"]


def test_both_sides_of_a_pair_are_normalised_once_for_their_likelihood(calls):
    sources, targets = LINES[:2], ["a dog\u00a0", "some  cat"]
    list(random_translator().likelihood(zip(sources, targets, strict=True)))
    assert dict(calls) == dict.fromkeys(sources + targets, 1)


def test_a_pair_is_normalised_once_on_its_way_into_a_store(calls):
    cleaner = clean.Cleaner(Data(drop_identical=False))
    pairs = [("der\u00a0Hund", "the  dog"), ("eine Katze ", "a cat\t")]
    assert list(cleaner.clean(pairs)) == [("der Hund", "the dog"), ("eine Katze", "a cat")]
    assert dict(calls) == {text: 1 for pair in pairs for text in pair}
