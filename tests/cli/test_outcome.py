"""How the command line ends: one sentence, one hint, the right exit code."""

import errno
import importlib
import inspect
import os
import pty
import signal
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import click
import pytest

from transduce import errors
from transduce.cli import display
from transduce.durable.files import raise_save_errors
from transduce.errors import TransduceError

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, TransduceError)
]


def failing(error: BaseException) -> click.Command:
    """A command that ends so."""

    @click.command()
    def command() -> None:
        raise error

    return command


class Held:
    """Something large."""


def test_what_a_command_holds_is_freed_before_it_says_that_memory_ran_out(call, monkeypatch):
    held: list[weakref.ref[Held]] = []
    alive: list[bool] = []

    @click.command()
    def command() -> None:
        large = Held()
        held.append(weakref.ref(large))
        raise MemoryError

    monkeypatch.setattr(display, "print_error", lambda *_: alive.append(held[0]() is not None))
    assert call(command=command).code == 8
    assert alive == [False]


@pytest.mark.parametrize("kind", KINDS)
def test_our_errors_are_two_lines_and_their_own_exit_code(call, kind):
    ended = call(command=failing(kind("the disk is gone", "buy one", file="a.txt", line=3)))
    assert ended.code == kind.exit_code
    assert ended.stdout == ""
    assert ended.stderr == "error: a.txt, line 3: the disk is gone\nhint: buy one\n"


def test_exit_codes_are_those_of_the_design():
    codes = {kind.__name__: kind.exit_code for kind in KINDS}
    assert codes == {
        "TransduceError": 2,
        "InputError": 2,
        "FolderError": 3,
        "SaveError": 4,
        "NotFiniteError": 5,
        "InUseError": 6,
        "LostProcessError": 7,
        "NotEnoughMemoryError": 8,
    }


def test_the_help_says_that_weights_may_overflow_without_a_training(call):
    said = " ".join(call("--help").stdout.split())
    assert (
        "5 numbers that are not finite (training diverged, or a model's weights overflow)," in said
    )


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    ],
)
def test_memory_that_ran_out_is_a_sentence_with_what_to_try(call, error):
    ended = call(command=failing(error))
    assert (ended.code, ended.stdout) == (8, "")
    assert ended.stderr.startswith("error: there is not enough memory\nhint: try smaller updates")


