"""`transduce read` as a user calls it."""

import os
import subprocess
import sys

import pytest


def test_the_command_wants_a_page(call):
    assert "-o edition.html" in call("read").stderr
    assert call("read", "-o", "a.txt").code == 2


@pytest.mark.slow
def test_nothing_is_left_in_the_folder_of_temporary_files(tmp_path):
    (tmp_path / "t").mkdir()
    command = ("-m", "transduce", "read", "-o", "a.html")
    environment = {**os.environ, "TMPDIR": str(tmp_path / "t")}
    subprocess.run((sys.executable, *command), cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "a.html").exists()
    assert not list((tmp_path / "t").iterdir())
