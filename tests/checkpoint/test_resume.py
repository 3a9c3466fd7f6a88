"""Checkpoints: complete, verified, never mixed."""

import itertools
import os
import shutil
from pathlib import Path

import pytest
import torch
from tests.checkpoint.samples import (
    flip,
    folder,
    moments,
    require_step,
    state,
    weights,
    write_checkpoints,
)

from transduce.checkpoint.checkpoints import (
    list_snapshots,
    load_newest_checkpoint,
    save_checkpoint,
    save_snapshot,
)
from transduce.checkpoint.run_file import create_run
from transduce.durable.folder import open_folder
from transduce.durable.lock import lock_folder
from transduce.errors import FolderError, NotFiniteError, SaveError
from transduce.settings import Recipe

FILES = ("model.safetensors", "moments.safetensors", "state.json", "manifest.json")


def test_the_newest_checkpoint_comes_back_to_the_bit(run):
    write_checkpoints(run, 2, 10, 4)
    found, rejected = load_newest_checkpoint(run)
    require_step(found, 10)
    assert rejected == []
    assert found is not None
    assert found.folder == folder(run, 10)
    assert {file.name for file in folder(run, 10).iterdir()} == set(FILES)


def test_a_run_without_checkpoints_has_no_newest(run):
    assert load_newest_checkpoint(run) == (None, [])


def test_the_weights_of_a_run_are_read_whatever_its_optimiser_stores(run):
    one = {name: moment for name, moment in moments(3).items() if "second" not in name}
    save_checkpoint(run, 3, weights(3), one, state(3))
    found, rejected = load_newest_checkpoint(run, sum(map(torch.numel, weights(3).values())))
    assert found is not None
    assert (found.weights.keys(), found.moments, rejected) == (weights(3).keys(), {}, [])


