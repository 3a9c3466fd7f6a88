"""Memory, open files and threads that run out under real limits (row T14)."""

import functools
import importlib
import os
import resource
import shutil
from pathlib import Path

import pytest
from tests.journeys.commands import tiny

pytestmark = pytest.mark.slow
MB = 1 << 20
# what commands import late, and another user may not read where Python is installed
IMPORTED_IN_COMMANDS = (
    "transduce.cli.main",
    "multiprocessing.popen_spawn_posix",
    "rich.progress",
    "rich.live",
)
LINES = b"".join(b"a dog sees %d cats\n" % number for number in range(60))
SEARCH = ("--beam=100", "--batch-size=60", "--extra-length=1")


def limit_memory(spare):
    """Leave so many bytes of address space beyond what the process has after its imports."""
    importlib.import_module("transduce.cli.main")
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + spare
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_files(count):
    """Let the process open so many files."""
    importlib.import_module("transduce.cli.main")
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def limit_threads():
    """Be a plain user who may start no thread and no process."""
    for name in IMPORTED_IN_COMMANDS:
        importlib.import_module(name)
    os.setgid(65_534)
    os.setuid(65_534)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def assert_one_sentence(stderr, fact):
    """One error, one hint, no traceback."""
    assert "Traceback" not in stderr
    assert stderr.count("error: ") == 1
    assert fact in stderr
    assert "\nhint: " in stderr


def test_a_text_is_translated_the_same_in_little_memory(settled, record):
    expected = settled.good("translate", "m", *SEARCH, stdin=LINES)
    codes = {}
    for spare in (24, 40, 64, 512):
        code, stdout, stderr = settled.run(
            "translate",
            "m",
            *SEARCH,
            stdin=LINES,
            preexec_fn=functools.partial(limit_memory, spare * MB),
        )
        codes[f"{spare} MB"] = code
        if code == 0:
            assert stdout == expected
        else:
            assert code == 8, stderr
            assert_one_sentence(stderr, "not enough memory")
            assert expected.startswith(stdout)
    assert codes["512 MB"] == 0
    record(exit_codes=codes, wrong_or_missing_lines=0)


@pytest.mark.parametrize("spare", [2, 16])
def test_training_in_too_little_memory_ends_with_a_sentence_and_its_last_save(
    workspace, record, spare
):
    command = ("train", *tiny(steps=8), "-o", "run")
    code, _, stderr = workspace.run(
        *command, preexec_fn=functools.partial(limit_memory, spare * MB)
    )
    if code:
        assert code == 8, stderr
        assert_one_sentence(stderr, "not enough memory")
    workspace.good(*command)
    workspace.good("verify", "run")
    record(exit_code=code, lost_saves=0)


@pytest.mark.parametrize(
    "command",
    [
        ("translate", "m", "a.en"),
        ("prepare", "tiny", "--source", "a.en", "--target", "a.de", "-o", "p"),
        ("train", *tiny(steps=8), "-o", "other"),
        ("average", "run", "-o", "m2"),
        ("verify", "run"),
    ],
    ids=lambda command: command[0],
)
def test_files_that_cannot_be_opened_end_with_a_sentence(settled, record, command):
    before, codes = settled.names(), {}
    for count in (6, 10):
        code, _, stderr = settled.run(*command, preexec_fn=functools.partial(limit_files, count))
        codes[count] = code
        if code:
            assert code in (4, 8), stderr
            assert_one_sentence(stderr, "too many")
        for name in settled.names() - before:
            shutil.rmtree(settled.folder / name)
    assert codes[6]
    record(exit_codes=codes)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("option", ["--workers=2", "--threads=2", "--threads=1"])
def test_threads_that_cannot_be_started_end_with_a_sentence(settled, record, option):
    settled.folder.chmod(0o777)
    code, stdout, stderr = settled.run(
        "translate", "m", option, stdin=LINES, preexec_fn=limit_threads
    )
    assert (code, stdout) == (8, ""), stderr
    assert_one_sentence(stderr, "no more threads or processes can be started")
    assert stderr.count("\n") == 2
    record(exit_code=code)
