"""State, data and stores that were edited and sealed anew: exit 3 before the first update."""

import json
import shutil

import pytest
import torch
from tests.runs.corpora import STEPS, TOY, prepared_toy
from tests.training.stopping import single_process_until

from transduce.checkpoint.checkpoints import Checkpoint
from transduce.corpus.store import read_data_facts
from transduce.durable.folder import atomic_folder, open_folder
from transduce.durable.json import from_checksummed_json, to_checksummed_json, to_json
from transduce.errors import FolderError
from transduce.runs.prepared_corpus import open_prepared
from transduce.runs.training_run import begin_or_resume_run, require_adam_state, train_run
from transduce.training.progress import TrainingCallbacks

SAVED = "checkpoints/step-00000003"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """`run` stopped at step 3, with its corpus in it."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("made") / "run"
    steps: list[int] = []
    callbacks = TrainingCallbacks(on_update=lambda update, _: steps.append(update.step))
    group = single_process_until(lambda: len(steps) == 3)
    prepared = prepared_toy(folder / "store")
    begin_or_resume_run(folder, TOY, prepared)
    train_run(folder, TOY, prepared, callbacks, lambda _: None, group)
    return folder


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def resume(run):
    """Open the corpus and train on; fail if an update is made."""

    def refuse(*_):
        pytest.fail("an update was made")

    callbacks = TrainingCallbacks(on_update=refuse)
    group = single_process_until(lambda: False)
    train_run(run, TOY, open_prepared(run / "store"), callbacks, lambda _: None, group)


def reseal(folder, change, kind, name=None):
    """Write a folder anew with right checksums, after a change of a file or of its manifest."""
    verified = open_folder(folder, kind)
    about = json.loads(json.dumps(verified.about))
    files = {name: verified.read(name) for name in verified.files}
    values = about if name is None else json.loads(files[name])
    change(values)
    if name is not None:
        files[name] = to_json(values)
    shutil.rmtree(folder)
    with atomic_folder(folder, kind=kind, about=about) as writer:
        for name, data in files.items():
            writer.write(name, data)


def reseal_file(file, change):
    """Write a checksummed JSON file anew after a change."""
    values = from_checksummed_json(file.read_bytes(), file)
    change(values)
    file.write_bytes(to_checksummed_json(values))


@pytest.mark.parametrize(
    ("table", "key", "value", "fact"),
    [
        ("progress", "step", 7, "says step 7, and its folder is of step 3"),
        ("progress", "step", STEPS, f"says step {STEPS}, and its folder is of step 3"),
        ("progress", "step", -1, "step is -1"),
        ("progress", "step", "3", "step is '3'"),
        ("progress", "seconds", -2.0, r"seconds is -2\.0"),
        ("progress", "best_nats", None, "best_nats is None"),
        ("progress", "extra", 1, "'extra' is unknown"),
        ("progress", "cost", {"device": 5}, "device is 5"),
        ("environment", "torch", 2, "holds no environment of a run"),
    ],
)
def test_a_resealed_state_is_refused(run, table, key, value, fact):
    reseal(run / SAVED, lambda s: s[table].update({key: value}), "checkpoint", "state.json")
    with pytest.raises(FolderError, match=fact):
        resume(run)


@pytest.mark.parametrize("table", ["progress", "environment"])
def test_a_resealed_state_without_a_table_is_refused(run, table):
    reseal(run / SAVED, lambda state: state.pop(table), "checkpoint", "state.json")
    with pytest.raises(FolderError, match=f"holds no {table} of a run"):
        resume(run)


@pytest.mark.parametrize("updates", [-1.0, 0.5, 4.0, 1e30])
def test_a_count_of_updates_that_no_run_has_is_refused(tmp_path, updates):
    moments = {"updates": torch.tensor(updates)}
    found = Checkpoint(step=3, folder=tmp_path, weights={}, moments=moments, state={}, hash="")
    with pytest.raises(FolderError, match="updates, and its folder is of step 3"):
        require_adam_state(found)


def test_a_mean_of_squares_below_0_is_refused(tmp_path):
    moments = {"updates": torch.tensor(3.0), "exp_avg_sq.w": torch.tensor([1.0, -1e-30])}
    found = Checkpoint(step=3, folder=tmp_path, weights={}, moments=moments, state={}, hash="")
    with pytest.raises(FolderError, match=r"exp_avg_sq\.w is a mean of squares, and below 0"):
        require_adam_state(found)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        (lambda v: v["symbols"].update(source=257), "expected symbols .* found"),
        (lambda v: v.pop("cleaning"), "has no usable account of its pairs"),
        (lambda v: v["cleaning"].update(read="many"), "has no usable account of its pairs"),
        (lambda v: v["pairs"].update(too_long=10**9), "has no usable account of its pairs"),
        (
            lambda v: v["cleaning"]["dropped"].update(x={"count": 0, "samples": [{"line": "1"}]}),
            "has an unusable sample of its pairs: line is '1'",
        ),
    ],
)
def test_a_resealed_store_is_refused(run, change, fact):
    reseal(run / "store/train", change, "store")
    with pytest.raises(FolderError, match=fact):
        resume(run)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        (lambda v: v["data"].update(max_length="100"), "max_length is '100'"),
        (lambda v: v["data"].update(max_length=True), "max_length is True"),
        (lambda v: v["data"].update(max_length=10**12), "max_length is at most 65,536"),
        (lambda v: v.update(data=[]), r"\[\] is no JSON object"),
        (lambda v: v["inputs"].update({"../../elsewhere": "x"}), "a text other than train and dev"),
        (lambda v: v["inputs"].pop("train"), "names no training text"),
    ],
)
def test_a_resealed_record_of_inputs_is_refused(run, change, fact):
    reseal_file(run / "store/prepared.json", change)
    with pytest.raises(FolderError, match=fact):
        resume(run)


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values.pop("inputs"),
        lambda values: values["inputs"].clear(),
        lambda values: values["cleaning"].update(dropped=[]),
        lambda values: values["cleaning"].update(read=-1),
        lambda values: values.update(pairs=None),
    ],
)
def test_resealed_data_of_a_run_reach_no_card(run, change):
    reseal_file(run / "data.json", change)
    with pytest.raises(FolderError, match=r"data\.json: (has no usable|names no training text)"):
        read_data_facts(run)
