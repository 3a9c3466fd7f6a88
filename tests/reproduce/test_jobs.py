"""Which trainings a table asks for."""

from pathlib import Path

import pytest
import torch

from transduce.errors import InputError, NotEnoughMemoryError, is_out_of_memory
from transduce.recipes.scale import PAPER, TOY
from transduce.recipes.tables import TABLE_2_ROWS, TABLE_3
from transduce.reproduce import job as job_module
from transduce.reproduce.job import (
    TableRequest,
    plan_jobs,
    require_row_fits_memory,
)
from transduce.reproduce.tables import table3


def plan(table, recipes, scale=TOY, **wanted):
    return plan_jobs(table, recipes, TableRequest(output=Path("out"), scale=scale, **wanted))


def names(**wanted):
    return [job.name for job in plan("table3", TABLE_3, **wanted)]


@pytest.mark.parametrize("seeds", [0, []])
def test_a_table_without_any_seed_is_refused(seeds, tmp_path):
    with pytest.raises(InputError, match="no seed is given\nhint: seeds=1, or a list"):
        table3(tmp_path / "table3", scale="toy", seeds=seeds)
    assert not (tmp_path / "table3").exists()


def test_unless_rows_are_named_all_are_trained_in_the_paper_s_order():
    assert names() == [f"{row}-seed1" for row in TABLE_3]


def test_rows_come_in_the_paper_s_order_and_each_once_before_the_second_seed():
    asked = names(rows=("A-h1", "base"), seeds=(1, 2))
    assert asked == ["base-seed1", "A-h1-seed1", "base-seed2", "A-h1-seed2"]


def test_a_change_is_made_to_every_row_after_the_scale():
    changes = {"training.steps": 3}
    (job,) = plan("table3", TABLE_3, rows=("C-N2",), seeds=(7,), changes=changes)
    assert (job.recipe.training.steps, job.recipe.training.seed) == (3, 7)
    assert (job.recipe.architecture.layers, job.recipe.architecture.d_model) == (2, 32)


def test_an_unknown_row_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="table3 has no row 'A-h2'\nhint: did you mean A-h"):
        names(rows=("A-h2",))


def test_a_seed_is_no_change():
    with pytest.raises(
        InputError, match=r"training\.seed cannot be one of the changed settings\nhint: seeds=3"
    ):
        names(changes={"training.seed": 4})


def test_a_row_that_does_not_fit_memory_is_refused_with_the_number(monkeypatch):
    monkeypatch.setattr(job_module, "memory_per_process", lambda _: 10**9)
    (job,) = plan("table3", TABLE_3, PAPER, rows=("base",))
    with pytest.raises(
        NotEnoughMemoryError, match=r"row base: to train .* more than 1\.0 GB.*\nhint: a sma"
    ):
        require_row_fits_memory(job)


def too_much():
    torch.empty(10**15)


def not_so_much():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")


def all_of_it():
    raise MemoryError


@pytest.mark.parametrize(
    "words",
    ["CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`", "Cannot allocate memory (12)"],
)
def test_a_lack_of_memory_is_known_by_the_words_of_libraries(words):
    assert is_out_of_memory(RuntimeError(words))


@pytest.mark.parametrize("work", [too_much, not_so_much, all_of_it])
def test_a_lack_of_memory_is_known_by_what_python_and_torch_raise(work):
    with pytest.raises((MemoryError, RuntimeError)) as error:
        work()
    assert is_out_of_memory(error.value)
    assert not is_out_of_memory(RuntimeError("shapes do not match"))


@pytest.mark.parametrize("rows", [(), ("recurrent", "separable")])
def test_other_layers_take_the_cost_of_base_as_it_is_changed_here(rows):
    changes = {"training.steps": "1000"}
    steps = {
        job.row: job.recipe.training.steps
        for job in plan("table2", TABLE_2_ROWS["en-de"], rows=rows, changes=changes)
    }
    # products a piece, 6 layers and the map, by hand: 220,032; 237,696 and 165,120 in these rows
    assert (steps["recurrent"], steps["separable"]) == (926, 1333)
    assert {row: steps[row] for row in steps if row in ("base", "big")} == (
        {} if rows else {"base": 1000, "big": 1000}
    )
