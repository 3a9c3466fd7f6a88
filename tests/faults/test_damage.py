"""Every byte of a save flipped or cut, every file missing, doubled or swapped: never used."""

import collections
import itertools
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.checkpoint.samples import folder, require_step, write_checkpoints
from tests.training.run import train_folder
from tests.training.tiny import training_of

from transduce.checkpoint import steps
from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.checkpoint.run_file import create_run
from transduce.durable.folder import open_folder
from transduce.errors import FolderError
from transduce.settings import Recipe

FILES = ("manifest.json", "model.safetensors", "moments.safetensors", "state.json")
SEED = 9


@pytest.fixture
def run():
    """A run in memory, with saves at 1, 2 and 3."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        create_run(Path(folder) / "run", Recipe(name="tiny"), {})
        write_checkpoints(Path(folder) / "run", 1, 2, 3)
        yield Path(folder) / "run"


@pytest.fixture(params=["small", pytest.param("trained", marks=pytest.mark.soak)])
def damaged(request, run):
    """A run whose last save is to be damaged, and its steps: a small one, or one of a training."""
    if request.param == "small":
        return run, 2, 3
    trained = run.parent / "trained"
    train_folder(trained, training_of(steps=2, checkpoint_minutes=1e-9))
    return trained, 1, 2


def flipped(data, draws):
    """The bytes with one flipped bit, in each byte in turn."""
    for offset in range(len(data)):
        yield data[:offset] + bytes([data[offset] ^ 1 << draws.randrange(8)]) + data[offset + 1 :]


def cut(data, _):
    """The bytes up to each offset."""
    return (data[:offset] for offset in range(len(data)))


def noticed(damaged, damage):
    """How often the last save was damaged, by file; each time the one before it was taken."""
    run, before, last = damaged
    done: collections.Counter[str] = collections.Counter()
    draws = random.Random(SEED)
    for name in FILES:
        file = folder(run, last) / name
        whole = file.read_bytes()
        for data in damage(whole, draws):
            file.write_bytes(data)
            found, rejected = load_newest_checkpoint(run)
            assert found is not None
            assert found.step == before
            assert [name in reason for _, reason in rejected] == [True]
            done[name] += 1
        file.write_bytes(whole)
    assert load_newest_checkpoint(run)[1] == []
    return done


@pytest.mark.slow
def test_a_flip_in_any_byte_is_named_and_the_checkpoint_before_is_taken(damaged, record):
    done = noticed(damaged, flipped)
    record(flips=done.total(), refused_and_named=done, seeds=[SEED])


@pytest.mark.slow
def test_a_cut_at_any_byte_is_named_and_the_checkpoint_before_is_taken(damaged, record):
    done = noticed(damaged, cut)
    record(cuts=done.total(), refused_and_named=done)


def test_a_missing_or_doubled_file_is_named_and_the_checkpoint_before_is_taken(run, record):
    done = 0
    for name, act in itertools.product(FILES, ("gone", "empty", "doubled", "a folder")):
        file, kept = folder(run, 3) / name, run / "kept"
        shutil.copytree(folder(run, 3), kept)
        if act == "doubled":
            shutil.copy(file, file.with_name(f"copy-of-{name}"))
        else:
            file.unlink()
        if act in ("empty", "a folder"):
            file.touch() if act == "empty" else file.mkdir()
        found, rejected = load_newest_checkpoint(run)
        require_step(found, 2)
        assert len(rejected) == 1
        done += 1
        shutil.rmtree(folder(run, 3))
        kept.rename(folder(run, 3))
    require_step(load_newest_checkpoint(run)[0], 3)
    record(damaged=done, refused=done)


def swapped(run, names):
    """Files of steps 2 and 3 change places; again, and they are back."""
    for name in names:
        one, other, aside = folder(run, 2) / name, folder(run, 3) / name, run / "aside"
        one.rename(aside)
        other.rename(one)
        aside.rename(other)


def mixtures():
    """Every choice of files, all of them among it."""
    return (names for n in range(1, 5) for names in itertools.combinations(FILES, n))


def test_files_of_two_steps_are_never_mixed(run, record):
    done = 0
    for names in mixtures():
        swapped(run, names)
        found, rejected = load_newest_checkpoint(run)
        require_step(found, 1)
        assert len(rejected) == 2, names
        swapped(run, names)
        done += 1
    require_step(load_newest_checkpoint(run)[0], 3)
    record(mixtures=done, mixed_loads=0)


def test_the_control_whose_checkpoints_do_not_know_their_step_is_caught(run, monkeypatch, record):
    def open_any(parent, step):
        return open_folder(steps.step_folder(parent, step), steps.KIND_OF_FOLDER[parent.name])

    monkeypatch.setattr("transduce.checkpoint.checkpoints.open_step", open_any)
    wrong = 0
    for names in mixtures():
        swapped(run, names)
        found, _ = load_newest_checkpoint(run)
        assert found is not None
        wrong += found.state["step"] != found.step
        swapped(run, names)
    record(wrong_loads=wrong)
    assert wrong


def test_a_run_without_an_intact_checkpoint_is_refused_and_not_started_anew(run, record):
    for step in (1, 2, 3):
        (folder(run, step) / "state.json").write_bytes(b"")
    with pytest.raises(FolderError, match="none of its 3 checkpoints can be used"):
        load_newest_checkpoint(run)
    record(damaged=3, refused=3)
