import importlib.util
import shutil

import pytest

from transduce.cli.training import write_tensorboard
from transduce.errors import InputError, SaveError
from transduce.paper.training import Update
from transduce.scores.score import Score
from transduce.training.progress import Progress, TrainingCallbacks, ValidationResult


def update(step, loss=2.0):
    return Update(step, loss, 1.5, 10, 12, 1e-3, 0.7, applied=True)


def scalars(run, name):
    """What TensorBoard itself reads, by step."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reader.EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    return {event.step: pytest.approx(event.value) for event in events.Scalars(name)}


def test_every_update_and_every_validation_is_a_point(tmp_path):
    with write_tensorboard(TrainingCallbacks(), tmp_path) as writer:
        for step in (1, 2, 3):
            writer.on_update(update(step, loss=float(step)), Progress())
        writer.on_validation(
            ValidationResult(nats=0.0, score=Score("BLEU", 31.5, "", 5, "")), Progress(step=3)
        )
    assert scalars(tmp_path, "training/loss") == {1: 1.0, 2: 2.0, 3: 3.0}
    assert scalars(tmp_path, "training/learning rate") == dict.fromkeys((1, 2, 3), 1e-3)
    assert scalars(tmp_path, "development/perplexity") == {3: 1.0}
    assert scalars(tmp_path, "development/BLEU") == {3: 31.5}


def test_a_resumed_run_takes_back_what_was_lost_after_its_checkpoint(tmp_path):
    for steps, loss in (((1, 2, 3, 4), 5.0), ((3, 4, 5), 1.0)):
        with write_tensorboard(TrainingCallbacks(), tmp_path) as writer:
            for step in steps:
                writer.on_update(update(step, loss), Progress())
    assert scalars(tmp_path, "training/loss") == {1: 5.0, 2: 5.0, 3: 1.0, 4: 1.0, 5: 1.0}


def test_without_tensorboard_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with (
        pytest.raises(InputError, match="TensorBoard is not installed") as refusal,
        write_tensorboard(TrainingCallbacks(), tmp_path),
    ):
        pass
    assert refusal.value.hint == "pip install tensorboard"


def test_a_training_writes_its_curves_when_asked(call, corpus):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    small = ("--set", "training.steps=3", "--set", "training.threads=1")
    run = corpus / "curves"
    ended = call("train", "tiny", *text, *small, "--tensorboard", "-o", run)
    assert ended.code == 0
    assert set(scalars(run, "training/loss")) == {1, 2, 3}
    assert call("train", "tiny", *text, *small, "-o", run).code == 0
    shutil.rmtree(run / "tensorboard")
    ended = call("train", "tiny", *text, *small, "--tensorboard", "-o", run)
    assert f"no update was left to make, so {run / 'tensorboard'} is not written" in ended.stderr


def test_curves_that_cannot_be_written_end_with_a_sentence(tmp_path):
    (tmp_path / "tensorboard").write_text("a file")
    with (
        write_tensorboard(TrainingCallbacks(), tmp_path) as writer,
        pytest.raises(SaveError, match="tensorboard: cannot be written"),
    ):
        writer.on_update(update(1), Progress())
