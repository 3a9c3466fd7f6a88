"""A folder that is read shows every damage."""

import hashlib
import json
import os
import random

import pytest

from transduce.durable.folder import atomic_folder, is_nearly_empty, open_folder
from transduce.durable.json import FORMAT
from transduce.errors import FolderError


@pytest.fixture
def folder(tmp_path):
    with atomic_folder(tmp_path / "f", kind="store", about={"step": 3, "word": "Wort"}) as writer:
        writer.write("a", bytes(range(256)))
        writer.write("b", b"beta" * 300)
        writer.write("empty", b"")
    return tmp_path / "f"


def refused(folder):
    with pytest.raises(FolderError) as error:
        open_folder(folder, "store").verify()
    assert error.value.exit_code == 3
    assert error.value.hint
    return error.value.fact


def with_manifest(folder, change):
    """The folder with a manifest that was changed and sealed again, as a stranger would."""
    values = json.loads((folder / "manifest.json").read_bytes())
    del values["sha256"]
    change(values)
    body = json.dumps(values, indent=1).encode() + b"\n"
    values["sha256"] = hashlib.sha256(body).hexdigest()
    (folder / "manifest.json").write_bytes(json.dumps(values, indent=1).encode() + b"\n")
    return folder


def test_a_flipped_bit_is_named_with_both_sums(folder):
    before = bytes(range(256))
    after = b"\x01" + before[1:]
    (folder / "a").write_bytes(after)
    sums = [hashlib.sha256(data).hexdigest() for data in (before, after)]
    said = f"{folder}/a: is not as it was written: expected sha256 {sums[0]}, found {sums[1]}"
    assert refused(folder) == said
    with pytest.raises(FolderError, match="/a: is not as it was written"):
        open_folder(folder, "store").read("a")
    assert open_folder(folder, "store").read("b") == b"beta" * 300


def test_no_flip_of_any_bit_of_the_manifest_goes_through(folder):
    file = folder / "manifest.json"
    whole = file.read_bytes()
    for place in range(len(whole)):
        bit = random.Random(place).randrange(8)
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        assert refused(folder).startswith(str(folder)), f"byte {place}, bit {bit}"


def test_no_truncation_goes_through(folder):
    for name in ("a", "b", "manifest.json"):
        whole = (folder / name).read_bytes()
        for size in range(len(whole)):
            (folder / name).write_bytes(whole[:size])
            assert f"{folder}/{name}: " in refused(folder)
        (folder / name).write_bytes(whole)
    open_folder(folder, "store").verify()


def test_a_file_that_grew_is_named_with_both_sizes(folder):
    (folder / "b").write_bytes(b"beta" * 301)
    assert "b: is not as it was written: expected 1,200 bytes, found 1,204" in refused(folder)


def test_a_missing_file_is_named(folder):
    (folder / "empty").unlink()
    assert refused(folder) == f"{folder}/empty: is missing, but the manifest lists it"


def test_a_file_too_many_is_named(folder):
    (folder / "c").touch()
    assert refused(folder) == f"{folder}/c: lies here, but the manifest does not list it"


def test_hidden_files_of_systems_and_tools_do_not_matter(folder):
    (folder / ".DS_Store").touch()
    open_folder(folder, "store").verify()


def test_a_file_that_the_manifest_does_not_list_is_not_read(folder):
    with pytest.raises(FolderError, match="has no c"):
        open_folder(folder, "store").read("c")


def test_a_file_over_the_callers_limit_is_not_read(folder):
    with pytest.raises(FolderError, match="has 1,200 bytes, over 1,000"):
        open_folder(folder, "store").read("b", 1_000)


def test_a_link_a_pipe_and_a_folder_are_no_files(folder):
    for name, said, make in (
        (
            "link",
            "is a link, and links are not followed here",
            lambda path: path.symlink_to(folder.parent / "secret"),
        ),
        ("pipe", "is no regular file", os.mkfifo),
        ("folder", "cannot be read: ", lambda path: path.mkdir()),
    ):
        (folder.parent / "secret").write_bytes(bytes(range(256)))
        (folder / "a").rename(folder.parent / "away")
        make(folder / "a")
        assert f"{folder}/a: {said}" in refused(folder), name
        (folder / "a").rename(folder.parent / name)
        (folder.parent / "away").rename(folder / "a")
    open_folder(folder, "store").verify()


def test_a_folder_without_manifest_is_no_folder_of_ours(folder):
    (folder / "manifest.json").unlink()
    assert refused(folder) == f"{folder}: is no store folder: it has no manifest.json"
    assert refused(folder / "no") == f"{folder}/no: does not exist"
    assert refused(folder / "a") == f"{folder}/a: is no folder"


def test_a_folder_of_another_kind_is_reported(folder):
    with pytest.raises(FolderError, match="is no model folder, but one of kind 'store'"):
        open_folder(folder, "model")


