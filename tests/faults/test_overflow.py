"""Finite weights whose products overflow: every use is refused alike, and none is stored."""

import math
from pathlib import Path

import pytest
import torch
from tests.inference.random_models import WORDS, random_translator

import transduce
from transduce.checkpoint.stored_model import require_finite_outputs, save_model
from transduce.errors import LONGEST_MESSAGE, InputError, NotFiniteError
from transduce.inference.choose_heads import choose_heads
from transduce.runs.adapt import read_parent
from transduce.vocabulary.vocabulary import Vocabularies

TEXT, TARGET = "the dog sees a cat.", "a woman"


@pytest.fixture(name="model")
def overflowing():
    found = random_translator()
    with torch.no_grad():
        for weight in found.models[0].parameters():
            weight.mul_(1e20)
    return found


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model(TEXT),
        lambda model: list(model.likelihood([(TEXT, TARGET)])),
        lambda model: model.align(TEXT, TARGET),
        lambda model: choose_heads(model, [TEXT], [TARGET], ["0-0"]),
        lambda model: transduce.attend(model, TEXT, TARGET),
        lambda model: transduce.attend(model, TEXT),
        lambda model: require_finite_outputs(model.models[0], Path("model")),
    ],
    ids=["translate", "likelihood", "align", "choose heads", "attend", "attend own", "load"],
)
def test_every_use_of_weights_that_overflow_is_refused(model, use):
    assert all(bool(weight.isfinite().all()) for weight in model.models[0].parameters())
    with pytest.raises(NotFiniteError) as error:
        use(model)
    assert "verify the model" in error.value.hint


def test_the_control_that_does_not_look_at_sums_hands_out_what_is_no_number(
    model, monkeypatch, record
):
    monkeypatch.setattr("transduce.inference.pairs.require_finite_numbers", lambda *_: None)
    (found,) = model.likelihood([(TEXT, TARGET)])
    record(scores_that_are_no_numbers=int(math.isnan(found.score)))
    assert math.isnan(found.score)


def test_no_training_goes_on_from_weights_that_overflow(model, tmp_path):
    weights, vocabularies = model.models[0].named_weights(), Vocabularies(WORDS, WORDS)
    save_model(tmp_path / "model", weights, model.recipe, vocabularies, "")
    with pytest.raises(NotFiniteError, match="the weights are finite, but what the model computes"):
        read_parent(tmp_path / "model", tmp_path / "run")


def test_a_sound_model_passes_the_door():
    require_finite_outputs(random_translator().models[0], Path("model"))


def test_a_message_of_half_a_megabyte_is_cut_in_its_middle():
    error = InputError("a" * 500_000 + " is wrong", "try " + "b" * 500_000, file="x" * 500_000)
    assert len(str(error)) < 3 * LONGEST_MESSAGE
    assert error.fact.endswith(" is wrong")
