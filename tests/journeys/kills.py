"""`transduce train`, killed with SIGKILL again and again; where each kill landed is recorded."""

import collections
import hashlib
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path

from tests.journeys.commands import COLD, tiny

from transduce.checkpoint.steps import is_intact, list_steps

STEPS = 40
LIVES = 20  # of a run, which is then left in peace
OFTEN = {"training__checkpoint_minutes": 0.0001, "training__snapshot_every": 4}  # a save every step
PREPARED = "train", *tiny(steps=STEPS, **OFTEN), "--dev-source", "d.en", "--dev-target", "d.de"
COMMAND = (*PREPARED, "--set", "training.validate_every=15")


def final_bits(run: Path) -> str:
    """One hash of the last weights and moments."""
    folder = run / "checkpoints" / f"step-{STEPS:08d}"
    files = (folder / "model.safetensors", folder / "moments.safetensors")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def landed(run: Path, before: Collection[Path] = ()) -> str:
    """What the killed process was doing, by what it left and an earlier one had not left."""
    if not (run / "run.json").exists():
        return "preparing"
    left = set(run.rglob(".*")).difference(before)
    if any(path.name.startswith(".trash") for path in left):
        return "deleting"
    if left:
        return "writing"
    return "between writes" if list_steps(run / "checkpoints") else "before the first save"


def half_written(run: Path) -> list[Path]:
    """Final names under which not every byte is as it was written."""
    return [
        run / name / f"step-{step:08d}"
        for name in ("checkpoints", "snapshots")
        for step in list_steps(run / name)
        if not is_intact(run / name, step)
    ]


def life(workspace, run, draws, longest):
    """One start of the command, killed at some moment unless it ends before."""
    if not (workspace.folder / run).exists():
        with workspace.start(*COMMAND, "-o", run) as process:
            while process.poll() is None and not (workspace.folder / run).exists():
                time.sleep(0.001)  # however long it takes to begin
            time.sleep(draws.uniform(0, longest))  # it prepares its corpus
            process.kill()
            process.communicate()
            return process.returncode
    loading = draws.random() >= 0.9  # most of its life: kill it there only now and then
    with workspace.start(*COMMAND, "-o", run, python=COLD if loading else ()) as process:
        if not loading:
            while process.poll() is None and b" of run" not in (said := process.stderr.readline()):
                if b" parameters = " in said or not said:
                    break
        if draws.random() < 0.5:  # the others land where the time goes
            stop_while_writing(process, workspace.folder / run, draws)
        else:
            if draws.random() < 0.8:  # or it would hardly come beyond its first save
                wait_for_a_save(process, workspace.folder / run)
            time.sleep(draws.uniform(0, longest))
        process.kill()
        process.communicate()
        return process.returncode


def stop_while_writing(process, run: Path, draws) -> None:
    """Stop it while something is made or deleted that was not when we came, at any moment of that.

    On a busy machine what we saw may be done before we can stop it: then we wait for the next.
    """
    before = hidden(run)
    while process.poll() is None:
        while process.poll() is None and not hidden(run) - before:
            pass
        time.sleep(draws.uniform(0, 0.005))
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.01)  # until it stands still
        if hidden(run) - before:
            return
        process.send_signal(signal.SIGCONT)


def wait_for_a_save(process, run: Path) -> None:
    """Until the run has one, which it may have had when we came."""
    while process.poll() is None and not list_steps(run / "checkpoints"):
        time.sleep(0.001)


def hidden(run: Path) -> set[str]:
    """What is not yet, or no longer, under its final name."""
    folders = (run / name for name in ("checkpoints", "snapshots"))
    names = [name for folder in folders if folder.is_dir() for name in os.listdir(folder)]  # noqa: PTH208 - as fast as can be
    return {name for name in names if name.startswith(".")}


def kill_often(
    workspace, times: int, seed: int, longest: float = 0.25
) -> "collections.Counter[str]":
    """So many kills, over as many runs as they need; every run must end in the same bits."""
    draws = random.Random(seed)
    sys.stdout.write(f"seed {seed}\n")
    workspace.good(*COMMAND, "-o", "straight", "--quiet")
    expected = final_bits(workspace.folder / "straight")
    where: collections.Counter[str] = collections.Counter()
    run = workspace.folder / "run"
    while where.total() < times:
        shutil.rmtree(run, ignore_errors=True)
        for _ in range(min(LIVES, times - where.total())):
            before = set(run.rglob(".*"))
            code = life(workspace, "run", draws, longest)
            assert half_written(run) == []
            if code == 0:
                break
            assert code == -9, "it stumbled over what an earlier kill left"
            where[landed(run, before)] += 1
        workspace.good(*COMMAND, "-o", "run", "--quiet")
        assert final_bits(run) == expected, f"after {dict(where)}"
        assert list(run.rglob(".*")) == [], "nothing is left to clean by hand"
    sys.stdout.write(f"killed while {dict(where)}\n")
    return where
