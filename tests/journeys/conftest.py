"""The real command line in processes of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.language import write_corpus
from tests.forked import Forked
from tests.journeys.commands import tiny

ONE_THREAD = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}


@dataclass(frozen=True)
class Workspace:
    """A folder in which commands are typed."""

    folder: Path

    def start(
        self, *arguments: object, python: Sequence[str] = (), **options: Any
    ) -> "subprocess.Popen[bytes] | Forked":
        """`transduce` with these arguments; standard streams are pipes unless said otherwise.

        It begins where its imports end; with `python`, such as commands.COLD, as a user's does.
        """
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        around: dict[str, Any] = {"cwd": self.folder, "env": os.environ | ONE_THREAD}
        around |= pipes | options
        typed = [str(argument) for argument in arguments]
        if python:
            return subprocess.Popen([sys.executable, *python, *typed], **around)
        return Forked(typed, **around)

    def run(self, *arguments: object, stdin: bytes = b"", **options) -> tuple[int, str, str]:
        """The exit code, and what was said on standard output and standard error."""
        with self.start(*arguments, **options) as process:
            stdout, stderr = process.communicate(stdin)
        return process.returncode, (stdout or b"").decode(), (stderr or b"").decode()

    def good(self, *arguments: object, stdin: bytes = b"") -> str:
        """Standard output of a command that must end well."""
        code, stdout, stderr = self.run(*arguments, stdin=stdin)
        assert code == 0, stderr
        return stdout

    def names(self, at: str = ".") -> set[str]:
        """What lies in a folder, hidden names too."""
        return {path.name for path in (self.folder / at).iterdir()}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A folder with a.en, a.de, d.en and d.de."""
    return Workspace(write_corpus(tmp_path))


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The same with a finished run `run` and its model `m`, for tests that change neither."""
    here = Workspace(write_corpus(tmp_path_factory.mktemp("settled")))
    here.good("train", *tiny(), "-o", "run")
    here.good("average", "run", "-o", "m")
    return here


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """The folder `disk`, a file system of 5 MB, which only root can mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this system lets us mount no small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)
