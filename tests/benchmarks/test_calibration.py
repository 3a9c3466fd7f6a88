"""The arithmetic of `benchmarks/calibration.py`."""

import random
from typing import Any

import pytest
from benchmarks.calibration import calibration_error, find_kept, fit_exponent, list_words


def test_a_shortest_edit_keeps_what_both_have_in_order():
    assert find_kept("abc", "abc") == {0, 1, 2}
    assert find_kept("axc", "abc") == {0, 2}
    assert find_kept("cab", "ab") == {1, 2}
    assert find_kept([], ["a"]) == find_kept(["a"], []) == set()


def test_words_are_made_of_their_pieces():
    sentence: dict[str, Any] = {
        "target_pieces": ["ein", "e", "␣Frau", "</s>"],
        "log_probs": [-0.5, -0.5, 0.0, 0.0],
    }
    assert [(text, round(p, 3)) for text, p in list_words(sentence)] == [
        ("eine", 0.368),
        ("Frau", 1),
    ]


def test_the_exponent_that_probabilities_were_spoilt_by_is_found():
    rng = random.Random(1)
    true = [rng.random() for _ in range(20_000)]
    words = [(p**0.5, rng.random() < p) for p in true]
    assert calibration_error(words) == pytest.approx(1 / 6, abs=0.01)
    exponent = fit_exponent(words)
    assert exponent == pytest.approx(2, abs=0.1)
    assert calibration_error([(p**exponent, right) for p, right in words]) < 0.02
