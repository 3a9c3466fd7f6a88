"""Settings refuse what no run could use, by name, and survive the way to a file and back."""

import dataclasses
import re
from typing import Any

import pytest

from transduce.errors import InputError
from transduce.settings import Architecture, Data, Recipe, Search, Training
from transduce.settings.recipe import NAMES_ELSEWHERE, with_changes

BASE = Recipe(name="base")


def refused(**changes):
    asked: dict[str, Any] = {path.replace("__", "."): value for path, value in changes.items()}
    with pytest.raises(InputError) as caught:
        with_changes(BASE, asked)
    return str(caught.value)


def test_a_recipe_survives_the_way_to_json_and_back():
    changes: dict[str, Any] = {"training.steps": 7, "data.max_length_ratio": 2.5, "search.beam": 1}
    changed = with_changes(BASE, changes)
    assert Recipe.from_mapping(changed.as_json()) == changed


def test_text_is_read_in_the_type_of_the_setting():
    changed = with_changes(
        BASE, {"training.steps": "37_000", "data.drop_identical": "false", "search.alpha": "1"}
    )
    assert changed.training.steps == 37_000
    assert changed.data.drop_identical is False
    assert changed.search.alpha == 1.0


@pytest.mark.parametrize("value", ["3.5", "many", "true", "inf"])
def test_a_value_of_another_type_is_refused_with_the_setting_it_was_for(value):
    assert "training.steps must be a whole number, not" in refused(training__steps=value)


@pytest.mark.parametrize("value", ["inf", "nan", "-inf"])
def test_no_number_without_an_end_is_taken(value):
    assert "training.checkpoint_minutes must be a number" in refused(
        training__checkpoint_minutes=value
    )


@pytest.mark.parametrize("value", ["a\nb", "\x1b[31m", "\udcff", "a\u2028b"])
def test_text_that_no_line_shows_is_no_setting(value):
    assert "data.corpus has a line end or another" in refused(data__corpus=value)
    assert with_changes(BASE, {"data.corpus": "日本\u3000 é"}).data.corpus == "日本\u3000 é"


def test_an_unknown_setting_is_answered_with_the_nearest():
    assert "did you mean training.warmup" in refused(training__warm_up=1)
    with pytest.raises(InputError, match="did you mean architecture"):
        Recipe.from_mapping({"architectures": {}})
    with pytest.raises(InputError, match="training is a table of settings"):
        Recipe.from_mapping({"training": 3})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"architecture__heads": 0}, "architecture.heads must be more than 0"),
        ({"architecture__d_model": 63}, "architecture.d_model must be even"),
        ({"architecture__encoder_neighbourhood": 4}, "must be odd, not 4"),
        ({"architecture__encoder_neighbourhood": -3}, "must be odd and positive, not -3"),
        ({"architecture__mixing": "lstm"}, "mixing is one of self-attention, recurrent, convol"),
        (
            {"architecture__kernel_size": 4},
            "architecture.kernel_size must be odd and at most 1,001, not 4",
        ),
        ({"architecture__kernel_size": 1_003}, "must be odd and at most 1,001, not 1003"),
        (
            {"architecture__mixing": "recurrent", "architecture__encoder_neighbourhood": 3},
            "architecture.encoder_neighbourhood restricts self-attention",
        ),
        ({"architecture__positions": "none"}, "is one of sinusoidal, learned"),
        ({"architecture__dropout": 1.0}, r"architecture.dropout must lie in [0, 1)"),
        ({"data__shared_vocabulary": False}, "architecture.tie_embeddings is 'all'"),
        ({"data__vocabulary_size": 200}, "must be at least 258"),
        ({"data__max_length": 30_000}, "data.source_tokens is 25000"),
        ({"data__max_pairs": -1}, "data.max_pairs must not be negative"),
        ({"training__seed": -1}, "training.seed must not be negative"),
        ({"training__micro_batch_tokens": 300}, "training.micro_batch_tokens is 300"),
        (
            {"training__pad_to_tokens": 100},
            "training.pad_to_tokens must be a multiple of 64, it is 100",
        ),
        ({"training__pad_to_tokens": -64}, "training.pad_to_tokens must not be negative"),
        ({"training__pad_to_tokens": 1 << 30}, "training.pad_to_tokens is at most 16,777,216"),
        ({"search__penalty": "wu"}, "search.penalty is one of gnmt, average, none"),
        ({"search__alpha": -0.1}, "search.alpha must not be negative"),
    ],
)
def test_sizes_that_contradict_each_other_are_refused_by_name(changes, words):
    assert words in refused(**changes)


def test_learned_positions_must_reach_as_far_as_an_output():
    fits: dict[str, Any] = {"architecture.positions": "learned", "architecture.max_positions": 306}
    assert with_changes(BASE, fits).architecture.max_positions == 306
    said = refused(architecture__positions="learned", architecture__max_positions=305)
    assert "data.max_length + search.extra_length = 306" in said


@pytest.mark.parametrize("noun", [Architecture, Data, Training, Search])
def test_every_setting_says_where_it_is_from(noun):
    for field in dataclasses.fields(noun):
        assert field.metadata["says"], field.name
        assert "section" in field.metadata


@pytest.mark.parametrize(
    ("elsewhere", "here"),
    [
        ("training.lr", "training.learning_rate_factor"),
        ("epochs", "training.steps"),
        ("training.batch_size", "data.source_tokens"),
        ("training.dropout", "architecture.dropout"),
        ("model.seed", "training.seed"),
    ],
)
def test_a_name_of_other_programs_leads_to_ours(elsewhere, here):
    with pytest.raises(InputError) as refusal:
        with_changes(BASE, {elsewhere: 1})
    assert here in refusal.value.hint


def test_hints_name_settings_that_exist():
    named = re.findall(
        r"(?:architecture|data|training|search)\.\w+", " ".join(NAMES_ELSEWHERE.values())
    )
    assert set(named) <= set(BASE.flat_settings())
