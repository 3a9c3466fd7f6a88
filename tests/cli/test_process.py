"""Switches of the whole process, as the commands set them."""

import os
import signal
import subprocess
import sys

import pytest

from transduce.cli import signals
from transduce.errors import InputError
from transduce.machine.process_settings import KERNEL_CACHES, KERNELS, SPINS, TRAINING_SPINS

POLICY, SPIN_COUNT = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"
TRAIN = ("train", "table3/base", "--store", "corpus", "-o", "run")

CALLBACK = """
import ctypes, os, sys, time
import click
from transduce.cli import main, verify
number, swallowing = int(sys.argv.pop()), sys.argv.pop()
class Finalised:
    def __del__(self): send()
def send(): os.kill(os.getpid(), number); time.sleep(0)
@click.command
def command():
    ctypes.CFUNCTYPE(None)(send)() if swallowing == "callback" else Finalised()
    time.sleep(60)
verify.command = command
sys.argv = ["transduce", "verify"]
main.main()
"""


@pytest.mark.parametrize("swallowing", ["callback", "finaliser"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_that_code_in_c_swallows_ends_a_command_all_the_same(swallowing, number, code):
    program = [sys.executable, "-c", CALLBACK, swallowing, str(int(number))]
    ended = subprocess.run(program, capture_output=True, text=True, check=False, timeout=50)
    assert (ended.returncode, ended.stderr.count("error: ")) == (code, 1)
    assert "Traceback" not in ended.stderr


@pytest.fixture
def at_import(monkeypatch):
    """What the policy of waiting is when a command is about to load torch, which ends it here."""
    heard = []

    def loading() -> None:
        heard.append((os.environ.get(POLICY), os.environ.get(SPIN_COUNT)))
        raise InputError("torch would be loaded now", "nothing")

    monkeypatch.setattr(signals, "ignore_checkpoint_signal", loading)
    monkeypatch.delenv(POLICY, raising=False)
    for name in (SPIN_COUNT, *KERNEL_CACHES):
        monkeypatch.delenv(name, raising=False)
    return heard


@pytest.mark.parametrize(
    "command",
    [
        TRAIN,
        ("demo", "demo"),
        ("sweep", "--vary=training.seed=1", "-o", "s"),
        ("distil", "-o", "d"),
        ("reproduce", "table2", "-o", "t"),
        ("reproduce", "table3", "-o", "t"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_threads_of_training_wait_asleep_from_before_torch_is_loaded(
    call, tmp_path, monkeypatch, at_import, command
):
    monkeypatch.chdir(tmp_path)
    assert "torch would be loaded now" in call(*command).stderr
    assert at_import == [("PASSIVE", str(TRAINING_SPINS))]
    assert {os.environ[name] for name in KERNEL_CACHES} == {str(KERNELS)}


def test_what_the_user_says_of_waiting_stands(call, tmp_path, monkeypatch, at_import):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(POLICY, "ACTIVE")
    call(*TRAIN)
    assert at_import == [("ACTIVE", None)]


@pytest.mark.parametrize("command", ["translate", "likelihood", "evaluate"])
@pytest.mark.parametrize(
    ("policy", "spins", "expected"),
    [
        (None, None, ("PASSIVE", str(SPINS))),
        (None, "7", ("PASSIVE", "7")),
        ("PASSIVE", None, ("PASSIVE", None)),
        ("Active", None, ("Active", None)),
    ],
)
def test_threads_wait_busily_for_a_while_and_then_sleep_unless_the_user_chose(
    call, tmp_path, monkeypatch, command, policy, spins, expected
):
    """From before the models, and with them torch, are loaded."""
    found = []

    def load(_):
        found.append((os.environ.get(POLICY), os.environ.get(SPIN_COUNT)))
        raise InputError("models would be loaded now", "nothing")

    monkeypatch.setattr("transduce.cli.searching.TranslatorChoice.load", load)
    for name, value in ((POLICY, policy), (SPIN_COUNT, spins)):
        monkeypatch.setenv(name, "")  # so that what the command sets does not outlive the test
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    (tmp_path / "a").write_text("a dog\n")
    files = [tmp_path / "a"] * (1 if command == "translate" else 2)
    assert "models would be loaded now" in call(command, tmp_path, *files).stderr
    assert found == [expected]
