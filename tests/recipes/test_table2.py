"""Other layers in attention's place, at the cost of base."""

import csv

import pytest

from transduce.recipes import difference
from transduce.recipes.printed import TABLE_2 as PUBLISHED
from transduce.recipes.scale import SCALES, scaled
from transduce.recipes.tables import TABLE_2_ROWS, estimate_update_cost, match_training_cost
from transduce.settings.recipe import with_changes

GERMAN = TABLE_2_ROWS["en-de"]
LAYERS = ("recurrent", "convolution", "separable")


def test_what_stands_there_as_printed_is_what_the_paper_prints(facts):
    with (facts / "printed/table2.csv").open(encoding="utf-8") as file:
        paper = list(csv.DictReader(file))
    ours = [
        {
            "model": one.model,
            "bleu_en_de": one.bleu.get("en-de", ""),
            "bleu_en_fr": one.bleu.get("en-fr", ""),
            "flops_en_de": one.cost.get("en-de", ""),
            "flops_en_fr": one.cost.get("en-fr", ""),
        }
        for one in PUBLISHED
    ]
    assert ours == paper


def test_every_published_row_is_another_s_with_its_source_or_has_one_of_ours():
    assert all(bool(one.source) != bool(one.row) for one in PUBLISHED)
    assert {one.row for one in PUBLISHED if one.row} == {"base", "big"}


@pytest.mark.parametrize("pair", TABLE_2_ROWS)
def test_a_row_is_base_with_another_layer_and_other_steps(pair):
    rows = TABLE_2_ROWS[pair]
    assert list(rows) == ["base", "big", *LAYERS]
    for mixing in LAYERS:
        differ = {path: here for path, _, here in difference(rows["base"], rows[mixing])}
        assert differ.keys() == {"architecture.mixing", "training.steps"}
        assert differ["architecture.mixing"] == mixing
        assert "until base's cost is spent" in rows[mixing].because


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("mixing", LAYERS)
def test_the_operations_are_those_of_base_at_every_scale(mixing, scale):
    base = scaled(GERMAN["base"], scale)
    row = match_training_cost(base, scaled(GERMAN[mixing], scale))
    whole = base.training.steps * estimate_update_cost(base)
    assert row.training.steps * estimate_update_cost(row) == pytest.approx(
        whole, abs=estimate_update_cost(row)
    )


def test_a_position_in_an_lstm_costs_more_and_in_a_convolution_less():
    """Products for d²: attention 4 a side, an LSTM 6 and 8, convolutions 3, separable 1."""
    steps = [GERMAN[row].training.steps for row in ("recurrent", "base", "convolution")]
    assert steps == sorted(steps)
    assert GERMAN["separable"].training.steps > GERMAN["convolution"].training.steps


def test_rows_with_self_attention_keep_their_number_of_steps():
    assert match_training_cost(GERMAN["base"], GERMAN["big"]) is GERMAN["big"]


def test_however_short_base_is_there_is_a_step():
    short = with_changes(GERMAN["base"], {"training.steps": 1})
    assert match_training_cost(short, GERMAN["recurrent"]).training.steps == 1
