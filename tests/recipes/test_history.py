"""Other systems' presets: what sets them apart from the paper, and nothing else."""

import pytest

from transduce.paper.training import scaled_learning_rate
from transduce.recipes import by_name, difference
from transduce.recipes.citations import PEERS
from transduce.settings.recipe import find_setting

BASE = by_name("table2/base-en-de")


def changed(name, start=BASE):
    return {path: value for path, _, value in difference(start, by_name(f"history/{name}"))}


def peak(name):
    recipe = by_name(f"history/{name}")
    return scaled_learning_rate(recipe.training.warmup, recipe.architecture, recipe.training)


def test_the_first_preset_of_the_authors_code_is_the_paper_s_model():
    assert changed("t2t-v1") == {
        "architecture.initialisation": "glorot",
        "training.smoothing_form": "t2t",
        "search.extra_length": 100,
    }


def test_the_later_presets_are_another_model():
    second = changed("t2t-v2")
    assert second == changed("t2t-v1") | {
        "architecture.norm": "pre",
        "architecture.attention_dropout": 0.1,
        "architecture.feed_forward_dropout": 0.1,
        "training.warmup": 8_000,
        "training.learning_rate_factor": 2.0,
    }
    assert changed("t2t-v3") == second | {"training.beta2": 0.997}


@pytest.mark.parametrize(
    ("name", "rate"),
    [("t2t-v1", 6.99e-4), ("t2t-v3", 9.88e-4), ("fairseq-base", 7e-4), ("fairseq-big", 5e-4)],
)
def test_the_highest_rate_is_the_one_that_each_system_has(name, rate):
    assert peak(name) == pytest.approx(rate, rel=1e-3)


def test_fairseq_differs_in_rate_epsilon_and_smoothing():
    names = {"training.learning_rate_factor", "training.epsilon", "training.smoothing_form"}
    names |= {"architecture.initialisation"}
    assert changed("fairseq-base").keys() == names
    assert changed("fairseq-big", by_name("table2/big-en-de")).keys() == names


def test_what_no_setting_can_say_of_fairseq_stands_in_its_reason():
    because = by_name("history/fairseq-base").because
    assert (
        "News Commentary is v12, one training pair in a hundred is the development set" in because
    )


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("training.smoothing_form", "V - 2 in Joey NMT"),
        ("architecture.d_ff", "8,192 in T2T's big model for English to French"),
        (
            "architecture.tie_embeddings",
            "no matrix is shared in T2T's big model for English to French",
        ),
    ],
)
def test_where_one_system_differs_is_said_of_it(path, sentence):
    assert sentence in PEERS[path]


def test_where_others_differ_is_said_of_settings_that_there_are():
    for path in PEERS:
        find_setting(path)
