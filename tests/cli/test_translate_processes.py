"""transduce translate as processes: one that answers line by line, and several at once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.forked import Forked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.workers,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]

MANY = "".join(f"the dog sees {number} cats.\n\na woman\n" for number in range(200)).encode()
FAST = ("--beam=1", "--extra-length=1")


def started(*arguments):
    typed, pipe = ("translate", *map(str, arguments)), subprocess.PIPE
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    return Forked(typed, cwd=Path(), env=env, stdin=pipe, stdout=pipe, stderr=pipe)


def children_of(process):
    """Of a process, those that translate; Linux only."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text("ascii").rsplit(")", 1)[1].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == process.pid and b"spawn_main" in command:
            found.append(int(folder.name))
    return found


def gone(pids):
    """Whether all of them end soon."""
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def two_at_work(process):
    """The workers, as soon as both are there."""
    deadline = time.monotonic() + 60
    while len(pids := children_of(process)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    return pids


def test_each_line_is_answered_before_the_next_is_written(call, babbler):
    block = call("translate", babbler, *FAST, stdin=b"a dog\n\nthe cat\n").stdout.encode()
    process = started(babbler, *FAST, "--line-buffered")
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    for line in (b"a dog\n", b"\n", b"the cat\n"):
        process.stdin.write(line)
        process.stdin.flush()
        answers.append(process.stdout.readline())  # waits for ever if none comes
    assert b"".join(answers) == block
    _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")


def test_two_workers_give_the_text_of_one_process(call, babbler):
    one = call("translate", babbler, *FAST, stdin=MANY)
    output, errors = started(babbler, *FAST, "--workers=2").communicate(MANY)
    assert (output.decode(), errors.decode()) == (one.stdout, one.stderr)


def test_two_workers_draw_the_samples_of_one_process(call, babbler):
    options = ("--extra-length=1", "--sample", "--seed=7")
    expected = call("translate", babbler, *options, stdin=MANY).stdout.encode()
    assert started(babbler, *options, "--workers=2").communicate(MANY)[0] == expected


def test_a_killed_worker_is_named_and_ends_the_rest(babbler):
    process = started(babbler, "--beam=4", "--extra-length=60", "--workers=2")
    assert process.stdin is not None
    process.stdin.write(MANY)
    process.stdin.flush()  # and held open: there is more to come
    victim, other = two_at_work(process)
    os.kill(victim, signal.SIGKILL)
    process.stdin.close()
    process.stdin = None
    _, errors = process.communicate()
    assert process.returncode == 7
    assert f"(process {victim}) was ended by SIGKILL\nhint: ".encode() in errors
    assert errors.startswith(b"error: worker ")
    assert gone([other])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_that_is_stopped_leaves_nobody_behind(babbler, number, code):
    process = started(babbler, "--beam=4", "--extra-length=60", "--workers=2")
    assert process.stdin is not None
    process.stdin.write(MANY)
    process.stdin.flush()
    pids = two_at_work(process)
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == code
    assert errors.count(b"\n") == 2  # the fact and the hint
    assert gone(pids)


def test_a_killed_command_leaves_nobody_behind(babbler):
    process = started(babbler, "--beam=4", "--extra-length=60", "--workers=2")
    assert process.stdin is not None
    process.stdin.write(MANY)
    process.stdin.flush()
    pids = two_at_work(process)
    process.kill()
    assert process.communicate()[1] == b""
    assert gone(pids)


def test_workers_say_what_one_process_would_say_of_a_model_that_is_not_there(tmp_path):
    output, errors = started(tmp_path / "nothing", "--workers=2").communicate(b"a dog\n")
    assert output == b""
    assert errors.decode() == (
        f"error: {tmp_path}/nothing: no such folder\nhint: name a model folder or a run\n"
    )


def test_with_several_workers_the_chosen_precision_is_said_once(babbler, tmp_path):
    (tmp_path / "lines").write_text("a dog\n" * 600)
    process = started(babbler, tmp_path / "lines", *FAST, "--workers=2", "--precision=auto")
    found, said = process.communicate(timeout=120)
    assert (process.returncode, len(found.splitlines())) == (0, 600)
    assert said.decode().count("precision auto: ") == 1
