"""Results put together: what may stand in one table."""

import pytest
from tests.reproduce.results import elsewhere, german, result

from transduce.errors import InputError
from transduce.recipes.scale import LAPTOP, scaled
from transduce.recipes.tables import TABLE_2_ROWS, TABLE_3, match_training_cost
from transduce.reproduce.report import describe_conditions
from transduce.reproduce.table import build_table

BASE = [result("base", 30.0, seed=1), result("base", 30.4, seed=2)]
GERMAN = TABLE_2_ROWS["en-de"]


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (elsewhere(BASE[1], scale="toy"), "scales"),
        (elsewhere(BASE[1], data={"train": "z"}), "corpora"),
        (elsewhere(BASE[1], bleu={**BASE[1].bleu, "test_set": "others"}), "test sets"),
        (result("A-h1", 29.0, training__steps=7), "settings"),
        (result("A-h1", 29.0, search__beam=7), "settings"),
    ],
)
def test_what_differs_in_more_than_the_row_makes_no_table(other, what):
    with pytest.raises(InputError, match=f"of 2 different {what}: they make no single table\nhint"):
        build_table([BASE[0], other], TABLE_3)


def test_threads_and_seed_are_no_difference():
    table = build_table([BASE[0], result("A-h1", 29.0, seed=5, training__threads=16)], TABLE_3)
    assert table.rows.keys() == {"base", "A-h1"}


def test_a_row_of_another_table_is_refused_by_name():
    fact = "a result of table2/big-en-de at laptop has no place in a table with table3/base at lap"
    with pytest.raises(InputError, match=f"{fact}.*\nhint: gather the folders of one table"):
        build_table([BASE[0], german("big", 29.0)], TABLE_3)


def test_no_result_is_no_table():
    with pytest.raises(InputError, match="no row has been measured yet\nhint: without gather"):
        build_table([], TABLE_3)


def test_what_was_changed_in_every_row_is_said():
    table = build_table([result("base", 3.0, training__steps=7, search__beam=5)], TABLE_3)
    assert "changed in every row: training.steps=7, search.beam=5" in list(
        describe_conditions(table)
    )


def test_steps_that_follow_from_those_of_base_are_no_change():
    base = german("base", 30.0)
    small = scaled(GERMAN["recurrent"], LAPTOP)
    fair = match_training_cost(base.recipe, small).training.steps
    assert fair != small.training.steps
    table = build_table([base, german("recurrent", 29.0, training__steps=fair)], GERMAN)
    assert table.changes == {}


@pytest.mark.parametrize("rows", [("base", "recurrent"), ("recurrent", "base")])
def test_a_change_of_steps_is_that_of_the_rows_with_attention(rows):
    steps = {"base": 4, "recurrent": 3}
    results = [german(row, 30.0, training__steps=steps[row]) for row in rows]
    assert build_table(results, GERMAN).changes == {"training.steps": 4}


def test_a_row_alone_whose_steps_follow_is_a_table():
    alone = german("recurrent", 30.0, training__steps=3)
    assert build_table([alone], GERMAN).changes == {}
