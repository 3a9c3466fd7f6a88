"""What the loop keeps and when, and what it does when it cannot."""

import math
import shutil
from types import SimpleNamespace

import pytest
import torch
from tests.checkpoint.samples import flip
from tests.checkpoint.samples import folder as folder_of
from tests.training.events import read_journal
from tests.training.run import train_folder
from tests.training.tiny import batches, training_of

from transduce.checkpoint import checkpoints
from transduce.checkpoint.checkpoints import list_snapshots, load_newest_checkpoint
from transduce.errors import NotFiniteError, SaveError
from transduce.paper import training as paper
from transduce.scores.score import Score
from transduce.training import loop
from transduce.training.progress import ValidationResult

ALWAYS = 1e-9  # minutes between saves: one after every step


def events(folder, kind):
    return [event["step"] for event in read_journal(folder / "log.jsonl") if event["event"] == kind]


def test_snapshots_are_kept_at_their_steps_and_at_the_last(tmp_path):
    train_folder(tmp_path, training_of(steps=10, snapshot_every=3, average_last=9))
    assert [one.step for one in list_snapshots(tmp_path)] == [3, 6, 9, 10]
    assert events(tmp_path, "snapshot") == [3, 6, 9, 10]


def test_only_the_last_snapshots_stay(tmp_path):
    train_folder(tmp_path, training_of(steps=10, snapshot_every=2, average_last=3))
    assert [one.step for one in list_snapshots(tmp_path)] == [6, 8, 10]


def test_a_snapshot_holds_the_weights_of_its_step(tmp_path):
    train_folder(tmp_path, training_of(steps=4, snapshot_every=4))
    checkpoint, _ = load_newest_checkpoint(tmp_path)
    assert checkpoint is not None
    for name, weight in list_snapshots(tmp_path)[-1].weights().items():
        assert torch.equal(weight, checkpoint.weights[name])


def test_a_damaged_snapshot_is_written_again_by_a_run_that_trains_through_its_step(tmp_path):
    training = training_of(steps=4, snapshot_every=2, checkpoint_minutes=ALWAYS)
    train_folder(tmp_path, training)
    file = tmp_path / "snapshots/step-00000004/model.safetensors"
    whole = file.read_bytes()
    flip(file, -1)
    flip(folder_of(tmp_path, 4) / "model.safetensors", -1)
    train_folder(tmp_path, training)
    assert file.read_bytes() == whole
    assert events(tmp_path, "snapshot") == [2, 4, 4]


def test_an_old_step_that_stays_is_told_of_once(tmp_path):
    train_folder(tmp_path, training_of(steps=3, snapshot_every=1, average_last=2))
    (tmp_path / "snapshots/step-00000002/manifest.json").unlink()
    told: list[str] = []
    longer = training_of(steps=9, snapshot_every=1, average_last=2)
    train_folder(tmp_path, longer, on_message=told.append)
    assert [one.step for one in list_snapshots(tmp_path)] == [2, 8, 9]
    assert ["step-00000002" in one for one in told] == [True]


def test_checkpoints_are_written_by_minutes_and_at_the_end(tmp_path):
    train_folder(tmp_path / "often", training_of(steps=5, checkpoint_minutes=ALWAYS))
    assert events(tmp_path / "often", "checkpoint") == [1, 2, 3, 4, 5]
    train_folder(tmp_path / "seldom", training_of(steps=5, checkpoint_minutes=60.0))
    assert events(tmp_path / "seldom", "checkpoint") == [5]


def test_the_first_checkpoint_comes_after_a_minute_and_the_next_when_they_are_due(
    tmp_path, monkeypatch
):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def half_a_minute_later(number):
        clock.now += 30
        return batches(number)

    train_folder(
        tmp_path, training_of(steps=14, checkpoint_minutes=3.0), batches=half_a_minute_later
    )
    assert events(tmp_path, "checkpoint") == [2, 8, 14]


def refusing(monkeypatch, bad_steps):
    """A disk that is full at some steps."""
    save_checkpoint = checkpoints.save_checkpoint

    def tried(run, number, *rest, **options):
        if number in bad_steps:
            raise SaveError("no space is left", "free some space")
        return save_checkpoint(run, number, *rest, **options)

    monkeypatch.setattr(loop, "save_checkpoint", tried)


