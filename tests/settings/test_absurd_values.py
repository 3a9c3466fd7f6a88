"""Every setting has a finite range: no absurd value gets past it, or into a long message."""

import dataclasses
import math
import re

import pytest

from transduce.errors import InputError
from transduce.settings import Recipe
from transduce.settings.fields import format_number
from transduce.settings.recipe import GROUPS, with_changes

BASE = Recipe(name="base")
NUMBERS = [path for path, value in BASE.flat_settings().items() if type(value) in (int, float)]
HUGE = [10**30 - 1, 10**400, 10**5_000, 2**63, 2**64 - 1, 2**31, 10**12 + 1, 10**10, 1e308, 1e39]
ODD = [-1, -(10**30), -1e-308, -0.0, 0, 5e-324, math.nan, math.inf, -math.inf, "", " ", "1e999"]
TEXTS = ["1" + "0" * 400, "9" * 5_000, "nan", "-inf", "0x10", "١٢", "1" + "_0" * 30]


@pytest.mark.parametrize("path", BASE.flat_settings())
def test_an_absurd_value_is_refused_in_a_short_sentence_or_within_the_range(path):
    for value in [*HUGE, *ODD, *TEXTS]:
        taken, refusal = change(path, value)
        assert refusal.startswith((path.split(".")[0], "outputs may")) or not refusal, value
        assert len(refusal) < 600, value
        assert type(taken) is str or abs(taken) <= 1e30, value


def change(path, value):
    """The setting's value after a change, and the refusal of the change or ""."""
    try:
        return with_changes(BASE, {path: value}).flat_settings()[path], ""
    except InputError as error:
        return 0, error.fact


@pytest.mark.parametrize("path", NUMBERS)
def test_every_number_has_a_highest_value(path):
    group, name = path.split(".")
    with pytest.raises(InputError, match=path):
        GROUPS[group](**{name: 1e308 if type(BASE.flat_settings()[path]) is float else 10**400})


def test_a_whole_number_that_is_too_long_is_not_said_to_be_none():
    fact = "must be a whole number from -2^63 to 2^63 - 1, not a number of about"
    for beam in (2**63, 10**30, -(10**30)):
        with pytest.raises(InputError, match=re.escape(fact)):
            GROUPS["search"](beam=beam)


def test_a_message_shows_integers_of_up_to_15_digits():
    assert format_number(-(10**15) + 1) == "-999,999,999,999,999"
    assert format_number(10**14) == "100,000,000,000,000"
    assert format_number(10**15) == "a number of about 16 digits"
    assert format_number(-(10**5_000)) == "a number of about 5,001 digits"


@pytest.mark.parametrize("group", GROUPS)
def test_numbers_that_are_none_are_refused_in_python_too(group):
    for field in dataclasses.fields(GROUPS[group]):
        if type(field.default) is float:
            for value in (math.nan, math.inf, -math.inf):
                with pytest.raises(InputError, match=f"{group}.{field.name}"):
                    GROUPS[group](**{field.name: value})


def test_the_strongest_length_penalty_has_finite_divisors():
    longest = 65_536 + 100_000
    assert ((5 + longest) / 6) ** 8 < 2**128
