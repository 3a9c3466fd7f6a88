"""A run that was stopped, however often and wherever, ends in the bits of one that was not."""

import itertools

import pytest
import torch
from tests.training.events import read_journal
from tests.training.run import STEPS, train_folder
from tests.training.tiny import training_of

from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.checkpoint.run_file import read_run
from transduce.fast.flat_adam import FlatAdam
from transduce.paper import training as step_module
from transduce.training.progress import ValidationResult


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The hash at the end of twelve steps in one go."""
    progress, bits = train_folder(tmp_path_factory.mktemp("unbroken"))
    assert progress.step == STEPS
    return bits


def test_two_unbroken_runs_are_equal_to_the_bit(tmp_path, unbroken):
    assert train_folder(tmp_path)[1] == unbroken


@pytest.mark.parametrize("stop_at", [1, 7])
def test_a_run_stopped_once_goes_on_to_the_same_bits(tmp_path, unbroken, stop_at):
    progress, bits = train_folder(tmp_path, stop_at=stop_at)
    assert progress.step == stop_at
    assert bits != unbroken
    assert train_folder(tmp_path)[1] == unbroken


@pytest.mark.slow
@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.soak)])
def test_a_run_of_40_steps_stopped_anywhere_resumes_to_the_same_bits(tmp_path, every):
    training = training_of(steps=40)
    _, whole = train_folder(tmp_path / "whole", training)
    for stop_at in range(every, 40, every):
        folder = tmp_path / str(stop_at)
        train_folder(folder, training, stop_at=stop_at)
        assert train_folder(folder, training)[1] == whole, stop_at
        train_folder(tmp_path / "chain", training, stop_at=stop_at)
    assert train_folder(tmp_path / "chain", training)[1] == whole


def test_a_run_stopped_after_every_step_ends_in_the_same_bits(tmp_path, unbroken):
    for step in range(1, STEPS):
        assert train_folder(tmp_path, stop_at=step)[0].step == step
    assert train_folder(tmp_path)[1] == unbroken


def test_a_run_stopped_inside_its_updates_ends_in_the_same_bits(tmp_path, unbroken):
    """An update that was begun is dropped and computed anew."""
    asks, starts = itertools.cycle([4, 6, 8, 5]), 0
    while (found := train_folder(tmp_path, stop_after_polls=next(asks)))[0].step < STEPS:
        starts += 1
        assert starts < STEPS
    assert starts > 3
    assert found[1] == unbroken


def test_control_dropout_that_does_not_know_its_step_gives_other_bits(tmp_path, monkeypatch):
    """The same tests fail for a program that draws on where it was: they can tell."""
    drawn = itertools.count()
    monkeypatch.setattr(step_module, "dropout_seed", lambda *_: next(drawn))
    _, straight = train_folder(tmp_path / "straight")
    drawn = itertools.count()
    train_folder(tmp_path / "stopped", stop_at=6)
    drawn = itertools.count()
    assert train_folder(tmp_path / "stopped")[1] != straight


def test_control_adam_without_its_moments_gives_other_bits(tmp_path, unbroken, monkeypatch):
    restore = FlatAdam.restore
    train_folder(tmp_path, stop_at=6)
    monkeypatch.setattr(
        FlatAdam, "restore", lambda self, weights, _: restore(self, weights, self.moments)
    )
    assert train_folder(tmp_path)[1] != unbroken


def test_progress_is_counted_across_restarts(tmp_path):
    whole, _ = train_folder(tmp_path / "whole")
    train_folder(tmp_path / "parts", stop_at=4)
    train_folder(tmp_path / "parts", stop_at=5)
    parts, _ = train_folder(tmp_path / "parts")
    assert (parts.source_tokens, parts.target_tokens) == (11 * STEPS, 16 * STEPS)
    assert (parts.step, parts.source_tokens) == (whole.step, whole.source_tokens)
    assert parts.seconds > 0


def test_validations_and_snapshots_change_no_bit(tmp_path, unbroken):
    """A validation puts the model in evaluation and draws random numbers of its own."""

    def validate(model):
        model.eval()
        torch.rand(5)
        return ValidationResult(nats=1.0)

    often = training_of(steps=STEPS, validate_every=3, snapshot_every=2, checkpoint_minutes=1e-9)
    assert train_folder(tmp_path, often, validate=validate)[1] == unbroken


def test_a_last_validation_that_was_interrupted_is_made_up_for_once(tmp_path):
    training = training_of(steps=STEPS, validate_every=STEPS)
    train_folder(tmp_path, training, stop_at=7)
    found = iter([None, ValidationResult(nats=1.0)])
    train_folder(tmp_path, training, validate=lambda _: next(found))
    train_folder(tmp_path, training, validate=lambda _: next(found))
    for _ in range(2):
        progress, _ = train_folder(tmp_path, training)
        assert progress.validated_step == STEPS
    events = [event["event"] for event in read_journal(tmp_path / "log.jsonl")]
    ends = ["checkpoint", "validation", "snapshot", "checkpoint", "finish", "finish", "finish"]
    assert [event for event in events if event != "update"] == ["checkpoint", *ends]


def test_the_newest_checkpoint_is_the_last_and_names_its_environment(tmp_path, unbroken):
    train_folder(tmp_path)
    checkpoint, rejected = load_newest_checkpoint(tmp_path)
    assert checkpoint is not None
    assert (checkpoint.step, rejected) == (STEPS, [])
    assert checkpoint.state["environment"]["threads"]
    assert read_run(tmp_path).recipe.name == "tiny"
    assert unbroken
    events = [event["event"] for event in read_journal(tmp_path / "log.jsonl")]
    assert events == ["update"] * STEPS + ["snapshot", "checkpoint", "finish"]