def test_a_newer_format_says_which_version_can_read_it(folder):
    with_manifest(folder, lambda values: values.update(format=FORMAT + 1))
    with pytest.raises(FolderError) as error:
        open_folder(folder, "store")
    assert (
        f"has format {FORMAT + 1}, and this version reads format {FORMAT} at most"
        in error.value.fact
    )
    assert error.value.hint == "install a newer transduce"


@pytest.mark.parametrize("written", [None, "1", 0, True, 1.0])
def test_a_manifest_without_format_is_refused(folder, written):
    with_manifest(folder, lambda values: values.update(format=written))
    assert refused(folder) == f"{folder}/manifest.json: names no format"


ENTRY = {"size": 0, "sha256": hashlib.sha256().hexdigest()}


@pytest.mark.parametrize(
    "files",
    [
        None,
        [],
        {"../a": ENTRY},
        {"/etc/passwd": ENTRY},
        {".hidden": ENTRY},
        {"manifest.json": ENTRY},
        {"a": {**ENTRY, "size": -1}},
        {"a": {**ENTRY, "size": True}},
        {"a": {**ENTRY, "size": 1.0}},
        {"a": {**ENTRY, "sha256": "A" * 64}},
        {"a": {**ENTRY, "sha256": "a" * 63}},
        {"a": {**ENTRY, "more": 1}},
        {"a": {}},
        {"a": 1},
    ],
)
def test_a_manifest_of_a_stranger_leads_nowhere(folder, files):
    with_manifest(folder, lambda values: values.update(files=files))
    assert refused(folder).startswith(f"{folder}/manifest.json: ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"format": 1, "format": 1}', "key 'format' stands twice"),
        ('{"format": NaN}', "NaN is no number"),
        ('{"format": -Infinity}', "-Infinity is no number"),
        ('{"format": 1e999}', "a number is too large"),
        ('{"format": ' + "9" * 5_000 + "}", "is no JSON that can be used"),
        ('{"format": ' + "[" * 30 + "]" * 30 + "}", "nested too deep"),
        ('{"format": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
        ("[1]", "is no JSON object"),
        ("", "is no JSON that can be used"),
        ('{"format": 1, "word": "\\ud800"}', r"used: '\ud800' has half of a character"),
        ('{"format": 1, "\\udc00": 1}', "is no JSON that can be used"),
        ("x" * (1 << 21), "has more than 1,048,576 bytes"),
    ],
)
def test_json_that_could_mean_two_things_is_refused(folder, text, reason):
    (folder / "manifest.json").write_text(text, encoding="ascii")
    assert reason in refused(folder)


def test_bytes_that_are_no_text_are_refused(folder):
    (folder / "manifest.json").write_bytes(b"\xff\xfe{}")
    assert "is no JSON that can be used" in refused(folder)


def sparse_file(path, size, parts=(), length=1):
    """A file with data at some places and holes elsewhere."""
    with path.open("wb") as file:
        file.truncate(size)
        for part in parts:
            file.seek(part)
            file.write(b"x" * length)
    return path


def count_no_blocks(monkeypatch):
    """Make the file system one that says of every file that it takes no room."""
    look = os.fstat

    def stand_in(descriptor):
        found = look(descriptor)
        return os.stat_result(found[:10], {"st_blocks": 0})

    monkeypatch.setattr(os, "fstat", stand_in)


def nearly_empty(path):
    with path.open("rb") as file:
        file.seek(3)
        found = is_nearly_empty(file.fileno())
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 3
    return found


@pytest.mark.parametrize("if_in_doubt", [True, False])
def test_a_file_of_holes_is_nearly_empty_and_one_of_bytes_is_not(
    tmp_path, monkeypatch, if_in_doubt
):
    if not if_in_doubt:
        count_no_blocks(monkeypatch)
    assert nearly_empty(sparse_file(tmp_path / "holes", 5 << 30))
    assert nearly_empty(sparse_file(tmp_path / "parts", 5 << 30, range(0, 5 << 30, 1 << 29)))
    assert not nearly_empty(sparse_file(tmp_path / "small", 4 << 30))
    monkeypatch.setattr("transduce.durable.folder.SPARSE_LIMIT", 1 << 20)
    assert not nearly_empty(sparse_file(tmp_path / "bytes", 1 << 21, [0], 1 << 21))
    assert not nearly_empty(sparse_file(tmp_path / "half", 1 << 24, [1 << 23], 1 << 23))


def test_a_file_of_too_many_parts_is_nearly_empty_if_its_blocks_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("transduce.durable.folder.MOST_EXTENTS", 3)
    path = sparse_file(tmp_path / "parts", 5 << 30, range(0, 5 << 30, 1 << 29))
    assert nearly_empty(path)
    count_no_blocks(monkeypatch)
    assert not nearly_empty(path)


def test_a_sound_file_is_read_where_the_file_system_counts_no_blocks(folder, monkeypatch):
    count_no_blocks(monkeypatch)
    monkeypatch.setattr("transduce.durable.folder.SPARSE_LIMIT", 0)
    assert open_folder(folder, "store").read("b") == b"beta" * 300
