"""A run that is stopped anywhere and gone on with ends as if it had never been stopped."""

import hashlib
from dataclasses import replace

import pytest
import torch
from tests.runs.corpora import STEPS, TOY, prepared_toy
from tests.training.events import read_journal
from tests.training.stopping import single_process_until

from transduce.checkpoint.checkpoints import list_snapshots, load_checkpoint
from transduce.checkpoint.run_file import read_run
from transduce.corpus.feed import Augmentation
from transduce.errors import InputError
from transduce.paper import training as update_step
from transduce.runs import epoch_ends
from transduce.runs.epoch_ends import EPOCHS
from transduce.runs.prepared_corpus import build_feed
from transduce.runs.training_run import begin_or_resume_run, train_run
from transduce.settings.recipe import with_changes
from transduce.training.progress import TrainingCallbacks


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    torch.set_num_threads(1)
    return prepared_toy(tmp_path_factory.mktemp("toy") / "store")


def trained(folder, prepared, *, asks=None, recipe=TOY):
    """Train on, until the loop has asked so often whether it should stop.

    The progress, and after which update each question came: one before every micro-batch,
    and several in a look.
    """
    done, questions = [0], []

    def stopped():
        questions.append(done[-1])
        return asks is not None and len(questions) > asks

    recipe = begin_or_resume_run(folder, recipe, prepared)
    callbacks = TrainingCallbacks(on_update=lambda update, _: done.append(update.step))
    group = single_process_until(stopped)
    return train_run(folder, recipe, prepared, callbacks, lambda _: None, group), questions


def numbers(folder, step=STEPS):
    """A hash of all that was learned, and the losses, looks and norms on the way."""
    save = load_checkpoint(folder, step)
    digest = hashlib.sha256()
    kept = [save.weights, save.moments, *(one.weights() for one in list_snapshots(folder))]
    for tensors in kept:
        for name in sorted(tensors):
            digest.update(tensors[name].numpy().tobytes())
    said = [
        {name: fact for name, fact in event.items() if name not in ("at", "seconds")}
        for event in read_journal(folder / "log.jsonl")
        if event["event"] in ("update", "validation", "snapshot")
    ]
    # a look that was left comes after the snapshot of its step
    return digest.hexdigest(), sorted(said, key=lambda event: (event["step"], event["event"]))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, prepared):
    """The numbers of a run that nothing disturbed, and its questions."""
    folder = tmp_path_factory.mktemp("straight")
    _, questions = trained(folder, prepared)
    return numbers(folder), questions


@pytest.fixture
def straight(undisturbed):
    return undisturbed[0]


def test_updates_have_several_micro_batches_and_epochs_end_on_the_way(prepared):
    feed = build_feed(TOY, prepared, TOY.training.micro_batch_tokens)
    assert feed.plan.locate(STEPS)[0] >= 3
    assert {len(feed.micro_batches(step)) for step in range(1, STEPS + 1)} == {2}


def test_a_run_with_augmentation_that_is_stopped_amid_an_epoch_ends_the_same(tmp_path):
    recipe = with_changes(
        TOY,
        {
            "data.task": "translation",
            "data.upper_case": 0.3,
            "training.steps": 12,
            "training.validate_every": 12,
        },
    )
    prepared = prepared_toy(tmp_path / "store", recipe)
    trained(tmp_path / "straight", prepared, recipe=recipe)
    stopped, _ = trained(tmp_path / "stopped", prepared, recipe=recipe, asks=9)
    assert 1 < stopped.step < len(build_feed(recipe, prepared, 300).plan.epoch(1)) < 12
    trained(tmp_path / "stopped", prepared, recipe=recipe)
    assert numbers(tmp_path / "stopped", 12) == numbers(tmp_path / "straight", 12)
    other = with_changes(recipe, {"data.upper_case": 0.1})
    with pytest.raises(InputError, match=r"another recipe: data\.upper_case"):
        begin_or_resume_run(tmp_path / "stopped", other, prepared)


