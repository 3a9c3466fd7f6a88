"""Folders of every format, kept for ever, are opened by today's code with equal results (row T16).

A folder `format-N` is never changed. Where a test fails, the code has to change, not the folder: a
new format gets a number, a migration (docs/reference/formats.md), and golden folders of its own.
"""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from tests.golden.build_format import list_given, read_run_answers

import transduce
from transduce.checkpoint import stored_recipe
from transduce.durable.json import FORMAT, add_checksum
from transduce.errors import FolderError
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes

HERE = Path(__file__).parent
FORMATS = sorted(HERE.glob("format-*"))
GOLDEN = FORMATS[-1]
IMPORTED = HERE / "imported-1"  # format 1, too: made when format-1 was finished
MODELS = sorted(  # every model of every format
    path.parent for folder in (*FORMATS, IMPORTED) for path in folder.glob("*/manifest.json")
)
# sha256 over names and bytes of all files of a format; no new version may change it
HASHES = {
    "format-1": "e51d6c46dfc5843cb75d050b1bc95178fa807edd5dfa6bebf059a95c7d9db1f5",
    "format-2": "5361e6eccda06db5d72671829774c445d758d7d9b19712609a6f8b42c186934a",
    "format-3": "c508ff359f48db8dc6490c6de9c52983b21c18a3cf1187467cc92d6ed68d8a9c",
    "format-4": "fafce4eb59f8f17aca4476de5e0fd718da1eb6360bc475907cc01d3b4015b45d",
    "imported-1": "56cd36422acffbdb891815cd0ffa0324ac091b5829c54f1abc376c98577ced40",
}
TOLERANCE = 1e-5


pytestmark = pytest.mark.usefixtures("unchecked_types")  # the same calls for every folder


def hash_folder(folder):
    """The sha256 of the names and bytes of all files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def read_golden(folder):
    return json.loads(Path(f"{folder}.json").read_bytes())


def assert_same(found, expected):
    """Outputs with equal texts, and scores equal to six digits."""
    for ours, theirs in zip(found, expected, strict=True):
        assert ours["text"] == theirs["text"]
        for name in ("score", "log_prob"):
            assert ours[name] == (
                theirs[name] and pytest.approx(theirs[name], rel=TOLERANCE, abs=TOLERANCE)
            )


def compare_answers(model, golden):
    """Compare outputs and likelihoods of a model with those that are kept.

    When they were kept, an n-best list could have a text twice.
    """
    lines, count = golden["lines"], max(map(len, golden["outputs"]))
    outputs = [[one.as_json() for one in best] for best in model.nbest_lines(lines, count)]
    for ours, theirs in zip(outputs, golden["outputs"], strict=True):
        different = {one["text"]: one for one in reversed(theirs)}.values()
        assert_same(ours[: len(different)], reversed(different))
    given = list_given(lines, golden["outputs"])
    assert_same([one.as_json() for one in model.likelihood(given)], golden["likelihood"])


def find_damage(folder):
    """The reasons why parts of a folder are not as they were written."""
    return [part.reason for part in transduce.verify(folder) if not part.is_good]


def load(folder):
    return transduce.load(folder, on_warning=lambda _: None)


def test_every_format_up_to_the_present_one_has_its_folder():
    assert [folder.name for folder in FORMATS] == [f"format-{n}" for n in range(1, FORMAT + 1)]
    assert {folder.name: hash_folder(folder) for folder in (*FORMATS, IMPORTED)} == HASHES


def test_the_newest_format_has_every_setting():
    """A new setting changes what files hold: docs/reference/formats.md says what it needs."""
    stored = json.loads((FORMATS[-1] / "byte-pair" / "recipe.json").read_bytes())
    known = stored_recipe.list_setting_paths(Recipe(name="any").as_json())
    assert set(known) == set(stored_recipe.list_setting_paths(stored))


@pytest.mark.parametrize("folder", MODELS, ids=lambda one: f"{one.parent.name}-{one.name}")
def test_a_model_of_this_format_answers_as_it_did(record, folder):
    golden = read_golden(folder)
    assert find_damage(folder) == []
    compare_answers(load(folder), golden)
    record(translations=len(golden["lines"]), different=0)


@pytest.mark.parametrize("format_folder", FORMATS, ids=lambda one: one.name)
def test_a_run_of_this_format_is_read_averaged_and_resumed(tmp_path, record, format_folder):
    run, golden = tmp_path / "run", read_golden(format_folder / "run")
    shutil.copytree(format_folder / "run", run)
    assert find_damage(run) == []
    corpus = {name: golden[name] for name in ("pairs", "dev", "updates", "micro_batch")}
    found = json.loads(json.dumps(read_run_answers(run)))
    assert {name: found[name] for name in corpus} == corpus
    compare_answers(load(run), golden)
    transduce.average(run, tmp_path / "model")
    compare_answers(load(tmp_path / "model"), read_golden(format_folder / "averaged"))
    assert transduce.train(run, settings={"training.steps": 5}).progress.step == 5
    record(runs=1, different=0)


def test_the_control_that_reads_a_setting_s_new_default_is_caught(monkeypatch, record):
    whole = stored_recipe.parse_stored_recipe

    def forget(values, file):
        return with_changes(whole(values, file), {"search.extra_length": 50, "search.alpha": 1.0})

    monkeypatch.setattr("transduce.checkpoint.stored_model.parse_stored_recipe", forget)
    with pytest.raises(AssertionError):
        compare_answers(load(GOLDEN / "byte-pair"), read_golden(GOLDEN / "byte-pair"))
    record(caught=1)


SEALED = sorted(
    path.relative_to(GOLDEN).as_posix()
    for path in GOLDEN.rglob("*.json")
    if b'"sha256": ' in path.read_bytes() and b'"format": ' in path.read_bytes()
)


@pytest.mark.parametrize("name", [name for name in SEALED if name.startswith(("run/", "byte-p"))])
def test_a_newer_format_is_refused_with_the_version_to_install(tmp_path, name):
    where = Path(name).parts[0]
    shutil.copytree(GOLDEN / where, tmp_path / where)
    values = json.loads((tmp_path / name).read_bytes())
    del values["sha256"]
    (tmp_path / name).write_bytes(add_checksum({**values, "format": FORMAT + 1}))
    wanted = f"has format {FORMAT + 1}, and this version reads format {FORMAT} at most"
    assert any(wanted in reason for reason in find_damage(tmp_path / where))


def test_a_model_of_a_newer_format_says_what_to_install(tmp_path):
    shutil.copytree(GOLDEN / "byte-pair", tmp_path / "m")
    manifest = tmp_path / "m" / "manifest.json"
    values = {**json.loads(manifest.read_bytes()), "format": FORMAT + 1}
    del values["sha256"]
    manifest.write_bytes(add_checksum(values))
    with pytest.raises(FolderError, match="this version reads format") as error:
        load(tmp_path / "m")
    assert error.value.hint.startswith("install a newer transduce")
