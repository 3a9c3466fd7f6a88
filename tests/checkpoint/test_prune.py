"""What a run deletes, and snapshots, which it keeps to average them."""

import os
import shutil

import pytest
import torch
from tests.checkpoint.samples import flip, folder, require_step, weights, write_checkpoints

from transduce.checkpoint.checkpoints import (
    list_snapshots,
    load_newest_checkpoint,
    prune,
    save_snapshot,
)
from transduce.checkpoint.run_file import create_run
from transduce.checkpoint.steps import MILESTONES
from transduce.errors import FolderError
from transduce.runs.average import average_weights
from transduce.settings import Recipe


def kept(run, parent="checkpoints"):
    return sorted(int(path.name[5:]) for path in (run / parent).iterdir())


def test_the_newest_two_checkpoints_and_the_last_snapshots_stay(run):
    write_checkpoints(run, 1, 2, 3, 20)
    for step in range(1, 8):
        save_snapshot(run, step, weights(step))
    assert prune(run, 5, 1) == []
    assert kept(run) == [3, 20]
    assert kept(run, "snapshots") == [3, 4, 5, 6, 7]
    assert prune(run, 5, 1) == []
    assert kept(run) == [3, 20]


def test_the_last_snapshot_of_a_shorter_run_goes_once_there_is_a_newer_one(run):
    for step in (2, 4, 5):
        save_snapshot(run, step, weights(step))
    prune(run, 2, 2)
    assert kept(run, "snapshots") == [4, 5]
    save_snapshot(run, 6, weights(6))
    prune(run, 2, 2)
    assert kept(run, "snapshots") == [4, 6]


def test_the_newest_intact_checkpoint_is_never_deleted(run):
    write_checkpoints(run, 1, 2, 3, 4)
    for step in (3, 4):
        flip(folder(run, step) / "state.json", 3)
    prune(run, 5, 1)
    assert kept(run) == [2, 3, 4]
    require_step(load_newest_checkpoint(run)[0], 2)


def test_foreign_folders_are_reported_and_not_deleted(run, tmp_path):
    create_run(tmp_path / "other", Recipe(name="tiny"), {})
    write_checkpoints(tmp_path / "other", 1)
    write_checkpoints(run, 2, 3)
    shutil.copytree(folder(tmp_path / "other", 1), folder(run, 1))
    [problem] = prune(run, 5, 1)
    assert "says that it is" in problem
    assert kept(run) == [1, 2, 3]


def test_a_deletion_that_fails_is_reported_and_stops_nothing(run, monkeypatch):
    write_checkpoints(run, 1, 2, 3)

    def refuse(*_):
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "rename", refuse)
    assert prune(run, 5, 1) == [f"{folder(run, 1)}: cannot be written: operation not permitted"]


def test_the_average_of_snapshots_is_of_their_weights(run):
    for step in (1, 2, 6):
        save_snapshot(run, step, weights(step))
    chosen = list_snapshots(run)[-2:]
    assert [snapshot.step for snapshot in chosen] == [2, 6]
    mean = average_weights(snapshot.weights() for snapshot in chosen)
    assert all(torch.equal(mean[name], tensor) for name, tensor in weights(4).items())


def test_a_damaged_snapshot_is_named(run):
    save_snapshot(run, 1, weights(1))
    [snapshot] = list_snapshots(run)
    flip(snapshot.folder / "model.safetensors", 150)
    with pytest.raises(FolderError, match=r"step-00000001/model\.safetensors: is not as it was"):
        snapshot.weights()


def test_early_snapshots_of_a_small_model_stay_as_milestones_at_steps_that_double(run):
    for step in range(1, 41):
        save_snapshot(run, step, weights(step))
        assert prune(run, 3, 1) == []
    assert kept(run, "snapshots") == [38, 39, 40]
    assert kept(run, "milestones") == [1, 2, 4, 8, 16, 32]
    assert [snapshot.step for snapshot in list_snapshots(run)] == [38, 39, 40]
    for milestone in list_snapshots(run, MILESTONES):
        assert all(
            torch.equal(tensor, weights(milestone.step)[name])
            for name, tensor in milestone.weights().items()
        )


def test_snapshots_of_a_large_model_are_deleted(run, monkeypatch):
    monkeypatch.setattr("transduce.checkpoint.checkpoints.MAX_BYTES", 1)
    for step in (1, 2, 3):
        save_snapshot(run, step, weights(step))
    assert prune(run, 1, 1) == []
    assert kept(run, "snapshots") == [3]
    assert list_snapshots(run, MILESTONES) == []
