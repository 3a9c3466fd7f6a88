"""Recipes are found by their names."""

import pytest

from transduce.errors import InputError
from transduce.recipes import by_name, difference, names
from transduce.recipes.tables import TABLE_3
from transduce.settings import Recipe

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
