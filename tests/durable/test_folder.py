"""One folder is whole or absent, and verified when it is read."""

import pytest

from transduce.durable import open_folder, remove_folder, whole_folder
from transduce.errors import FolderError, InputError


@pytest.fixture
def folder(tmp_path):
    with whole_folder(tmp_path / "f", kind="store", about={"step": 3}) as writer:
        writer.write("a", b"alpha")
        with writer.open("b") as stream:
            stream.write(b"be")
            stream.write(b"ta")
    return tmp_path / "f"


def test_what_was_written_is_read(folder):
    found = open_folder(folder, "store")
    assert found.about == {"step": 3}
    assert (found.read("a"), found.read("b")) == (b"alpha", b"beta")
    assert found.path("b") == folder / "b"
    found.check()


def test_a_folder_that_exists_is_not_written_over(folder):
    with (
        pytest.raises(InputError, match="exists already"),
        whole_folder(folder, kind="store", about={}),
    ):
        pytest.fail("nothing is written")


def test_an_edited_file_is_named_with_both_sums(folder):
    (folder / "a").write_bytes(b"aleph")
    with pytest.raises(
        FolderError, match=r"/a: .*expected sha256 [0-9a-f]{64}, found [0-9a-f]{64}"
    ):
        open_folder(folder, "store").read("a")
    with pytest.raises(FolderError, match="/a: "):
        open_folder(folder, "store").check()


def test_a_removed_folder_leaves_nothing(folder):
    remove_folder(folder)
    assert list(folder.parent.iterdir()) == []
