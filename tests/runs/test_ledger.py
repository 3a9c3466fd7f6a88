"""The ledger of a run: differences, size, cost."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.runs.corpora import TOY, prepared_toy

import transduce
from transduce.corpus.plan import Plan
from transduce.paper.training import Update
from transduce.recipes import by_name, names
from transduce.runs import ledger
from transduce.runs.adapt import mix_old_pairs
from transduce.runs.texts import InMemoryPairs
from transduce.settings import Architecture
from transduce.settings.counts import TextSize, count_recipe_parameters
from transduce.settings.recipe import with_changes
from transduce.training.progress import MachineRecord, Progress

STEPS = 60


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("base", "63,045,632 parameters = 44,101,632 + 37,000 symbols x 512; Table 3 prints 65 mi"),
        ("C-N2", "33,644,544 parameters = 14,700,544 + 37,000 symbols x 512; Table 3 prints 36 m"),
    ],
)
def test_the_size_stands_as_a_sum_beside_the_printed_count(row, sentence):
    sizes = by_name(f"table3/{row}").architecture
    said = ledger.describe_size(sizes, 37_000, 37_000)
    assert said.startswith(sentence)
    assert said.endswith("million, which 41,004 to 41,208 symbols give")


@pytest.mark.parametrize(
    ("row", "sum_of"),
    [
        ("A-h16", "63,045,632 parameters = 44,101,632 + 37,000 symbols x 512"),
        ("E-learned", "64,094,208 parameters = 45,150,208 + 37,000 symbols x 512"),
    ],
)
def test_where_the_table_prints_no_count_none_is_said(row, sum_of):
    assert ledger.describe_size(by_name(f"table3/{row}").architecture, 37_000, 37_000) == sum_of


def test_big_s_printed_count_wants_symbols_of_its_own():
    said = ledger.describe_size(by_name("table3/big").architecture, 36_000, 36_000)
    assert said.endswith("Table 3 prints 213 million, which 35,368 to 36,344 symbols give")


def test_a_model_that_table_3_does_not_have_is_counted_alone():
    said = ledger.describe_size(Architecture(layers=1, d_model=4, d_ff=4, heads=1, d_k=2), 300, 300)
    assert said.endswith(" + 300 symbols x 4")


def test_other_heads_of_the_same_width_are_told_what_keeps_the_cost():
    demo = by_name("demo")
    one = with_changes(demo, {"architecture.heads": 1})
    (said,) = ledger.describe_heads(one)
    kept = with_changes(one, dict(re.findall(r"--set (\S+)=(\d+)", said)))
    assert count_recipe_parameters(kept) == count_recipe_parameters(demo)
    wide = with_changes(one, {"architecture.d_v": 128})
    assert [ledger.describe_heads(recipe) for recipe in (kept, wide)] == [[], []]


def test_no_recipe_by_name_is_told_of_its_heads():
    assert [name for name in names() if ledger.describe_heads(by_name(name))] == []


def test_what_computes_is_measured_and_per_piece_costs_what_the_formula_says():
    text = ledger.sum_lengths(np.array([3, 5], np.int32), np.array([4, 2], np.int32))
    assert text == TextSize(8.0, 6.0, 34.0, 20.0, 22.0)
    found = ledger.measure_machine(by_name("tiny"), text, 300, torch.device("cpu"), 2)
    assert found.devices == 2
    assert found.rate > 1e8
    assert found.per_piece > 6 * 300 * 32


def progress_of(*updates):
    """The progress after updates of 100 target tokens, each given by its seconds and machine."""
    progress = Progress()
    for step, (seconds, machine) in enumerate(updates, start=1):
        update = Update(step, 2.0, 1.5, 90, 100, 0.1, 1.0, applied=True)
        progress = progress.after_update(update, seconds, machine)
    return progress


def machine(**facts):
    return replace(MachineRecord("a thing", devices=1, rate=1e9, per_piece=1e6), **facts)


def test_cost_is_time_x_devices_x_rate_of_whatever_computed_then():
    run = progress_of((10.0, machine()), (2.0, machine(devices=4, rate=1e10))).cost
    hardware, estimated, counted = ledger.describe_cost(run)
    assert hardware.startswith("hardware: 4 x a thing, 1.0e+10 operations/s measured on each")
    # 10 s x 1 x 1e9 + 2 s x 4 x 1e10
    assert estimated.startswith(
        "cost as the paper estimates it (time x devices x rate): 12 s, 9.0e+10"
    )
    assert ": 2.0e+08 operations, 0% of the estimate" in counted
    assert run is not None
    assert (run.seconds, run.devices, run.rate) == (12, 4, 1e10)
    assert (run.estimated, run.counted) == (9e10, 2e8)


def test_a_run_whose_machine_was_not_measured_has_no_cost():
    assert progress_of((10.0, None)).cost is None
    assert ledger.describe_cost(None) == []


@pytest.mark.parametrize(("source", "said"), [(256, ["256"]), (1_024, ["1,024", "256"])])
def test_an_update_s_limits_are_told_for_each_side_if_they_differ(tmp_path, source, said):
    recipe = with_changes(TOY, {"data.source_tokens": source, "data.target_tokens": 256})
    *_, update = ledger.describe_training(recipe, prepared_toy(tmp_path / "store", recipe))
    limits = update.partition(" of at most ")[2].partition(":")[0]
    assert re.findall(r"[\d,]+", limits) == said


def test_passes_over_a_mixture_are_told_for_each_text_by_its_share(tmp_path):
    new, old = ([(f"{word} {n}", f"{n} {word}") for n in range(400 * times)] for word, times in (
        ("a", 1), ("b", 10),
    ))  # fmt: skip
    text = mix_old_pairs(InMemoryPairs(tuple(new)), InMemoryPairs(tuple(old)), 0.5)
    wide = {"data.max_pairs": 0, "data.source_tokens": 1_000, "data.target_tokens": 1_000}
    recipe = with_changes(TOY, {"data.task": "translation", **wide})
    prepared = transduce.prepare(tmp_path / "store", text, False, recipe=recipe)
    plan = Plan(
        prepared.train.source_lengths,
        prepared.train.target_lengths,
        source_tokens=recipe.data.source_tokens,
        target_tokens=recipe.data.target_tokens,
        seed=1,
        mixture=prepared.train.mixture,
    )
    taken = np.concatenate([plan.select_pairs(step) for step in range(1, 1 + STEPS)])
    read = ledger.estimate_pairs_read(prepared.train, recipe.data, STEPS)
    assert read == pytest.approx([(taken < 400).sum(), (taken >= 400).sum()], rel=0.1)
    said = ledger.describe_passes(prepared.train, recipe.data, STEPS)
    assert " passes over new (400 pairs), " in said
    assert said.endswith(" over old (4,000 pairs)")
    assert ledger.format_passes(1234.0) == "1,234 passes"
