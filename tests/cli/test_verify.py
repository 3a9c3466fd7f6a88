"""transduce verify: good and bad parts of a folder."""

import json

import pytest

from transduce.checkpoint import begin_run, save, save_snapshot
from transduce.durable import whole_folder
from transduce.recipes import by_name


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    with whole_folder(folder, kind="model", about={}) as writer:
        writer.write("model.safetensors", b"weights")
        writer.write("recipe.json", b"{}")
    return folder


@pytest.fixture
def run(tmp_path):
    import torch

    weights = {"w": torch.arange(8.0)}
    folder = tmp_path / "run"
    folder.mkdir()
    begin_run(folder, by_name("tiny"), {})
    for step in (10, 20):
        save(folder, step, weights, weights, {"step": step})
    save_snapshot(folder, 20, weights)
    with whole_folder(folder / "store", kind="store", about={}) as writer:
        writer.write("source.ids", b"1234")
    return folder


PARTS = [
    "run.json",
    "checkpoints/step-00000010",
    "checkpoints/step-00000020",
    "snapshots/step-00000020",
    "store",
]


def test_a_whole_folder_is_good(call, model):
    ended = call("verify", model)
    assert (ended.code, ended.stdout, ended.stderr) == (0, f"good  {model}\n", "")


def test_every_part_of_a_run_is_listed(call, run):
    ended = call("verify", run)
    assert ended.code == 0
    assert ended.stdout.splitlines() == [f"good  {run / part}" for part in PARTS]


def test_one_changed_byte_is_found_and_the_other_parts_stay_good(call, run):
    file = run / PARTS[1] / "moments.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    ended = call("verify", run)
    assert ended.code == 3
    lines = ended.stdout.splitlines()
    assert lines[1].startswith(f"bad   {file}: is not as it was written: expected sha256 ")
    assert [line[:4] for line in lines] == ["good", "bad ", "good", "good", "good"]
    assert ended.stderr.startswith(
        f"error: {run}: 1 of 5 parts are damaged\nhint: a run goes on from its newest good save"
    )


def test_an_edited_run_file_is_found(call, run):
    file = run / "run.json"
    file.write_text(file.read_text(encoding="utf-8").replace("tiny", "huge"), encoding="utf-8")
    ended = call("verify", run)
    assert ended.code == 3
    assert ended.stdout.startswith(f"bad   {file}: ")


def test_a_cut_file_is_found_and_told_as_json(call, model):
    (model / "model.safetensors").write_bytes(b"weigh")
    ended = call("verify", "--json", model)
    assert ended.code == 3
    said = json.loads(ended.stdout)
    assert (said["part"], said["good"]) == (str(model), False)
    assert "expected 7 bytes, found 5" in said["reason"]


def test_a_file_that_nobody_wrote_down_is_found(call, model):
    (model / "extra.bin").write_bytes(b"")
    assert "the manifest does not list it" in call("verify", model).stdout


@pytest.mark.parametrize(
    ("name", "reason"),
    [("empty", "is not a run, store or model folder"), ("none", "does not exist")],
)
def test_a_folder_that_is_not_ours_is_refused(call, tmp_path, name, reason):
    (tmp_path / "empty").mkdir()
    ended = call("verify", tmp_path / name)
    assert ended.code == 3
    assert reason in ended.stdout
