"""Recipes are found by their names."""

from dataclasses import replace

import pytest

from transduce.errors import InputError
from transduce.recipes import by_name, difference, names
from transduce.recipes.catalogue import find_original_name
from transduce.recipes.choice import customise_recipe
from transduce.recipes.scale import SCALES, scaled
from transduce.recipes.tables import TABLE_3
from transduce.settings import Recipe
from transduce.settings.recipe import shorten_name

TABLE_3_NAMES = [recipe.name for recipe in TABLE_3.values()]


def test_every_recipe_answers_to_its_name():
    assert all(by_name(name).name == name for name in names())


def test_every_recipe_says_what_it_is():
    assert all(by_name(name).about for name in names())


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(InputError) as error:
        by_name("table3/bas")
    assert str(error.value).startswith("unknown recipe 'table3/bas'\nhint: did you mean table3/ba")


def test_a_recipe_that_leaves_the_paper_says_why():
    paper = Recipe(name="the paper").flat_settings()
    for name in names():
        recipe = by_name(name)
        if name in {*TABLE_3_NAMES, "table2/base-en-de", "table2/big-en-de"}:
            assert recipe.because == ""
        else:
            assert recipe.flat_settings() == paper or recipe.because


def test_a_difference_names_each_changed_setting_with_both_values():
    assert difference(by_name("table3/base"), by_name("table3/C-d256")) == [
        ("architecture.d_model", 512, 256),
        ("architecture.d_k", 64, 32),
        ("architecture.d_v", 64, 32),
    ]


def test_a_recipe_does_not_differ_from_itself():
    assert all(difference(by_name(name), by_name(name)) == [] for name in names())


def test_recipes_come_back_from_the_json_that_runs_store():
    assert all(Recipe.from_mapping(by_name(n).as_json()) == by_name(n) for n in names())


def test_the_last_part_of_a_name_is_enough_for_the_hint():
    with pytest.raises(InputError) as error:
        by_name("wsj")
    assert str(error.value) == "unknown recipe 'wsj'\nhint: did you mean table4/wsj?"


@pytest.mark.parametrize("name", ["demo with cats", "dogs at home", "demo at night with 2 cats"])
def test_a_recipe_of_the_user_keeps_its_name_whatever_words_are_in_it(name):
    own = replace(by_name("demo"), name=name)
    changed = customise_recipe(own, {"training.steps": 5})
    assert changed.name == find_original_name(own) == find_original_name(changed) == name


def test_a_changed_value_may_have_a_comma():
    once = customise_recipe(by_name("demo"), {"data.corpus": "x, y"})
    twice = customise_recipe(once, {"training.steps": 5})
    assert twice.name == "demo with data.corpus=x, y, training.steps=5"
    assert shorten_name(f"{once.name}{', z' * 20}") == "demo with 1 changed setting"


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_a_derived_recipe_is_traced_to_its_original_at_every_scale(scale):
    steps = {"training.steps": 5, "training.warmup": 2, "training.validate_every": 3}
    small = scaled(by_name("table3/base"), scale)
    changed = customise_recipe(small, steps)
    short = replace(changed, name=shorten_name(changed.name))
    assert {find_original_name(one) for one in (small, changed, short)} == {"table3/base"}