def test_a_checkpoint_that_fails_does_not_end_the_run(tmp_path, monkeypatch):
    refusing(monkeypatch, {3, 4})
    messages: list[str] = []
    progress, bits = train_folder(
        tmp_path / "full",
        training_of(steps=8, checkpoint_minutes=ALWAYS),
        on_message=messages.append,
    )
    assert progress.step == 8
    assert messages == [
        f"the checkpoint of step {step} could not be written: no space is left" for step in (3, 4)
    ]
    assert events(tmp_path / "full", "failure") == [3, 4]
    assert events(tmp_path / "full", "checkpoint") == [1, 2, 5, 6, 7, 8]
    assert bits == train_folder(tmp_path / "free", training_of(steps=8))[1]


def test_three_failures_in_a_row_end_the_run_and_what_was_kept_stays(tmp_path, monkeypatch):
    refusing(monkeypatch, {3, 4, 5})
    training = training_of(steps=8, checkpoint_minutes=ALWAYS)
    with pytest.raises(SaveError, match="no space is left"):
        train_folder(tmp_path, training)
    checkpoint, _ = load_newest_checkpoint(tmp_path)
    assert checkpoint is not None
    assert checkpoint.step == 2
    monkeypatch.undo()
    assert train_folder(tmp_path, training)[0].step == 8


def test_a_last_checkpoint_that_fails_is_an_error_that_names_where_to_resume(tmp_path, monkeypatch):
    refusing(monkeypatch, {8})
    with pytest.raises(SaveError) as caught:
        train_folder(tmp_path, training_of(steps=8))
    assert "the last checkpoint could not be written" in caught.value.fact
    assert str(tmp_path) in caught.value.fact
    assert "step 0" in caught.value.hint
    assert events(tmp_path, "finish") == []


@pytest.fixture
def poison(monkeypatch):
    """Make the loss of some steps NaN."""

    def at(steps):
        take = paper.update_weights

        def tried(model, optimiser, training, number, *rest, **hooks):
            bias = model.decoder[0].add_self.norm.bias.detach()
            kept = bias.clone()
            if number in steps:
                bias.fill_(math.nan)
            update = take(model, optimiser, training, number, *rest, **hooks)
            if number in steps:
                bias.copy_(kept)
            return update

        monkeypatch.setattr(paper, "update_weights", tried)

    return at


def test_updates_that_are_not_finite_are_skipped_and_counted(tmp_path, poison):
    poison({2, 5})
    progress, _ = train_folder(tmp_path, training_of(steps=6, max_nonfinite_updates=2))
    assert (progress.step, progress.skipped, progress.nonfinite_in_a_row) == (6, 2, 0)
    updates = [e for e in read_journal(tmp_path / "log.jsonl") if e["event"] == "update"]
    assert [e["step"] for e in updates if not e["applied"]] == [2, 5]


def test_several_in_a_row_end_the_run_and_no_checkpoint_holds_what_is_not_finite(tmp_path, poison):
    poison({4, 5, 6})
    training = training_of(steps=9, max_nonfinite_updates=3, checkpoint_minutes=ALWAYS)
    with pytest.raises(NotFiniteError) as caught:
        train_folder(tmp_path, training)
    assert caught.value.fact == "3 updates in a row were not finite, the last at step 6"
    assert caught.value.hint.startswith("its last checkpoint is sound; ")
    assert "training.learning_rate_factor" in caught.value.hint
    checkpoint, rejected = load_newest_checkpoint(tmp_path)
    assert checkpoint is not None
    assert rejected == []
    assert all(
        tensor.isfinite().all() for tensor in (checkpoint.weights | checkpoint.moments).values()
    )


def test_a_run_that_ends_with_updates_that_are_not_finite_says_so(tmp_path, poison):
    poison({5, 6})
    sentences: list[str] = []
    train_folder(tmp_path, training_of(steps=6), on_message=sentences.append)
    said = "the run ends with updates that were not finite, 2 in a row"
    assert said in [one.partition(":")[0] for one in sentences]


def test_a_run_without_any_finite_update_has_not_trained(tmp_path, poison):
    poison({1, 2})
    with pytest.raises(NotFiniteError, match="2 updates in a row were not finite"):
        train_folder(tmp_path, training_of(steps=2))


def test_weights_that_are_not_finite_are_never_saved(tmp_path):
    def ruined(model, *_):
        with torch.no_grad():
            model.target.weight[0, 0] = math.nan
        return ValidationResult(nats=1.0)

    with pytest.raises(NotFiniteError) as caught:
        train_folder(tmp_path, training_of(steps=4, validate_every=2), validate=ruined)
    assert "target.weight holds numbers that are not finite" in caught.value.fact
    assert "a new run with a lower training.learning_rate_factor" in caught.value.hint
    assert load_newest_checkpoint(tmp_path) == (None, [])


