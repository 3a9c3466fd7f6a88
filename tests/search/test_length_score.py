"""Scores by length: the formulas of the settings, and the bound that stops a search."""

import json

import pytest
import torch

from transduce.inference.pairs import score_log_probs
from transduce.paper.search import LENGTH_TERMS, LengthScore, LengthTerms
from transduce.settings import Search
from transduce.settings.search import PENALTIES


def divisors(search, max_length):
    return LengthScore.tabulate(search, max_length).divisors


def test_every_penalty_of_the_settings_is_computed_as_its_formula_says():
    assert PENALTIES.keys() == LENGTH_TERMS.keys()
    for name, formula in PENALTIES.items():
        score = formula.replace("log P", "-3.0").replace("^", "**")
        for n, alpha, gamma in ((1, 0.0, 0.0), (7, 0.6, 0.5), (20, 1.0, 2.0)):
            search = Search(penalty=name, alpha=alpha, gamma=gamma)
            expected = eval(score, {"n": n, "alpha": alpha, "gamma": gamma})
            assert score_log_probs([-3.0], [n], search) == pytest.approx([expected], rel=1e-6)


def test_the_gnmt_penalty_has_its_known_values():
    """lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha    (Wu et al. 2016, equation 14)"""
    table = divisors(Search(), 300)
    known = {1: 1.0, 5: 1.358655, 10: 1.732862, 20: 2.354362, 50: 3.778565, 300: 10.560614}
    assert {n: table[n].item() for n in known} == pytest.approx(known, rel=1e-6)


def test_the_gnmt_penalty_equals_the_shared_values(facts):
    cases = json.loads((facts / "mt/length_penalty.json").read_text("utf-8"))["penalty"]
    assert len(cases) > 20
    for case in cases:
        divisor, _ = LENGTH_TERMS["gnmt"](case["length"], Search(alpha=float(case["alpha"])))
        assert divisor == pytest.approx(case["penalty"], rel=1e-12)


def test_average_divides_by_the_symbols_and_none_by_one():
    assert divisors(Search(penalty="average"), 3).tolist() == [1, 1, 2, 3]
    assert divisors(Search(penalty="none"), 3).tolist() == [1, 1, 1, 1]


def assert_bound_holds(length_score, *, exact):
    """Compare the bound with the best score over all lengths up to each limit."""
    log_probs = -torch.arange(0.0, 12.0, 0.5)[:, None]
    for limit in range(1, 41):
        lengths = torch.arange(1, limit + 1)
        best = length_score.score(log_probs, lengths).amax(dim=1)
        bound = length_score.upper_bound(log_probs[:, 0], torch.tensor(limit))
        assert (bound >= best).all()
        assert not exact or torch.equal(bound, best)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_bound_is_the_best_score_within_the_limit(penalty):
    assert_bound_holds(LengthScore.tabulate(Search(penalty=penalty), 40), exact=True)


def test_the_bound_is_never_too_low_for_a_penalty_that_rises_and_falls(monkeypatch):
    monkeypatch.setitem(
        LENGTH_TERMS, "none", lambda n, _: LengthTerms(1 + n % 7, reward=2.0 - abs(n - 10) / 4)
    )
    assert_bound_holds(LengthScore.tabulate(Search(penalty="none"), 40), exact=False)


def test_outputs_are_scored_in_float64():
    search = Search(penalty="reward", gamma=0.5)
    assert score_log_probs([-1.0, 2e-12], [3, 2], search) == [-1.0 + 0.5 * 3, 2e-12 + 1.0]
    assert score_log_probs([], [], search) == []


def test_a_changed_score_of_the_search_is_that_of_given_outputs_too(monkeypatch):
    monkeypatch.setattr(LengthScore, "score", lambda _, log_probs, lengths: log_probs - lengths)
    assert score_log_probs([-1.0], [3], Search()) == [-4.0]
