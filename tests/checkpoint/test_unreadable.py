"""What cannot be read or leads elsewhere: told, tried again, never a traceback."""

import errno
from pathlib import Path

import pytest
from tests.checkpoint.kept import folder, require_step, saved

from transduce.checkpoint import load_newest_checkpoint, prune, resume
from transduce.checkpoint.steps import list_steps
from transduce.errors import FolderError, SaveError


def refuse_to_list(monkeypatch):
    def refuse(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "iterdir", refuse)


def test_a_folder_that_cannot_be_listed_is_named(run, monkeypatch):
    saved(run, 1)
    refuse_to_list(monkeypatch)
    with pytest.raises(FolderError) as caught:
        load_newest_checkpoint(run)
    assert caught.value.fact == f"{run / 'checkpoints'}: cannot be read: Input/output error"


def test_pruning_where_nothing_can_be_listed_is_told_and_stops_nothing(run, monkeypatch):
    saved(run, 1, 2, 3)
    refuse_to_list(monkeypatch)
    assert prune(run, 1) == [f"{run / 'checkpoints'}: cannot be read: Input/output error"]


def test_a_run_file_that_cannot_be_read_is_a_save_that_failed(run):
    (run / "run.json").rename(run / "aside")
    with pytest.raises(SaveError, match="is not a run folder"):
        saved(run, 1)
    (run / "aside").rename(run / "run.json")
    saved(run, 1)
    require_step(load_newest_checkpoint(run)[0], 1)


def test_saves_that_would_lie_elsewhere_are_neither_read_nor_written(run, tmp_path):
    saved(run, 1)
    (run / "checkpoints").rename(tmp_path / "other")
    (run / "checkpoints").symlink_to(tmp_path / "other")
    with pytest.raises(FolderError) as caught:
        load_newest_checkpoint(run)
    assert caught.value.fact == f"{run / 'checkpoints'}: is a link to another place"
    assert caught.value.hint == "put the folder itself here, or name a link to the whole run"
    with pytest.raises(SaveError, match="is a link to another place"):
        saved(run, 2)
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["step-00000001"]


def test_a_save_deleted_for_a_newer_one_while_it_was_looked_for_is_no_damage(run, monkeypatch):
    saved(run, 1)

    def then_go_on(parent):
        found = list_steps(parent)
        if found == [1]:
            saved(run, 2)
            folder(run, 1).rename(run / "aside")
        return found

    monkeypatch.setattr(resume, "list_steps", then_go_on)
    found, rejected = load_newest_checkpoint(run)
    require_step(found, 2)
    assert rejected == []
