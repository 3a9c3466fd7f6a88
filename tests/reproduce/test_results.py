"""The file of a row's result."""

import pytest
from tests.reproduce.results import elsewhere, german

from transduce.durable import seal
from transduce.errors import FolderError, InputError
from transduce.recipes.scale import LAPTOP
from transduce.reproduce.job import Job
from transduce.reproduce.result import (
    RESULT,
    demand_same_row,
    gathered,
    read_result,
    write_result,
)
from transduce.scores.references import name_of
from transduce.settings.recipe import with_changes

ONE = german("base", 30.0)
JOB = Job(table="table2", row="base", scale=LAPTOP, recipe=ONE.recipe)
YOUNGER = ("averaged", "cost", "paper_bleu")


def write_without(folder, *names):
    values = {k: v for k, v in vars(ONE).items() if k not in names}
    (folder / RESULT).write_bytes(seal(values | {"recipe": ONE.recipe.as_json()}))


def test_what_is_written_is_read(tmp_path):
    write_result(tmp_path, ONE)
    assert read_result(tmp_path) == elsewhere(ONE, averaged=[1, 2, 3])


def test_a_result_from_before_there_were_averages_and_costs_is_read(tmp_path):
    write_without(tmp_path, *YOUNGER)
    found = read_result(tmp_path)
    assert found == elsewhere(ONE, averaged=(), cost={}, paper_bleu={})


def test_a_result_without_its_figure_is_refused(tmp_path):
    write_without(tmp_path, "bleu")
    with pytest.raises(FolderError, match="is no result as this version writes it\nhint: delete"):
        read_result(tmp_path)


def test_results_are_found_below_folders_each_once(tmp_path):
    for name in ("a/rows/base-seed1", "b/copied"):
        (tmp_path / name).mkdir(parents=True)
        write_result(tmp_path / name, ONE)
    assert len(gathered([tmp_path, tmp_path / "a"])) == 1


def test_a_result_is_of_one_recipe_and_one_test_set(tmp_path):
    lines = (["a"], ["b"])
    same = elsewhere(ONE, bleu={**ONE.bleu, "test_set": name_of(lines[1])})
    demand_same_row(JOB, same, lines, tmp_path)
    demand_same_row(JOB, ONE, None, tmp_path)
    with pytest.raises(InputError, match="was measured with test set = some lines, and "):
        demand_same_row(JOB, ONE, lines, tmp_path)
    wide = elsewhere(ONE, recipe=with_changes(ONE.recipe, {"search.beam": 9}))
    with pytest.raises(InputError, match=r"was measured with search\.beam = 9, and 4 is wanted"):
        demand_same_row(JOB, wide, None, tmp_path)
