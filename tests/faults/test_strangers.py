"""Folders that a stranger made, or that were damaged on the way (row T15).

Each is opened as `transduce.load` and `transduce.verify` open it, with a watch on what is opened,
started and connected to. A folder whose checksums are right may be another sound model: then it
translates. Everything else is refused with exit code 3.
"""

import collections
import os
import shutil
import socket
from random import Random

import pytest
from tests.faults.strangers import contents, mutations, parts
from tests.faults.strangers.folders import GOLDEN, read_files, write_files
from tests.faults.strangers.watch import outcome, watch

import transduce
from transduce.durable import folder

MODELS = ("byte-pair", "word-piece", "parsing-words", "tagging")
pytestmark = pytest.mark.usefixtures("warm", "unchecked_types")
MEGABYTES = 200
OTHER_MODELS = {"data.task tagging"}  # a tagger whose labels are the pieces of a text
SEED = 21


@pytest.fixture(scope="module")
def warm():
    """What is imported and allocated at the first use of any model is not a folder's doing."""
    for name in MODELS:
        use(GOLDEN / name)


def use(folder):
    """Load and translate with a model of any task; then check every byte of its folder."""
    model = transduce.load(folder, on_warning=lambda _: None)
    list(model.searching(beam=2, extra_length=3).nbest_lines(["the dog saw it"]))
    if damaged := [part.reason for part in transduce.verify(folder) if not part.is_good]:
        pytest.fail(f"it was used, though {damaged}")


def try_folder(folder):
    """How the use of a folder ended, and what the watch noted."""
    with watch(folder) as notes:
        ended = outcome(lambda: use(folder))
    return ended, notes


def find_fault(ended, notes):
    """What must not happen, if it did."""
    if notes.forbidden or notes.outside:
        return f"{notes.forbidden} {notes.outside}"
    if ended != "used" and not ended.startswith(("3: ", "5: ")):  # 5: finite weights that overflow
        return ended
    return f"{notes.megabytes:.0f} MB more" if notes.megabytes > MEGABYTES else ""


def try_all(cases, folder):
    """Try folders, each a name and files; return outcomes by kind, and what must not happen."""
    counts: collections.Counter[str] = collections.Counter()
    faults, used, most = {}, {}, 0.0
    for name, files in cases:
        ended, notes = try_folder(write_files(folder, files))
        counts[ended.split(":")[0]] += 1
        most = max(most, notes.megabytes)
        if fault := find_fault(ended, notes):
            faults[name] = fault
        if ended == "used":
            used[name] = files
    return counts, faults, used, most


def test_hostile_folders_are_refused_with_a_sentence(tmp_path, record):
    cases = contents.all_cases(read_files(GOLDEN / "byte-pair"))
    counts, faults, used, most = try_all(cases, tmp_path / "m")
    assert faults == {}
    assert set(used) <= OTHER_MODELS
    assert len(cases) >= 150
    record(cases=len(cases), outcomes=counts, megabytes_more=round(most))


PARTS = {
    "origins": ("byte-pair", parts.other_origins),
    "spellings": ("byte-pair", parts.other_spellings),
    "heads": ("byte-pair", parts.other_heads),
    "symbols of a tagger": ("tagging", parts.other_symbols),
    "symbols of a parser": ("parsing-words", parts.other_symbols),
    "tags": ("parsing-words", parts.other_tags),
}


@pytest.mark.parametrize("part", PARTS)
def test_hostile_parts_of_a_folder_are_refused(tmp_path, record, part):
    name, make = PARTS[part]
    cases = list(make(read_files(GOLDEN / name)))
    counts, faults, used, most = try_all(cases, tmp_path / "m")
    assert (faults, used) == ({}, {})
    record(cases=len(cases), outcomes=counts, megabytes_more=round(most))


@pytest.mark.parametrize(
    "count",
    [pytest.param(300, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.soak), 60],
)
def test_mutations_are_refused_or_make_another_sound_model(tmp_path, record, count):
    draw = Random(SEED)
    sound = [read_files(GOLDEN / name) for name in MODELS]
    cases = (mutations.mutate(draw.choice(sound), draw) for _ in range(count))
    counts, faults, used, most = try_all(cases, tmp_path / "m")
    assert faults == {}
    silent = [name for name in used if name.endswith("as it is") and used[name] not in sound]
    assert silent == []
    record(mutations=count, outcomes=counts, megabytes_more=round(most), seeds=[SEED])


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def link_to(target):
    return lambda path: path.symlink_to(target)


NO_FILES = {
    "nothing": lambda _: None,
    "a folder": lambda path: path.mkdir(),
    "a pipe": make_fifo,
    "a socket": make_socket,
    "a link to a device": link_to("/dev/zero"),
    "a link to another file": link_to("/etc/hostname"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": link_to("nowhere"),
}


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_refused(tmp_path, record, kind):
    for name in ("manifest.json", "model.safetensors", "recipe.json", "vocabulary.json"):
        folder = tmp_path / name.partition(".")[0]
        shutil.copytree(GOLDEN / "byte-pair", folder)
        (folder / name).unlink()
        NO_FILES[kind](folder / name)
        ended, notes = try_folder(folder)
        assert find_fault(ended, notes) == ""
        assert ended.startswith("3: ")
    record(folders=4)


def test_the_control_that_reads_pickles_is_caught(tmp_path, monkeypatch, record):
    import pickle

    monkeypatch.setattr(
        "transduce.checkpoint.stored_model.read_tensors",
        lambda stream, *_: pickle.loads(stream.read(10_000)),
    )
    files = read_files(GOLDEN / "byte-pair")
    cases = [one for one in contents.other_contents(files) if one[0].endswith("s: a pickle")]
    _, faults, _, _ = try_all(cases, tmp_path / "m")
    assert any("os.system" in fault for fault in faults.values())
    record(caught=len(faults))


def test_the_control_that_compares_no_checksums_is_caught(tmp_path, monkeypatch, record):
    monkeypatch.setattr(folder, "require_sha256", lambda *_: None)
    draw, sound = Random(SEED), read_files(GOLDEN / "byte-pair")
    cases = [mutations.mutate(sound, draw) for _ in range(40)]
    _, _, used, _ = try_all(cases, tmp_path / "m")
    silent = [name for name in used if name.endswith("as it is")]
    assert silent
    record(used_in_silence=len(silent))