def test_a_resumed_run_plans_only_epochs_that_were_not_begun(tmp_path, monkeypatch):
    recipe = with_changes(
        TOY,
        {
            "data.task": "translation",
            "data.upper_case": 0.3,
            "training.steps": 40,
            "training.validate_every": 40,
        },
    )
    prepared = prepared_toy(tmp_path / "store", recipe)
    planned, measure = [], Augmentation.measure

    def measured(self, epoch, pairs):
        planned.append(epoch)
        return measure(self, epoch, pairs)

    monkeypatch.setattr(Augmentation, "measure", measured)
    monkeypatch.setattr(epoch_ends, "PAUSE", 0)
    trained(tmp_path / "run", prepared, recipe=recipe, asks=45)
    last = planned[-1]
    assert planned == [*range(1, last + 1)]
    assert last > 2
    planned.clear()
    trained(tmp_path / "run", prepared, recipe=recipe)
    assert planned[0] == last
    whole = numbers(tmp_path / "run", 40)
    for spoilt in ("{}", None):
        folder = tmp_path / f"other {spoilt}"
        trained(folder, prepared, recipe=recipe, asks=45)
        (folder / EPOCHS).unlink()
        if spoilt is not None:
            (folder / EPOCHS).write_text(spoilt)
        planned.clear()
        trained(folder, prepared, recipe=recipe)
        assert planned[0] == 1
        assert numbers(folder, 40) == whole


@pytest.mark.slow
def test_a_run_that_is_stopped_again_and_again_ends_the_same(tmp_path, prepared, straight):
    step, starts = 0, 0
    while step < STEPS:
        progress, _ = trained(tmp_path, prepared, asks=7 + 5 * (starts % 4))
        step, starts = progress.step, starts + 1
    assert starts >= 8
    assert numbers(tmp_path) == straight


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=[pytest.mark.soak] if step % 7 else []) for step in range(STEPS)],
)
def test_a_stop_anywhere_after_an_update_changes_no_bit(tmp_path, prepared, undisturbed, step):
    straight, questions = undisturbed
    places = [place for place, done in enumerate(questions) if done == step]
    stop = places[step % len(places)]  # before an update, between micro-batches, or in a look
    progress, _ = trained(tmp_path, prepared, asks=stop)
    assert progress.step == step
    trained(tmp_path, prepared)
    assert numbers(tmp_path) == straight


def test_the_control_a_dropout_that_does_not_know_its_step_is_noticed(
    tmp_path, prepared, straight, monkeypatch
):
    def carried_along(_seed, _step, number):
        return torch.initial_seed() + number + 1

    monkeypatch.setattr(update_step, "dropout_seed", carried_along)
    short = with_changes(TOY, {"training.steps": 12})
    trained(tmp_path / "straight", prepared, recipe=short)
    trained(tmp_path / "stopped", prepared, recipe=short, asks=15)
    torch.manual_seed(7)  # what another process begins with
    trained(tmp_path / "stopped", prepared, recipe=short)
    bits, found = numbers(tmp_path / "straight", 12)
    assert numbers(tmp_path / "stopped", 12)[0] != bits
    updates = [one for one in found if one["event"] == "update"]
    assert len(updates) > 1
    assert not any(one in straight[1] for one in updates)


def test_a_run_that_is_trained_longer_equals_one_that_was_to_be_longer_from_the_start(
    tmp_path, prepared, straight
):
    for steps in (7, 20, STEPS):
        recipe = replace(with_changes(TOY, {"training.steps": steps}), name=f"for {steps} steps")
        progress, _ = trained(tmp_path, prepared, recipe=recipe)
        assert progress.step == read_run(tmp_path).recipe.training.steps == steps
        assert read_run(tmp_path).recipe.name == f"for {steps} steps"
    assert numbers(tmp_path)[0] == straight[0]
