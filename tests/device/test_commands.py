"""The command line on the GPU at hand: a killed run goes on, an error of the device ends it."""

import json
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.device
SETTINGS = {
    "training.steps": 400,
    "training.warmup": 20,
    "training.validate_every": 30,
    "training.snapshot_every": 30,
    "training.checkpoint_minutes": 0.01,
    "data.vocabulary_size": 300,
}
DEVICE_FAULT = """
import click, torch
from transduce.cli.outcome import run

@click.command()
def command():
    torch.zeros(3, device="cuda")[torch.tensor([5], device="cuda")].cpu()

raise SystemExit(run(command, []))
"""


def transduce(*words):
    command = [sys.executable, "-m", "transduce", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out


def read_updates(run):
    """Return what the log of a run says of each update."""
    log = (run / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return [one for one in map(json.loads, log) if one["event"] == "update"]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_run_that_is_killed_goes_on_and_translates(tmp_path, precision):
    words = ["dog", "cat", "house", "tree", "bird", "car"]
    lines = [f"the {a} sees a {b} {c}" for a in words for b in words for c in words]
    (tmp_path / "a.en").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "a.de").write_text("\n".join(lines).upper() + "\n", encoding="utf-8")
    files = ["--source", tmp_path / "a.en", "--target", tmp_path / "a.de", "-o", tmp_path / "run"]
    changes = [x for k, v in SETTINGS.items() for x in ("--set", f"{k}={v}")]
    train = ["train", *files, *changes, "--set", f"training.precision={precision}"]
    killed = transduce(*train)
    while killed.poll() is None and not list(tmp_path.glob("run/checkpoints/*")):
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    finish(transduce(*train))
    assert read_updates(tmp_path / "run")[-1]["step"] == SETTINGS["training.steps"]
    assert '"event": "resume"' in (tmp_path / "run/log.jsonl").read_text(encoding="utf-8")
    finish(transduce("average", tmp_path / "run", "-o", tmp_path / "model"))
    found = finish(transduce("translate", tmp_path / "model", tmp_path / "a.en"))
    assert len(found.splitlines()) == len(lines)


def test_losses_of_compiled_layers_are_those_of_plain_ones(tmp_path):
    """In processes of their own: the compiler cannot read the tests' checks of types."""
    found = []
    for compiled in ("false", "true"):
        run = tmp_path / compiled
        changes = ("training.precision=bfloat16", f"training.compile={compiled}")
        finish(transduce("train", "tiny", "-o", run, *(x for c in changes for x in ("--set", c))))
        found.append([one["loss"] for one in read_updates(run)])
    assert found[1] == pytest.approx(found[0], rel=0.01)


def test_an_error_of_the_device_ends_a_command_with_words():
    done = subprocess.run([sys.executable, "-c", DEVICE_FAULT], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"this is a fault of transduce" in done.stderr
