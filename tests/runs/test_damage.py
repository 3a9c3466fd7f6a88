"""A flip or a cut in any file of a run, of a corpus or of a model: refused by name, never used."""

import random
import shutil

import pytest
import torch
from tests.runs.corpora import STEPS, TOY, prepared_toy
from tests.training.stopping import single_process_until

from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.checkpoint.run_file import read_run
from transduce.durable import folder
from transduce.durable.folder import open_folder
from transduce.errors import FolderError
from transduce.inference.load import load
from transduce.paper.training import Update
from transduce.runs.average import write_average
from transduce.runs.prepared_corpus import open_prepared
from transduce.runs.training_run import begin_or_resume_run, train_run
from transduce.runs.verify import verify_parts
from transduce.training.distributed.process_group import SingleProcess
from transduce.training.progress import Progress, TrainingCallbacks

RANDOM_FLIPS = 8  # in each file, beside its first byte, two of its header, and its last


def take_until_stopped(last: int) -> tuple[TrainingCallbacks, SingleProcess]:
    """Return callbacks that see a step, and a group that stops after it."""
    done = [0]

    def record_step(update: Update, _: Progress) -> None:
        done.append(update.step)

    return TrainingCallbacks(on_update=record_step), single_process_until(lambda: done[-1] >= last)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """`run` with saves at 30 and 40 and a snapshot at each, its corpus in it, its model `m`."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("made")
    prepared = prepared_toy(folder / "run" / "store")
    begin_or_resume_run(folder / "run", TOY, prepared)
    for last in (30, STEPS):
        callbacks, group = take_until_stopped(last)
        train_run(folder / "run", TOY, prepared, callbacks, lambda _: None, group)
    write_average(folder / "run", folder / "m", None)
    return folder


def cuts(file):
    """The file cut to nothing, to a half, before its last byte; and at the end as it was."""
    before = file.read_bytes()
    for place in (0, 1, len(before) // 2, len(before) - 1):
        file.write_bytes(before[:place])
        yield place
    file.write_bytes(before)


def flips(file):
    """The file with one flipped bit, again and again, and at the end as it was."""
    before = file.read_bytes()
    draws = random.Random(file.name)
    places = [
        0,
        7,
        8,
        len(before) - 1,
        *(draws.randrange(len(before)) for _ in range(RANDOM_FLIPS)),
    ]
    for place in places:
        data = bytearray(before)
        data[min(place, len(data) - 1)] ^= 1 << draws.randrange(8)
        file.write_bytes(data)
        yield place
    file.write_bytes(before)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")


def require_refused(file, use, *names, damage=flips):
    """Whoever uses the file is record_step so, by its name or that of the folder that lists it."""
    use()
    times = 0
    for place in damage(file):
        with pytest.raises(FolderError) as fault:
            use()
        assert any(name in fault.value.fact for name in (file.name, *names)), place
        times += 1
    use()
    return times


def test_a_model_folder_is_refused(made, record):
    model, flipped = made / "m", {}
    for file in files(model):
        if file.suffix in (".md", ".svg"):  # for people; a translation does not read them
            flipped[file.name] = require_refused(file, lambda: open_folder(model, "model").verify())
        else:
            flipped[file.name] = require_refused(file, lambda: load(model))
    record(flips=sum(flipped.values()), refused_and_named=flipped)


def test_a_corpus_is_refused(made, record):
    store = made / "run" / "store"
    flipped = {
        str(file.relative_to(store)): require_refused(
            file, lambda: open_prepared(store), file.parent.name
        )
        for file in files(store)
    }
    record(flips=sum(flipped.values()), refused_and_named=flipped)


def test_damaged_files_that_a_run_was_started_with_are_refused(made, tmp_path, record):
    run = made / "run"
    outputs = (tmp_path / str(number) for number in range(1000))
    flipped = {
        "run.json": require_refused(run / "run.json", lambda: read_run(run)),
        "vocabulary.json": require_refused(run / "vocabulary.json", lambda: load(run)),
        "data.json": require_refused(
            run / "data.json", lambda: write_average(run, next(outputs), None)
        ),
    }
    record(flips=sum(flipped.values()), refused_and_named=flipped)


@pytest.mark.parametrize("name", ["vocabulary.json", "data.json"])
def test_a_resumed_run_has_the_files_of_its_corpus_again(made, name):
    file = made / "run" / name
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole.replace(b"1", b"2")):
        file.write_bytes(damaged)
        begin_or_resume_run(made / "run", TOY, open_prepared(made / "run" / "store"))
        assert file.read_bytes() == whole


def test_a_snapshot_is_refused(made, tmp_path, record):
    outputs = (tmp_path / str(number) for number in range(1000))
    flips = sum(
        require_refused(file, lambda: write_average(made / "run", next(outputs), None), "step-")
        for file in files(made / "run" / "snapshots")
    )
    assert next(tmp_path.glob("*/model.safetensors"))
    record(flips=flips, refused_and_named=flips)


def test_a_file_of_a_model_or_a_corpus_that_was_cut_is_refused(made, record):
    model, store = made / "m", made / "run" / "store"
    done = sum(
        require_refused(file, lambda: open_folder(model, "model").verify(), damage=cuts)
        for file in files(model)
    )
    done += sum(
        require_refused(file, lambda: open_prepared(store), file.parent.name, damage=cuts)
        for file in files(store)
        if file.stat().st_size
    )
    record(cuts=done, refused_and_named=done)


def test_a_checkpoint_is_refused_by_name_and_the_one_before_is_found(made):
    run = made / "run"
    for file in files(run / "checkpoints" / f"step-{STEPS:08d}"):
        for place in flips(file):
            save, rejected = load_newest_checkpoint(run)
            assert save is not None
            assert save.step == 30, place
            assert [folder.name for folder, _ in rejected] == [f"step-{STEPS:08d}"]
            assert file.name in rejected[0][1]
            with pytest.raises(FolderError):
                load(run)
    save, rejected = load_newest_checkpoint(run)
    assert save is not None
    assert (save.step, rejected) == (STEPS, [])


def test_the_control_without_verification_damage_is_used_in_silence(made, monkeypatch, record):
    monkeypatch.setattr(folder, "require_sha256", lambda *_: None)
    file, silent = made / "m" / "model.safetensors", 0
    for _ in flips(file):
        try:
            load(made / "m")
            silent += 1
        except FolderError:
            pass
    record(flips=RANDOM_FLIPS + 4, used_in_silence=silent)
    assert silent > RANDOM_FLIPS // 2


def test_a_folder_of_snapshots_that_is_a_link_hides_no_other_part(made, tmp_path):
    run = shutil.copytree(made / "run", tmp_path / "run")
    (run / "snapshots").rename(tmp_path / "elsewhere")
    (run / "snapshots").symlink_to(tmp_path / "elsewhere")
    found = {part.path.name: part.is_good for part in verify_parts(run)}
    assert found.pop("snapshots") is False
    assert len(found) > 3
    assert all(found.values())


def test_a_snapshot_that_training_deletes_during_a_verification_is_not_damaged(made):
    parts = verify_parts(made / "run")
    first = next(parts)
    *_, newest = sorted((made / "run" / "snapshots").iterdir())
    hidden = newest.rename(made / "hidden")
    try:
        found = [first, *parts]
    finally:
        hidden.rename(newest)
    assert all(part.is_good for part in found)
    assert newest not in {part.path for part in found}