def written(path):
    """Which one it is and when it was written; not when it was read."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def test_a_step_that_is_kept_is_not_written_again(run):
    write_checkpoints(run, 3)
    before = written(folder(run, 3))
    save_checkpoint(run, 3, weights(99), moments(99), state(99))
    assert written(folder(run, 3)) == before
    require_step(load_newest_checkpoint(run)[0], 3)


def test_a_step_whose_writer_died_before_its_name_was_safe_is_made_safe(run, monkeypatch):
    write_checkpoints(run, 3)
    synced, fsync = [], os.fsync

    def note(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    write_checkpoints(run, 3)
    assert synced == [run / "checkpoints"]


def test_a_damaged_step_is_written_anew_when_it_comes_again(run):
    write_checkpoints(run, 2, 3)
    flip(folder(run, 3) / "state.json", 5)
    write_checkpoints(run, 3)
    require_step(load_newest_checkpoint(run)[0], 3)


@pytest.mark.parametrize("part", ["weights", "moments"])
def test_numbers_that_are_not_finite_are_never_saved(run, part):
    parts = {"weights": weights(1), "moments": moments(1)}
    next(iter(parts[part].values()))[0] = torch.nan
    with pytest.raises(NotFiniteError, match="step 1: "):
        save_checkpoint(run, 1, parts["weights"], parts["moments"], state(1))
    if part == "weights":
        with pytest.raises(NotFiniteError, match="step 1: "):
            save_snapshot(run, 1, parts["weights"])
    assert load_newest_checkpoint(run) == (None, [])
    assert list_snapshots(run) == []


def damages(run):
    """Each class of bytes in each file of a save: (file, offset)."""
    sizes = {name: (folder(run, 3) / name).stat().st_size for name in FILES}
    for name in ("model.safetensors", "moments.safetensors"):
        data = (folder(run, 3) / name).read_bytes()
        header = 8 + int.from_bytes(data[:8], "little")
        yield from ((name, offset) for offset in (0, 7, 8, 9, header - 1, header, header + 20))
    yield from ((name, size // part) for name, size in sizes.items() for part in (2, 3, 5))
    yield from ((name, size - 1) for name, size in sizes.items())


def test_a_flip_in_any_class_of_bytes_is_named_and_the_checkpoint_before_is_taken(run):
    write_checkpoints(run, 2, 3)
    for name, offset in damages(run):
        whole = (folder(run, 3) / name).read_bytes()
        flip(folder(run, 3) / name, offset)
        found, rejected = load_newest_checkpoint(run)
        require_step(found, 2)
        [(path, reason)] = rejected
        assert path == folder(run, 3)
        assert reason.startswith(f"{folder(run, 3)}/"), f"{name} at {offset}: {reason}"
        if name != "manifest.json":
            assert f"/{name}: is not as it was written: expected sha256 " in reason
        (folder(run, 3) / name).write_bytes(whole)
    require_step(load_newest_checkpoint(run)[0], 3)


def test_a_cut_emptied_or_missing_file_is_named_and_the_checkpoint_before_is_taken(run):
    write_checkpoints(run, 2, 3)
    for name in FILES:
        whole = (folder(run, 3) / name).read_bytes()
        for size in {0, 1, 7, 8, 9, len(whole) // 2, len(whole) - 1}:
            (folder(run, 3) / name).write_bytes(whole[:size])
            found, [(_, reason)] = load_newest_checkpoint(run)
            require_step(found, 2)
            assert f"/{name}: " in reason
        (folder(run, 3) / name).unlink()
        found, [(_, reason)] = load_newest_checkpoint(run)
        require_step(found, 2)
        assert name in reason
        (folder(run, 3) / name).write_bytes(whole)


def test_steps_are_never_mixed(run):
    write_checkpoints(run, 1, 2, 3)
    for name in FILES:
        for one, other in itertools.permutations((2, 3), 2):
            files = [folder(run, step) / name for step in (one, other)]
            whole = files[0].read_bytes()
            files[0].write_bytes(files[1].read_bytes())
            found, rejected = load_newest_checkpoint(run)
            require_step(found, 3 if one == 2 else 2)
            assert len(rejected) == (one == 3)
            files[0].write_bytes(whole)


def test_a_step_under_another_steps_name_is_refused(run):
    write_checkpoints(run, 1, 2)
    folder(run, 2).rename(folder(run, 5))
    found, [(path, reason)] = load_newest_checkpoint(run)
    require_step(found, 1)
    assert path == folder(run, 5)
    assert "says that it is of step 2 of run " in reason
    assert ", not step 5 of run " in reason


def test_a_step_of_another_run_is_refused(run, tmp_path):
    create_run(tmp_path / "other", Recipe(name="tiny"), {})
    write_checkpoints(tmp_path / "other", 9)
    write_checkpoints(run, 1)
    shutil.copytree(folder(tmp_path / "other", 9), folder(run, 9))
    found, [(_, reason)] = load_newest_checkpoint(run)
    require_step(found, 1)
    assert "says that it is of step 9 of run " in reason
    assert ", not step 9 of run " in reason


def test_a_snapshot_is_no_checkpoint(run):
    write_checkpoints(run, 1)
    save_snapshot(run, 5, weights(5))
    shutil.copytree(run / "snapshots" / "step-00000005", folder(run, 5))
    found, [(_, reason)] = load_newest_checkpoint(run)
    require_step(found, 1)
    assert "is no checkpoint folder, but one of kind 'snapshot'" in reason


def test_without_an_intact_checkpoint_no_run_is_started_from_scratch(run):
    write_checkpoints(run, 1, 2)
    for step in (1, 2):
        flip(folder(run, step) / "model.safetensors", 100)
    with pytest.raises(FolderError) as error:
        load_newest_checkpoint(run)
    assert error.value.exit_code == 3
    assert error.value.fact.startswith(f"{run}: none of its 2 checkpoints can be used: ")
    assert all(f"{folder(run, step)}/model.safetensors" in error.value.fact for step in (1, 2))
    assert "start from the first step" in error.value.hint


def test_leftovers_and_other_names_are_no_checkpoints(run):
    write_checkpoints(run, 1)
    for name in (".tmp-0123456789abcdef-step-00000009", "step-9", "step-000000009", "step-x"):
        shutil.copytree(folder(run, 1), run / "checkpoints" / name)
    found, rejected = load_newest_checkpoint(run)
    require_step(found, 1)
    assert rejected == []
    with lock_folder(run):
        pass
    assert not (run / "checkpoints" / ".tmp-0123456789abcdef-step-00000009").exists()


def test_a_full_disk_is_reported_before_anything_is_written(run, monkeypatch):
    write_checkpoints(run, 1)
    monkeypatch.setattr(
        os, "statvfs", lambda _: os.statvfs_result((1, 1, 9, 9, 9, 9, 9, 9, 0, 255))
    )
    with pytest.raises(SaveError) as error:
        write_checkpoints(run, 2)
    message = f"{folder(run, 2)}: needs 0.0 MB, and 0.0 MB are free on this disk"
    assert error.value.fact == message
    assert "free some space" in error.value.hint
    require_step(load_newest_checkpoint(run)[0], 1)


def test_a_checkpoint_that_fails_leaves_the_ones_before_and_can_be_tried_again(run, monkeypatch):
    write_checkpoints(run, 1)

    def full(*_):
        raise OSError(28, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(SaveError, match="step-00000002"):
            write_checkpoints(run, 2)
    require_step(load_newest_checkpoint(run)[0], 1)
    write_checkpoints(run, 2)
    require_step(load_newest_checkpoint(run)[0], 2)


def test_nothing_is_unpickled(run, monkeypatch):
    write_checkpoints(run, 1)
    monkeypatch.setattr(torch, "load", None)
    monkeypatch.setattr("pickle.loads", None)
    require_step(load_newest_checkpoint(run)[0], 1)
    open_folder(folder(run, 1), "checkpoint").verify()
