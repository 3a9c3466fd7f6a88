"""What cannot be read or leads elsewhere: told, tried again, never a traceback."""

import errno
from pathlib import Path

import pytest
from tests.checkpoint.samples import folder, require_step, write_checkpoints

from transduce.checkpoint import checkpoints
from transduce.checkpoint.checkpoints import load_newest_checkpoint, prune
from transduce.checkpoint.steps import list_steps
from transduce.errors import FolderError, SaveError
from transduce.runs.training_run import require_run_folder


def refuse_to_list(monkeypatch):
    def refuse(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "iterdir", refuse)


def test_a_folder_that_cannot_be_listed_is_named(run, monkeypatch):
    write_checkpoints(run, 1)
    refuse_to_list(monkeypatch)
    with pytest.raises(FolderError) as caught:
        load_newest_checkpoint(run)
    assert caught.value.fact == f"{run / 'checkpoints'}: cannot be read: Input/output error"


def test_pruning_a_folder_that_cannot_be_listed_is_reported_and_stops_nothing(run, monkeypatch):
    write_checkpoints(run, 1, 2, 3)
    refuse_to_list(monkeypatch)
    assert prune(run, 1, 1) == [f"{run / 'checkpoints'}: cannot be read: Input/output error"]


def test_a_run_file_that_cannot_be_read_is_a_failed_checkpoint(run):
    (run / "run.json").rename(run / "aside")
    with pytest.raises(SaveError, match="is not a run folder"):
        write_checkpoints(run, 1)
    (run / "aside").rename(run / "run.json")
    write_checkpoints(run, 1)
    require_step(load_newest_checkpoint(run)[0], 1)


def test_checkpoints_that_would_lie_elsewhere_are_neither_read_nor_written(run, tmp_path):
    write_checkpoints(run, 1)
    (run / "checkpoints").rename(tmp_path / "other")
    (run / "checkpoints").symlink_to(tmp_path / "other")
    with pytest.raises(FolderError) as caught:
        load_newest_checkpoint(run)
    assert caught.value.fact == f"{run / 'checkpoints'}: is a link to another place"
    assert caught.value.hint == "put the folder itself here, or name a link to the whole run"
    with pytest.raises(SaveError, match="is a link to another place"):
        write_checkpoints(run, 2)
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["step-00000001"]


def test_a_file_in_the_place_of_the_checkpoints_is_named_before_a_step_is_taken(run):
    (run / "checkpoints").write_text("mine")
    with pytest.raises(FolderError, match="checkpoints: is no folder"):
        require_run_folder(run)
    assert (run / "checkpoints").read_text() == "mine"


@pytest.mark.parametrize("kind", ["checkpoints", "snapshots"])
def test_no_run_is_begun_where_the_steps_of_one_lie_without_its_run_file(run, kind):
    write_checkpoints(run, 1)
    (run / "checkpoints").rename(run / kind)
    (run / "run.json").unlink()
    with pytest.raises(FolderError, match=f"run.json: is missing, and {kind} of its run are here"):
        require_run_folder(run)


def test_a_checkpoint_deleted_for_a_newer_one_during_the_search_is_no_damage(run, monkeypatch):
    write_checkpoints(run, 1)

    def then_go_on(parent):
        found = list_steps(parent)
        if found == [1]:
            write_checkpoints(run, 2)
            folder(run, 1).rename(run / "aside")
        return found

    monkeypatch.setattr(checkpoints, "list_steps", then_go_on)
    found, rejected = load_newest_checkpoint(run)
    require_step(found, 2)
    assert rejected == []
