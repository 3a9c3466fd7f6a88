"""transduce verify: good and bad parts of a folder."""

import errno
import json
import os

import pytest
from tests.runs.corpora import TOY, prepared_toy

import transduce
from transduce.cli.display import print_json
from transduce.runs.training_run import begin_or_resume_run
from transduce.settings.recipe import with_changes

PARTS = [
    "run.json",
    "vocabulary.json",
    "data.json",
    "checkpoints/step-00000019",
    "checkpoints/step-00000020",
    "snapshots/step-00000015",
    "snapshots/step-00000020",
    "milestones/step-00000005",
    "milestones/step-00000010",
    "store",
]


HINT = (
    "hint: name a run, a store or a model folder, or a checkpoint of a run; shards are verified "
    "by `transduce merge`, and a copy of a run when it is put back\n"
)


@pytest.fixture
def run(trained):
    return trained


def test_a_whole_folder_is_good(call, model):
    ended = call("verify", model)
    assert (ended.code, ended.stdout, ended.stderr) == (0, f"good  {model}\n", "")


def test_every_part_of_a_run_is_listed(call, run):
    ended = call("verify", run)
    assert ended.code == 0
    assert ended.stdout.splitlines() == [f"good  {run / part}" for part in PARTS]
    assert ended.stderr == f"not covered: {run / 'log.jsonl'}\n"


def test_the_epochs_of_a_run_are_not_covered(call, run):
    (run / "epochs.json").touch()
    ended = call("verify", run)
    assert ended.code == 0
    assert ended.stderr.endswith(f"not covered: {run / 'epochs.json'}\n")


def test_every_part_of_a_run_with_two_vocabularies_is_there(tmp_path):
    recipe = with_changes(
        TOY,
        {
            "data.shared_vocabulary": False,
            "architecture.tie_embeddings": "target",
            "data.task": "translation",
        },
    )
    begin_or_resume_run(tmp_path, recipe, prepared_toy(tmp_path / "store", recipe))
    parts = transduce.verify(tmp_path)
    assert [(part.is_good, part.path.exists()) for part in parts] == [(True, True)] * 4
    (tmp_path / "target.vocabulary.json").write_text("{}")
    assert [part.is_good for part in transduce.verify(tmp_path)] == [True, False, True, True]


def test_python_gets_the_same_parts_as_values(run):
    (run / PARTS[4] / "state.json").unlink()
    parts = transduce.verify(run)
    assert [part.path for part in parts] == [run / part for part in PARTS]
    assert [part.is_good for part in parts] == [True] * 4 + [False] + [True] * 5
    assert "state.json: is missing" in parts[4].reason
    assert {part.reason for part in parts if part.is_good} == {""}


def test_one_changed_byte_is_found_and_the_other_parts_stay_good(call, run):
    file = run / PARTS[3] / "moments.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    ended = call("verify", run)
    assert ended.code == 3
    lines = ended.stdout.splitlines()
    assert lines[3].startswith(f"bad   {file}: is not as it was written: expected sha256 ")
    assert [line[:4] for line in lines] == ["good"] * 3 + ["bad "] + ["good"] * 6
    assert ended.stderr.startswith(
        f"not covered: {run / 'log.jsonl'}\nerror: {run}: 1 of 10 parts is damaged\n"
        "hint: a run resumes from its newest good checkpoint"
    )


def test_an_edited_run_file_is_found(call, run):
    file = run / "run.json"
    file.write_text(file.read_text(encoding="utf-8").replace("tiny", "huge"), encoding="utf-8")
    ended = call("verify", run)
    assert ended.code == 3
    assert ended.stdout.startswith(f"bad   {file}: ")


def test_a_cut_file_is_reported_as_json(call, model):
    (model / "README.md").write_bytes(b"# Cut")
    ended = call("verify", "--json", model)
    assert ended.code == 3
    assert f"error: {model}: is damaged\n" in ended.stderr
    said = json.loads(ended.stdout)
    assert (said["part"], said["good"]) == (str(model), False)
    assert " bytes, found 5 " in said["reason"]


def test_a_name_that_is_no_utf_8_is_reported_as_json(capsysbinary):
    print_json({"part": "a\udcff", "sound": "ä"})
    said = capsysbinary.readouterr().out
    assert json.loads(said) == {"part": "a\udcff", "sound": "ä"}
    assert "ä".encode() in said


def test_a_file_that_nobody_wrote_down_is_found(call, model):
    (model / "extra.bin").write_bytes(b"")
    assert "the manifest does not list it" in call("verify", model).stdout


@pytest.mark.parametrize("part", ["data.json", "vocabulary.json", "store/prepared.json"])
def test_one_changed_byte_in_a_small_file_is_found(call, run, part):
    data = bytearray((run / part).read_bytes())
    data[len(data) // 2] ^= 1
    (run / part).write_bytes(data)
    ended = call("verify", run)
    assert ended.code == 3
    assert f"bad   {run / part}: " in ended.stdout


def test_a_prepared_corpus_is_one_part(call, run):
    assert call("verify", run / "store").stdout == f"good  {run / 'store'}\n"
    (run / "store/train/source.ids").write_bytes(b"")
    ended = call("verify", run / "store")
    assert ended.code == 3
    assert ended.stdout.startswith(f"bad   {run / 'store/train/source.ids'}: is not as it was")


def test_a_folder_that_is_not_ours_is_refused(call, tmp_path):
    ended = call("verify", tmp_path)
    assert (ended.code, ended.stdout) == (3, "")
    assert ended.stderr == (
        f"error: {tmp_path}: is no run, store or model folder: it has neither run.json nor "
        f"manifest.json\n{HINT}"
    )


def test_a_folder_that_is_not_there_is_wrong_usage_and_not_damage(call, tmp_path):
    ended = call("verify", tmp_path / "nowhere")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {tmp_path / 'nowhere'}: no such folder\nhint: ")


def test_a_file_is_answered_with_what_is_expected(call, model):
    ended = call("verify", model / "README.md")
    assert ended.code == 2
    assert ended.stderr == (f"error: {model / 'README.md'}: is a file, not a folder\n{HINT}")


def test_what_may_not_be_read_is_not_called_damaged(call, run, monkeypatch):
    opened = os.open

    def refuse(path, *rest, **more):
        if str(path).endswith("checkpoints/step-00000020/state.json"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    ended = call("verify", run)
    assert ended.code == 3
    file = run / "checkpoints/step-00000020/state.json"
    assert f"bad   {file}: cannot be read: Permission denied\n" in ended.stdout
    assert ended.stderr.endswith(
        f"error: {run}: 1 of 10 parts cannot be read\n"
        "hint: it may be sound, but you may not read it: look at its permissions and its owner\n"
    )