def test_validations_are_made_at_intervals_and_after_the_last_step(tmp_path):
    validated, score = [], Score("BLEU", 30.0, "tok:13a", 1, "dev")

    def validate(model):
        validated.append(model)
        return ValidationResult(nats=2.0, score=score)

    train_folder(tmp_path, training_of(steps=7, validate_every=3), validate=validate)
    assert events(tmp_path, "validation") == [3, 6, 7]
    assert len(validated) == 3
    found = [e for e in read_journal(tmp_path / "log.jsonl") if e["event"] == "validation"]
    assert (found[0]["nats"], Score(**found[0]["score"])) == (2.0, score)


def test_early_stopping_ends_a_run_after_so_many_validations_and_it_stays_ended(tmp_path):
    training = training_of(steps=9, validate_every=1, patience=2)
    nats = iter([3.0, 2.0, 2.5, 2.0])
    progress, bits = train_folder(
        tmp_path, training, validate=lambda _: ValidationResult(nats=next(nats))
    )
    assert progress.step == 4, "equal is no gain"
    assert progress.best_nats == 2.0
    checkpoint, _ = load_newest_checkpoint(tmp_path)
    assert checkpoint is not None
    assert checkpoint.step == 4
    assert train_folder(tmp_path, training, validate=lambda _: ValidationResult(nats=1.0)) == (
        progress,
        bits,
    )


def test_an_interrupted_validation_is_repeated_when_the_run_resumes(tmp_path):
    training = training_of(steps=6, validate_every=3)
    train_folder(tmp_path, training, stop_at=3, validate=lambda _: None)
    assert events(tmp_path, "validation") == []
    train_folder(tmp_path, training, validate=lambda _: ValidationResult(nats=2.0))
    assert events(tmp_path, "validation") == [3, 6]


def test_a_snapshot_waits_for_the_validation_of_its_step_and_stores_it(tmp_path):
    training = training_of(steps=6, validate_every=3, snapshot_every=3, average_last=9)
    train_folder(tmp_path, training, stop_at=3, validate=lambda _: None)
    assert list_snapshots(tmp_path) == []
    train_folder(tmp_path, training, validate=lambda _: ValidationResult(nats=2.0))
    stored = [one.state()["progress"] for one in list_snapshots(tmp_path)]
    assert [one["last_validation"]["step"] for one in stored] == [3, 6]


@pytest.mark.parametrize("change", ["moved", "deleted", "replaced", "below a file"])
def test_a_run_folder_that_is_not_there_any_more_ends_the_run_at_once(tmp_path, change):
    folder, steps = tmp_path / "runs" / "run", []

    def batches_of(number):
        steps.append(number)
        if number == 4:
            if change == "deleted":
                shutil.rmtree(folder)
            elif change == "below a file":
                folder.parent.rename(tmp_path / "elsewhere")
                folder.parent.write_bytes(b"")
            else:
                folder.rename(tmp_path / "elsewhere")
            if change == "replaced":
                folder.mkdir()
        return batches(number)

    folder.mkdir(parents=True)
    training = training_of(steps=9, checkpoint_minutes=ALWAYS)
    with pytest.raises(SaveError, match="was moved or deleted while it was trained") as caught:
        train_folder(folder, training, batches=batches_of)
    assert caught.value.hint == "put it back: the same command resumes from step 3"
    assert steps == [1, 2, 3, 4]
    if change == "moved":
        (tmp_path / "elsewhere").rename(folder)
        assert train_folder(folder, training)[0].step == 9


def test_without_patience_all_steps_are_trained(tmp_path):
    progress, _ = train_folder(
        tmp_path,
        training_of(steps=6, validate_every=1),
        validate=lambda _: ValidationResult(nats=5.0),
    )
    assert (progress.step, progress.validations_without_improvement) == (6, 5)


def test_a_run_that_is_over_does_nothing_more(tmp_path):
    training = training_of(steps=3)
    first, bits = train_folder(tmp_path, training)
    again, same = train_folder(tmp_path, training)
    assert (again, same) == (first, bits)


def test_a_run_that_patience_ended_keeps_its_last_snapshot(tmp_path):
    training = training_of(steps=8, snapshot_every=100, validate_every=1, patience=1)
    train_folder(tmp_path, training, validate=lambda _: ValidationResult(nats=1.0))
    assert [kept.step for kept in list_snapshots(tmp_path)] == [2]
    assert read_journal(tmp_path / "log.jsonl")[-1]["event"] == "finish"
