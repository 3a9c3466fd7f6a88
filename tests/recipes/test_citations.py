"""What the paper says of its own runs stands beside their settings."""

import pytest

from transduce.recipes import by_name, difference
from transduce.recipes.catalogue import PAPERS
from transduce.recipes.citations import CITATIONS, cite
from transduce.recipes.scale import LAPTOP, scaled
from transduce.settings.recipe import find_setting

# Trees are longer than translations, and are not cleaned by the lengths of their sides.
OF_TREES = {f"data.{rule}" for rule in ("max_length", "max_characters", "max_length_ratio")} | {
    "data.task",
    "data.drop_duplicates",
    "search.batch_size",
}


@pytest.mark.parametrize("recipe", PAPERS, ids=lambda recipe: recipe.name)
def test_every_setting_in_which_a_run_of_the_paper_leaves_base_is_cited_for_that_run(recipe):
    changed = {path for path, *_ in difference(by_name("table3/base"), recipe)}
    assert changed - OF_TREES <= CITATIONS.get(recipe.name, {}).keys()


def test_what_is_cited_is_a_setting_of_a_recipe():
    for name, cited in CITATIONS.items():
        assert by_name(name).flat_settings().keys() >= cited.keys()


QUOTED = {
    ("table3/C-N2", "architecture.layers"): "6.2 row C-N2 of Table 3: N = 2",
    ("table3/D-ls0.2", "training.label_smoothing"): "6.2 row D-ls0.2 of Table 3: epsilon_ls = 0.2",
    ("table3/big", "training.steps"): "5.2 the big models were trained for 300,000 steps",
    ("table3/big", "training.snapshot_every"): "6.1 10 minutes at 1.0 s a step, for averaging",
    (
        "table2/big-en-de",
        "training.average_last",
    ): "6.1 the last 20 snapshots of big models are averaged",
    ("table2/big-en-de", "architecture.dropout"): "6.2 row big of Table 3: P_drop = 0.3",
    ("table2/big-en-fr", "architecture.dropout"): "6.1 P_drop = 0.1 instead of 0.3",
    ("table2/big-en-fr", "architecture.heads"): "6.2 row big of Table 3: h = 16",
    (
        "table2/base-en-fr",
        "data.corpus",
    ): "5.1 WMT 2014, about 36 million sentence pairs; its corpora hold 40.8",
    ("table2/recurrent-en-fr", "data.target_language"): "5.1 the target language is French",
    ("table4/wsj", "search.beam"): "6.3 a beam of width 21",
}


@pytest.mark.parametrize(("name", "path"), QUOTED)
def test_the_paper_s_sentence_is_the_one_about_this_run(name, path):
    assert " ".join(cite(by_name(name), path)) == QUOTED[name, path]


@pytest.mark.parametrize("name", ["table3/base", "table3/big", "demo"])
def test_where_nothing_else_is_said_the_sentence_is_base_s(name):
    stated = find_setting("training.warmup")[1].metadata
    assert cite(by_name(name), "training.warmup") == (stated["section"], stated["says"])


def test_a_recipe_made_smaller_keeps_the_sentences_of_its_row():
    small = scaled(by_name("table3/C-N2"), LAPTOP)
    assert cite(small, "architecture.layers") == ("6.2", "row C-N2 of Table 3: N = 2")
