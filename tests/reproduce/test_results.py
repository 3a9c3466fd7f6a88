"""The file of a row's result."""

import gzip
import re

import pytest
from tests.reproduce.results import elsewhere, german, result

from transduce.durable.json import FORMAT, to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.recipes.scale import LAPTOP
from transduce.reproduce.job import RowJob
from transduce.reproduce.result import (
    MEASURE_AGAIN,
    RESULT,
    choose_metrics,
    gather_results,
    read_result,
    require_same_row,
    write_result,
)
from transduce.scores.test_sets import identify_test_set
from transduce.settings.recipe import with_changes
from transduce.text.clean import normalise

ONE = german("base", 30.0)
JOB = RowJob(table="table2", row="base", scale=LAPTOP, recipe=ONE.recipe)
ADDED_LATER = ("averaged", "cost", "paper_bleu")


def write_without(folder, *names):
    values = {k: v for k, v in vars(ONE).items() if k not in names}
    (folder / RESULT).write_bytes(to_checksummed_json(values | {"recipe": ONE.recipe.as_json()}))


def test_what_is_written_is_read(tmp_path):
    write_result(tmp_path, ONE)
    assert read_result(tmp_path) == elsewhere(ONE, averaged=[1, 2, 3])


def test_a_result_from_before_there_were_averages_and_costs_is_read(tmp_path):
    write_without(tmp_path, *ADDED_LATER)
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
    results, faults = gather_results([tmp_path, tmp_path / "a"])
    assert (len(results), faults) == (1, [])


def test_a_seed_that_was_trained_twice_is_not_taken_for_two(tmp_path):
    """Two results would be two seeds, and their spread that of one."""
    for name, one in (("a", ONE), ("b", elsewhere(ONE, model="another"))):
        (tmp_path / name).mkdir()
        write_result(tmp_path / name, one)
    fact = f"{tmp_path}/b: holds another result of base from seed 1 than {tmp_path}/a\nhint: gather"
    with pytest.raises(InputError, match=re.escape(fact)):
        gather_results([tmp_path])


def test_a_model_that_was_scored_twice_in_two_ways_is_refused(tmp_path):
    for name, one in (("a", ONE), ("b", elsewhere(ONE, bleu={**ONE.bleu, "value": 31.0}))):
        (tmp_path / name).mkdir()
        write_result(tmp_path / name, one)
    with pytest.raises(InputError, match="holds another result of base"):
        gather_results([tmp_path])


def test_other_seeds_and_rows_of_other_recipes_are_results_of_their_own(tmp_path):
    for n, one in enumerate((ONE, german("base", 30.0, seed=2), result("base", 30.0))):
        (tmp_path / str(n)).mkdir()
        write_result(tmp_path / str(n), one)
    assert len(gather_results([tmp_path])[0]) == 3


def test_what_is_no_result_is_named_once_and_loses_no_other(tmp_path):
    write_result(tmp_path, ONE)
    whole = (tmp_path / RESULT).read_bytes()
    broken = {
        "a": whole[:-9],
        "b": b"[1]",
        "c": whole.replace(b"30.0", b"39.0"),
        "d": to_checksummed_json({}),
    }
    for name, data in broken.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / RESULT).write_bytes(data)
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / RESULT).symlink_to(tmp_path / RESULT)
    results, faults = gather_results([tmp_path, tmp_path / "a"])
    assert [one.row for one in results] == ["base"]
    assert [fault.fact.split(":")[0] for fault in faults] == [
        f"{tmp_path}/{name}/{RESULT}" for name in "abcde"
    ]
    assert {fault.hint for fault in faults} == {MEASURE_AGAIN}


def test_a_result_of_a_later_version_is_not_to_be_deleted(tmp_path):
    write_result(tmp_path, ONE)
    file = tmp_path / RESULT
    later = b'"format": %d' % (FORMAT + 1)
    file.write_bytes(file.read_bytes().replace(b'"format": %d' % FORMAT, later))
    with pytest.raises(FolderError, match=r"has format .*\nhint: install a newer transduce"):
        read_result(tmp_path)


def marks_apart(line):
    return re.sub(r"([.?!])$", r" \1", line)


@pytest.mark.parametrize("change", [str, normalise, marks_apart])
def test_on_a_test_set_of_the_paper_its_own_bleu_is_taken(shared, change):
    """As it is, as a store has it, and cut into words by others."""
    german = shared / "data/wmt-newstest/newstest2013.en-de.de.gz"
    with gzip.open(german, "rt", encoding="utf-8") as file:
        lines = [change(line.rstrip("\n")) for line in file]
    paper = "bleu-paper" if change == marks_apart else "bleu-paper-plain"
    assert choose_metrics(lines) == ("bleu", paper)
    assert choose_metrics(lines[:-1]) == ("bleu",)


def test_a_result_is_of_one_recipe_and_one_test_set(tmp_path):
    lines = (["a"], ["b"])
    same = elsewhere(ONE, bleu={**ONE.bleu, "test_set": identify_test_set(lines[1])})
    require_same_row(JOB, same, lines, tmp_path)
    require_same_row(JOB, ONE, None, tmp_path)
    with pytest.raises(InputError, match="was measured with test set = some lines, and "):
        require_same_row(JOB, ONE, lines, tmp_path)
    wide = elsewhere(ONE, recipe=with_changes(ONE.recipe, {"search.beam": 9}))
    with pytest.raises(InputError, match=r"was measured with search\.beam = 9, and 4 is wanted"):
        require_same_row(JOB, wide, None, tmp_path)
