import json

import pytest

from transduce.search.penalties import DIVISORS, divisors
from transduce.settings import Search
from transduce.settings.search import PENALTIES


def test_every_penalty_of_the_settings_is_computed_as_its_formula_says():
    assert PENALTIES.keys() == DIVISORS.keys()
    for name, formula in PENALTIES.items():
        score = formula.replace("log P", "-3.0").replace("^", "**")
        for n, alpha in ((1, 0.0), (7, 0.6), (20, 1.0)):
            assert eval(score, {"n": n, "alpha": alpha}) == -3.0 / DIVISORS[name](n, alpha)


def test_the_gnmt_penalty_has_its_known_values():
    """lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha    (Wu et al. 2016, equation 14)"""
    table = divisors(Search(), 300)
    known = {1: 1.0, 5: 1.358655, 10: 1.732862, 20: 2.354362, 50: 3.778565, 300: 10.560614}
    assert {n: table[n].item() for n in known} == pytest.approx(known, abs=1e-5)


def test_the_gnmt_penalty_equals_the_shared_values(shared):
    cases = json.loads((shared / "fixtures/mt/length_penalty.json").read_text("utf-8"))["penalty"]
    assert len(cases) > 20
    for case in cases:
        divisor = DIVISORS["gnmt"](case["length"], case["alpha"])
        assert divisor == pytest.approx(case["penalty"], rel=1e-12)


def test_average_divides_by_the_symbols_and_none_by_nothing():
    assert divisors(Search(penalty="average"), 3).tolist() == [1, 1, 2, 3]
    assert divisors(Search(penalty="none"), 3).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("penalty", DIVISORS)
def test_no_divisor_falls_with_the_length(penalty):
    table = divisors(Search(penalty=penalty), 2_000)
    assert (table[1:] >= table[:-1]).all()