@pytest.mark.parametrize(
    ("line", "code", "stdout", "stderr"),
    [
        ("recipes show tiny >&-", 4, "", "error: standard output is closed\nhint: leave it open"),
        ("score - /dev/null <&-", 2, "", "error: standard input is closed\nhint: leave it open"),
        ("recipes show nothing 2>&-", 2, "", ""),
        ("recipes show nothing >&- 2>&- <&-", 2, "", ""),
    ],
)
def test_closed_standard_streams_are_no_fault_of_ours(line, code, stdout, stderr):
    command = f"{sys.executable} -m transduce {line}"
    done = subprocess.run(command, shell=True, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (code, stdout)
    assert done.stderr.startswith(stderr)


def test_an_error_without_a_hint_is_one_line(call):
    assert call(command=failing(TransduceError("no"))).stderr == "error: no\n"


def test_text_from_outside_cannot_act_on_the_terminal(call):
    ended = call(command=failing(TransduceError("bad file \x1b[2J\u202egnp.exe\udcff")))
    assert ended.stderr == "error: bad file \\x1b[2J\\u202egnp.exe\\udcff\n"


def test_our_own_faults_keep_their_traceback_and_say_what_to_do(call):
    ended = call(command=failing(ZeroDivisionError("by nought")))
    assert ended.code == 1
    assert "Traceback (most recent call last)" in ended.stderr
    assert ended.stderr.endswith(
        "ZeroDivisionError: by nought\n"
        "error: this is a fault of transduce\nhint: please report it with the lines above\n"
    )


INTERRUPTED = "error: interrupted before it was done\n"
TERMINATED = "error: terminated before it was done\n"
SPENT = "error: the limit of processor time was reached before it was done\n"
HINT = "hint: the same command goes on from what it has saved, or starts again\n"


def test_another_package_that_does_not_load_is_named(call, tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise ImportError('built for numpy 1')")
    monkeypatch.syspath_prepend(tmp_path)

    @click.command()
    def command() -> None:
        importlib.import_module("broken_package")

    ended = call(command=command)
    assert (ended.code, ended.stderr) == (
        2,
        "error: broken_package cannot be loaded: 'built for numpy 1'\n"
        "hint: look at PYTHONPATH, or install broken_package again\n",
    )


def test_an_interrupt_is_reported_in_a_sentence(call):
    ended = call(command=failing(KeyboardInterrupt()))
    assert (ended.code, ended.stdout) == (130, "")
    assert ended.stderr == f"{INTERRUPTED}{HINT}"


def test_a_full_disk_is_no_fault_of_ours(call):
    ended = call(command=failing(OSError(errno.ENOSPC, "No space left on device")))
    assert ended.code == 4
    assert ended.stderr == (
        "error: cannot write: No space left on device\n"
        "hint: free some disk space and repeat the command\n"
    )


def test_a_long_path_is_cut(call):
    error = OSError(errno.ENAMETOOLONG, "File name too long", "a" * 4_000 + "z")
    ended = call(command=failing(error))
    assert len(ended.stderr) < 1_000
    assert "az: file name too long\nhint: check the path" in ended.stderr


def test_a_limit_on_files_is_named_where_results_meet_it(call):
    ended = call(command=failing(OSError(errno.EFBIG, "File too large")))
    assert (ended.code, "look at `ulimit -f`" in ended.stderr) == (4, True)


def test_too_many_open_files_have_one_exit_code(call, tmp_path):
    def write():
        with raise_save_errors(tmp_path):
            raise OSError(errno.EMFILE, "Too many open files")

    ended = call(command=click.Command("write", callback=write))
    assert (ended.code, "raise the limit (`ulimit -n`)" in ended.stderr) == (8, True)


def test_a_path_that_cannot_be_reached_is_no_fault_of_ours(call):
    name = "n" * 300
    ended = call("translate", name)
    assert (ended.code, ended.stdout) == (2, "")
    assert "… cannot be reached: file name too long\nhint: check the path" in ended.stderr
    assert call(command=failing(PermissionError(errno.EACCES, "no", "shut/x"))).stderr == (
        "error: shut/x: permission denied\nhint: check the path and its permissions\n"
    )


def test_a_broken_pipe_that_is_not_ours_to_a_reader_is_a_fault(call):
    assert call(command=failing(BrokenPipeError(errno.EPIPE, "a worker"))).code == 1


def started(*arguments: str, **options) -> Any:  # a process, whose pipes are there
    environment = os.environ | options.pop("env", {})
    environment.pop("PYTHONUNBUFFERED", None)  # so that results wait in a buffer, as for most users
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        text=True,
        encoding="utf-8",
        **options,
    )


WAITING = """
import time, click
from transduce.cli import main
@click.command()
def wait():
    print("ready", flush=True)
    time.sleep(60)
main.transduce = wait
main.main()
"""

# Tests may run under nohup, where SIGHUP is ignored from the start.
LISTENING = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"


SIGNALS = [(signal.SIGINT, 130, INTERRUPTED), (signal.SIGXCPU, 152, SPENT)] + [
    (number, 128 + number, TERMINATED) for number in (signal.SIGTERM, signal.SIGHUP)
]


@pytest.mark.parametrize(("number", "code", "fact"), SIGNALS)
def test_a_signal_ends_a_command_with_a_sentence(number, code, fact):
    with started("-c", LISTENING + WAITING) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.communicate() == ("", f"{fact}{HINT}")
    assert process.returncode == code


SWALLOWING = """
import os, signal
try:
    os.kill(os.getpid(), signal.{name})
except BaseException:
    pass
"""


@pytest.mark.parametrize(("number", "code", "fact"), SIGNALS)
def test_a_signal_that_torch_swallows_at_its_import_ends_a_command(tmp_path, number, code, fact):
    (tmp_path / "torch.py").write_text(SWALLOWING.format(name=number.name))
    main = f"{LISTENING}from transduce.cli.main import main; main()"
    with started("-c", main, "translate", "m", env={"PYTHONPATH": str(tmp_path)}) as process:
        assert process.communicate() == ("", f"{fact}{HINT}")
    assert process.returncode == code


@pytest.mark.parametrize(("number", "code", "_fact"), SIGNALS)
def test_a_signal_that_comes_while_the_command_line_is_loaded_ends_it(
    tmp_path, number, code, _fact
):
    (tmp_path / "click.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    main = f"{LISTENING}from transduce.__main__ import start; start()"
    with started("-c", main, "recipes", env={"PYTHONPATH": str(tmp_path)}) as process:
        stdout, stderr = process.communicate()
    assert (stdout, process.returncode) == ("", code)
    assert stderr.startswith("error: ended by a signal while it was loading\nhint: the same com")


def test_ctrl_c_in_text_that_python_executes_ends_a_command_with_its_exit_code(tmp_path):
    raising = WAITING.replace("time.sleep(60)", "exec('import signal; signal.raise_signal(2)')")
    (tmp_path / "raising.py").write_text(raising)
    with started("-m", "raising", env={"PYTHONPATH": str(tmp_path)}) as process:
        assert process.communicate() == ("ready\n", f"{INTERRUPTED}{HINT}")
    assert process.returncode == 130


def test_under_nohup_a_closed_terminal_ends_nothing():
    ignoring = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    with started("-c", ignoring + WAITING) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.communicate() == ("", f"{TERMINATED}{HINT}")
    assert process.returncode == 143


def test_a_terminal_that_is_gone_is_not_written_to():
    control, terminal = pty.openpty()
    with started("-c", LISTENING + WAITING, stderr=terminal) as process:
        os.close(terminal)
        assert process.stdout.readline() == "ready\n"
        os.close(control)  # the terminal hangs up
        process.send_signal(signal.SIGHUP)
        process.communicate()
    assert process.returncode == 129


def test_a_reader_that_leaves_ends_a_command_quietly():
    with started("-m", "transduce", "recipes") as process:
        process.stdout.close()
        assert "rror" not in process.stderr.read()
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_result_on_a_full_disk_is_reported():
    with (
        Path("/dev/full").open("wb") as full,
        started("-m", "transduce", "recipes", "show", "tiny", stdout=full) as process,
    ):
        stderr = process.stderr.read()
    assert process.returncode == 4
    assert stderr.startswith("error: cannot write: No space left on device\nhint: ")
    assert stderr.count("\n") == 2


def test_results_are_utf_8_whatever_the_locale_says(tmp_path):
    (tmp_path / "mine.toml").write_text('name = "größer"\n', encoding="utf-8")
    environment = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    arguments = ("-m", "transduce", "recipes", "show", "mine.toml")
    with started(*arguments, cwd=tmp_path, env=environment) as process:
        assert process.stdout.readline().startswith("größer: table3/base, changed by")
        process.communicate()
    assert process.returncode == 0


def test_the_shell_completes_commands_and_recipes():
    environment = {
        "_TRANSDUCE_COMPLETE": "bash_complete",
        "COMP_WORDS": "transduce recipes show toy-",
        "COMP_CWORD": "3",
    }
    with started("-m", "transduce", env=environment) as process:
        answer = process.stdout.read()
        process.communicate()
    assert "plain,toy-copy\nplain,toy-reverse\nplain,toy-sort\n" in answer
    assert process.returncode == 0
