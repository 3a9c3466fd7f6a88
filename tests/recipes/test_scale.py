"""Recipes made smaller: every row keeps its meaning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from transduce.errors import InputError
from transduce.recipes import by_name, difference
from transduce.recipes.citations import cite
from transduce.recipes.scale import LAPTOP, PAPER, SCALES, TOY, scale_by_name, scaled
from transduce.recipes.tables import TABLE_2, TABLE_3
from transduce.settings.recipe import with_changes

ROOT = Path(__file__).parents[2]
BASE = TABLE_3["base"]
WIDTHS = {f"architecture.{name}" for name in ("d_model", "d_ff", "d_k", "d_v")}


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("row", TABLE_3)
def test_a_row_differs_from_base_in_the_same_settings_and_proportions_at_every_scale(row, scale):
    large = {path: (a, b) for path, a, b in difference(BASE, TABLE_3[row])}
    small = {
        path: (a, b)
        for path, a, b in difference(scaled(BASE, scale), scaled(TABLE_3[row], scale))
        if path != "training.validate_every"
    }
    assert small.keys() == large.keys()
    for path in WIDTHS & large.keys():
        base, own = large[path]
        assert small[path] == (base // scale.width_divisor, own // scale.width_divisor)


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("row", TABLE_3.values(), ids=TABLE_3)
def test_a_scale_names_every_setting_that_is_not_a_row_s_own(row, scale):
    named = {one.split(" ")[0] for one in scale.settings}
    assert named == {path for path, *_ in difference(row, scaled(row, scale))}


@pytest.mark.parametrize(("scale", "share", "part"), [(TOY, "all", 1), (LAPTOP, "half", 2)])
def test_the_words_of_a_small_scale_name_its_warm_up_and_its_symbols(scale, share, part):
    for path in ("training.warmup", "data.vocabulary_size", "data.source_tokens"):
        assert f"{scale.changes[path]:,} " in scale.about
    assert f"({share} of base's " in scale.about
    assert scaled(BASE, scale).training.steps == part * scale.changes["training.warmup"]


def test_the_paper_s_scale_changes_nothing():
    assert scaled(BASE, PAPER) is BASE


def test_a_small_recipe_says_so_in_its_name_and_says_why():
    small = scaled(BASE, LAPTOP)
    assert small.name == "table3/base at laptop"
    assert small.because == f"laptop: {LAPTOP.about}"


def test_a_gpu_hour_has_the_paper_s_widths_updates_and_corpus():
    assert {path for path, *_ in difference(BASE, scaled(BASE, SCALES["gpu-hour"]))} == {
        "training.steps",
        "training.snapshot_every",
        "training.validate_every",
    }


def test_every_recipe_of_table_2_has_a_laptop_s_corpus():
    languages = {"de": "multi30k", "fr": "tatoeba-en-fr"}
    for recipe in TABLE_2:
        assert scaled(recipe, LAPTOP).data.corpus == languages[recipe.data.target_language]


def test_a_language_that_the_scale_has_no_corpus_for_is_refused():
    with pytest.raises(InputError, match="the scale toy has no corpus into 'fr'\nhint: it has: de"):
        scaled(by_name("table2/base-en-fr"), TOY)


def test_a_width_that_cannot_be_divided_is_refused():
    odd = with_changes(by_name("demo"), {"architecture.d_model": 100})
    with pytest.raises(InputError, match="d_model = 100 cannot be divided by 16"):
        scaled(odd, TOY)


def test_a_model_that_a_scale_would_make_too_narrow_is_refused():
    narrow = with_changes(by_name("demo"), {"architecture.d_model": 16, "architecture.heads": 1})
    fact = "does not fit the scale toy: architecture.d_model must be even, not 1"
    with pytest.raises(InputError, match=fact):
        scaled(narrow, TOY)


def test_a_recipe_whose_sentences_a_scale_cannot_hold_is_refused_by_the_scale_s_name():
    with pytest.raises(
        InputError, match=r"long/documents does not fit the scale toy: data\.source"
    ):
        scaled(by_name("long/documents"), TOY)


def test_a_scale_of_one_s_own_divides_by_whole_numbers():
    with pytest.raises(InputError, match="width_divisor must be a whole number of at least 1"):
        replace(TOY, width_divisor=0)


def read_verdicts(folder):
    """Return what a page of Table 3 says of each claim, by claim and measure."""
    page = (ROOT / "docs/records/tables" / folder / "table3.md").read_text(encoding="utf-8")
    rows = [line.strip("| \n").split(" | ") for line in page.splitlines()]
    rows = [row for row in rows if len(row) == 5 and row[1] in ("BLEU", "PPL")]
    return {(row[0], row[1]): row[-1].partition(" (")[0] for row in rows}


def test_what_a_laptop_is_said_to_show_is_what_it_showed():
    verdicts = read_verdicts("table3-laptop")
    unseen = {
        "one head is worse than eight": "within chance",
        "yet no label smoothing has the lower perplexity": "within chance",
        "learned positions are as good as sinusoids": "differs by more than chance",
    }
    in_perplexity = {claim: word for (claim, name), word in verdicts.items() if name == "PPL"}
    assert len(in_perplexity) == 12
    assert {claim: word for claim, word in in_perplexity.items() if word != "supported"} == unseen
    assert "not that one head is worse" in LAPTOP.visible_findings


def test_what_a_laptop_is_said_to_show_with_three_seeds_is_what_it_showed():
    verdicts = read_verdicts("table3-laptop-seeds")
    assert verdicts["no label smoothing is worse", "BLEU"] == "supported"
    assert verdicts["yet no label smoothing has the lower perplexity", "PPL"] == "supported"
    assert "with three seeds what label smoothing does" in LAPTOP.visible_findings
    assert verdicts["one head is worse than eight", "PPL"] == "within chance"


@pytest.mark.usefixtures("unchecked_types")
def test_what_is_no_recipe_or_scale_is_refused():
    odd: Any = ["tiny"]
    for call in (
        lambda: scaled(by_name("tiny"), odd),
        lambda: scaled(odd, TOY),
        lambda: scale_by_name(odd),
        lambda: difference(by_name("tiny"), odd),
        lambda: cite(odd, "training.steps"),
    ):
        with pytest.raises(InputError, match=r"must be (a Recipe|a Scale|text), not"):
            call()


def test_an_unknown_scale_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown scale 'labtop'\nhint: did you mean laptop"):
        scale_by_name("labtop")
