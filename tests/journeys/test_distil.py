"""SIGKILL in every stage of a distillation, twice: the same command ends in the same bytes."""

import random
import time

import pytest

from transduce.distillation import STAGES

pytestmark = pytest.mark.slow
KILLS = 2  # in each stage
LONGEST = dict.fromkeys(STAGES, 0.3) | {"pairs": 0.01}  # seconds of a stage before a kill
SETTINGS = {"training.steps": 20, "training.threads": 1, "training.checkpoint_minutes": 0.0001}
COMMAND = (
    *("distil", "m", "--source=a.en", "--dev-source=d.en", "--dev-target=d.de", "--student=tiny"),
    *(f"--set={name}={value}" for name, value in SETTINGS.items()),
)
RESULTS = ("text/*", "shards/*/*", "pairs/*", "model/model.safetensors", "run/checkpoints/*/m*s")


def results(folder):
    """What a distillation gives, but for the page with its times."""
    files = sorted(path for one in RESULTS for path in folder.glob(one))
    return {f"{path.relative_to(folder)}": path.read_bytes() for path in files}


def kill_in(workspace, stage, draws):
    """Start the command and kill it once a stage has begun; return its exit code."""
    before = [workspace.folder / "killed" / name for name in STAGES[: STAGES.index(stage)]]
    with workspace.start(*COMMAND, "-o", "killed") as process:
        while process.poll() is None and not all(map(is_complete, before)):
            time.sleep(0.001)
        time.sleep(draws.uniform(0, LONGEST[stage]))
        process.kill()
        process.communicate()
        return process.returncode


def is_complete(stage):
    """Whether a stage has its result; the folders of shards and of a run are there before."""
    done = {"shards": "shard-1-of-1", "run": "checkpoints/step-00000020"}.get(stage.name, "")
    return (stage / done).exists()


def test_a_distillation_that_is_killed_twice_in_every_stage_ends_in_the_same_bytes(settled, record):
    draws, landed = random.Random(1), dict.fromkeys(STAGES, 0)
    settled.good(*COMMAND, "-o", "straight")
    expected = results(settled.folder / "straight")
    for stage in STAGES:
        for _ in range(KILLS):
            code = kill_in(settled, stage, draws)
            assert code in (0, -9)
            landed[stage] += not is_complete(settled.folder / "killed" / stage)
    settled.good(*COMMAND, "-o", "killed")
    record(kills=KILLS * len(STAGES), landed_in=landed)
    assert results(settled.folder / "killed") == expected
    assert sum(map(bool, landed.values())) >= 5, "a stage of milliseconds may end before its kill"
    assert not list((settled.folder / "killed").rglob(".*"))
