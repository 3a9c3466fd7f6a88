"""The ledger of a run: differences, size, cost."""

import json

import numpy as np
import pytest
import torch

from transduce.recipes import by_name
from transduce.recipes.operations import Text
from transduce.recipes.scale import LAPTOP, scaled
from transduce.settings import Architecture
from transduce.tasks import ledger
from transduce.training.journal import LOG


def test_the_paper_s_base_model_differs_in_nothing():
    said = ["every setting that the paper states is that of its base model"]
    assert ledger.differs(by_name("table2/base-en-de")) == said


def test_what_differs_is_said_with_the_paper_s_value_and_the_reason():
    first, why = ledger.differs(scaled(by_name("table3/C-N2"), LAPTOP))
    assert first.startswith("the paper's base model, but for layers 2 (6), d_model 128 (512), ")
    assert "vocabulary_size 4,000 (37,000)" in first
    assert "validate_steps" not in first, "the paper is silent there"
    assert why == f"because: laptop: {LAPTOP.about}"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("base", "63,045,632 parameters = 44,101,632 + 37,000 symbols x 512; Table 3 prints 65 mi"),
        ("A-h16", "63,045,632 parameters = 44,101,632 + 37,000 symbols x 512; Table 3 prints 65 m"),
        ("C-N2", "33,644,544 parameters = 14,700,544 + 37,000 symbols x 512; Table 3 prints 36 m"),
    ],
)
def test_the_size_stands_as_a_sum_beside_the_printed_count(row, sentence):
    sizes = by_name(f"table3/{row}").architecture
    said = ledger.size(sizes, 37_000, 37_000)
    assert said.startswith(sentence)
    assert said.endswith("million, which 41,004 to 41,208 symbols give")


def test_big_s_printed_count_wants_symbols_of_its_own():
    said = ledger.size(by_name("table3/big").architecture, 36_000, 36_000)
    assert said.endswith("Table 3 prints 213 million, which 35,368 to 36,344 symbols give")


def test_a_model_that_table_3_does_not_have_is_counted_alone():
    said = ledger.size(Architecture(layers=1, d_model=4, d_ff=4, heads=1, d_k=2), 300, 300)
    assert said.endswith(" + 300 symbols x 4")


def test_what_computes_is_measured_and_a_piece_costs_what_the_formula_says():
    text = ledger.text_of(np.array([3, 5], np.int32), np.array([4, 2], np.int32))
    assert text == Text(8.0, 6.0, 34.0, 20.0, 22.0)
    found = ledger.computing(by_name("tiny"), text, 300, torch.device("cpu"), 2)
    assert found.devices == 2
    assert found.rate > 1e8
    assert found.a_piece > 6 * 300 * 32


def written(folder, *events):
    lines = [json.dumps({"at": "", **event}) + "\n" for event in events]
    (folder / LOG).write_text("".join(lines), encoding="utf-8")


def machine(step, **facts):
    known = {"device": "a thing", "devices": 1, "rate": 1e9, "a_piece": 1e6}
    return {"event": "machine", "step": step, **known, **facts}


def update(step, seconds):
    return {"event": "update", "step": step, "seconds": seconds, "target_tokens": 100}


def test_cost_is_time_x_devices_x_rate_of_whatever_computed_then(tmp_path):
    written(
        tmp_path,
        machine(0),
        update(1, 10),
        update(2, 20),
        {"event": "resume", "step": 1},  # the second update was lost
        machine(1, devices=4, rate=1e10),
        update(2, 12),
    )
    hardware, estimated, counted = ledger.cost(tmp_path)
    assert hardware.startswith("hardware: 4 x a thing, 1.0e+10 operations/s measured on each")
    # 10 s x 1 x 1e9 + 2 s x 4 x 1e10
    assert estimated.startswith(
        "cost as the paper estimates it (time x devices x rate): 12 s, 9.0e+10"
    )
    assert ": 2.0e+08 operations, 0% of the estimate" in counted
    run = ledger.spent(tmp_path)
    assert run is not None
    assert (run.seconds, run.devices, run.rate) == (12, 4, 1e10)
    assert (run.estimated, run.counted) == (9e10, 2e8)


def test_a_run_that_never_said_what_computed_has_no_cost(tmp_path):
    written(tmp_path, update(1, 10))
    assert ledger.cost(tmp_path) == []
    assert ledger.spent(tmp_path) is None
