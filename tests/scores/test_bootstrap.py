"""Paired bootstrap resampling, against sacreBLEU's."""

import json
import random
from dataclasses import replace
from typing import Any, cast

import pytest
from sacrebleu.significance import PairedTest, Result

from transduce.errors import InputError
from transduce.scores.metrics import METRICS
from transduce.scores.scoring import compare_outputs, compute_score, measure_significance

WORDS = ["the", "a", "dog", "cat", "runs", "sits", "under", "table", "green", "old", "cup", "and"]


def random_texts(seed=1, lines=80):
    """Build references, an output with few faults, and an output with more."""
    draw = random.Random(seed)

    def replace_words(line, share):
        return " ".join(draw.choice(WORDS) if draw.random() < share else word for word in line)

    lines_ = [[draw.choice(WORDS) for _ in range(draw.randint(4, 14))] for _ in range(lines)]
    return (
        [" ".join(line) for line in lines_],
        [replace_words(line, 0.2) for line in lines_],
        [replace_words(line, 0.25) for line in lines_],
    )


@pytest.mark.parametrize("seed", [12345, 7])
def test_scores_and_p_are_those_of_sacrebleu(seed, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    references, good, poor = random_texts()
    for metric in ("bleu", "chrf", "ter"):
        test = PairedTest(
            [("poor", poor), ("good", good)],
            {metric: cast("Any", METRICS[metric].scorer).build()},
            [references],
            test_type="bs",
            n_samples=200,
        )
        _, scores = test()
        (system,) = (results[1] for name, results in scores.items() if name != "System")
        assert isinstance(system, Result)
        found = compare_outputs(metric, (good, poor), references, samples=200, seed=seed)
        assert (found.ours.value, found.p) == (system.score, system.p_value)


def test_both_scores_are_those_of_compute_score():
    references, good, poor = random_texts()
    found = compare_outputs("bleu", (good, poor), references, samples=40)
    assert found.ours == compute_score("bleu", good, references)
    assert found.theirs == compute_score("bleu", poor, references)
    assert found.difference == found.ours.value - found.theirs.value


def test_a_large_difference_is_more_than_chance_and_a_small_one_may_be():
    references, good, poor = random_texts()
    large = compare_outputs("bleu", (references, poor), references, samples=200)
    assert large.p == pytest.approx(1 / 201)
    assert 0 < large.low < large.difference < large.high
    assert "more than chance" in str(large)
    small = compare_outputs("bleu", ([*good[:-1], poor[-1]], good), references, samples=200)
    assert small.p > 0.05
    assert small.low <= 0 <= small.high
    assert "may be chance" in str(small)


def test_a_difference_whose_interval_contains_0_may_be_chance_whatever_p_is():
    """sacreBLEU's p is often under 0.05 where over 5 % of the samples turn the difference round."""
    references, good, poor = random_texts()
    found = compare_outputs("bleu", (good, poor), references, samples=40)
    clear = replace(found, low=0.1, high=2.0, p=0.03)
    assert "p = 0.0300, more than chance" in str(clear)
    assert "p = 0.0300, but the range includes 0: may be chance" in str(replace(clear, low=-0.1))


def test_equal_outputs_do_not_differ():
    references, good, _ = random_texts()
    found = compare_outputs("chrf", (good, good), references, samples=40)
    assert (found.difference, found.low, found.high) == (0, 0, 0)
    assert "+0.00 to +0.00 in 95 % of 40 resampled test sets" in str(found)
    assert found.p == 1.0
    assert "may be chance" in str(found)


def test_the_other_way_round_the_signs_change_and_p_does_not():
    references, good, poor = random_texts()
    one = compare_outputs("ter", (good, poor), references, samples=100)
    other = compare_outputs("ter", (poor, good), references, samples=100)
    assert (other.low, other.high) == (-one.high, -one.low)
    assert other.p == one.p


def test_95_of_100_differences_lie_between_low_and_high():
    low, high, _ = measure_significance(0.0, list(map(float, range(100))), [0.0] * 100)
    assert (low, high) == (2, 97)


def test_the_paper_s_bleu_is_compared_too():
    found = compare_outputs(
        "bleu-paper",
        (["Er kam zur EU-Kommission."] * 4, ["Er kam zur EU-Kommission nicht."] * 4),
        ["Er kam zur EU-Kommission ."] * 4,
        language="de",
        samples=40,
    )
    assert found.ours.value == pytest.approx(100)
    assert found.low == found.high == pytest.approx(found.difference, abs=1e-4)


def test_a_comparison_goes_to_json_whole():
    references, good, poor = random_texts()
    found = compare_outputs("bleu", (good, poor), references, samples=40, seed=3)
    back = json.loads(json.dumps(found.as_json()))
    assert back["theirs"]["value"] == found.theirs.value
    assert (back["difference"], back["p"]) == (found.difference, found.p)
    assert (back["samples"], back["seed"]) == (40, 3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"samples": 39}, "39 samples have no 95 % of them\nhint: samples=1000"),
        ({"seed": -1}, "a seed is 0 or more"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(values, message):
    references, good, poor = random_texts(lines=4)
    with pytest.raises(InputError, match=message):
        compare_outputs("bleu", (good, poor), references, **values)


def test_a_difference_says_which_way_is_better():
    references, good, poor = random_texts()
    said = [
        str(compare_outputs(one, (good, poor), references, samples=40)) for one in ("ter", "bleu")
    ]
    assert ", the first minus the second (lower is better) | " in said[0]
    assert ", the first minus the second | " in said[1]
