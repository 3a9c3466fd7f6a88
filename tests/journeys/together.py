"""Several processes that train together: how they are started, and what they end in."""

import sys
import time
from pathlib import Path

import pytest
from tests.journeys.commands import tiny

MARKS = [
    pytest.mark.slow,
    pytest.mark.workers,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
PARTS = {"training__micro_batch_tokens": 600}  # two micro-batches an update
BUSY = {"training__checkpoint_minutes": 0.0001}  # it saves all the time
TWO = ("--workers", "2", "--lost-after", "20")
STEPS = 30
BY_TWO = ("train", *tiny(steps=STEPS, **PARTS, **BUSY), "--workers", "2", "-o", "run")
TORCHRUN = (
    *("-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d"),
    *("--rdzv-endpoint", "localhost:0", "-m", "transduce"),
)
ENDLESS = ("train", *tiny(steps=100_000, **PARTS), *TWO, "-o", "run")


def weights(workspace, run, step=STEPS):
    folder = workspace.folder / run / "checkpoints" / f"step-{step:08d}"
    return [(folder / f"{name}.safetensors").read_bytes() for name in ("model", "moments")]


def children(process):
    """The process numbers of those that it started, in their order."""
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def wait_for_updates(workspace, process):
    """Until the run has taken two updates since it was started."""
    log = workspace.folder / "run" / "log.jsonl"
    before = log.stat().st_size if log.exists() else 0
    while not log.exists() or log.read_bytes()[before:].count(b'"update"') < 2:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


def ended(process):
    stderr = process.communicate(timeout=200)[1].decode()
    assert "Traceback" not in stderr, stderr
    return process.returncode, stderr
