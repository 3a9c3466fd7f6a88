"""SIGKILL at any moment of the real command line: the same command ends in the same bits."""

import random
import time

import pytest
from tests.faults.test_refused import write_directly
from tests.journeys.kills import COMMAND, half_written, kill_often

pytestmark = pytest.mark.slow


def test_twenty_five_kills_of_training_lose_nothing(workspace, record):
    where = kill_often(workspace, times=25, seed=1)
    record(kills=25, landed_while=where, seeds=[1])
    assert where["writing"] + where["deleting"] >= 5
    assert where["writing"] + where["deleting"] + where["between writes"] >= 8


def sabotage():
    """In another process, where it is never undone."""
    write_directly(pytest.MonkeyPatch())


def test_the_control_that_writes_in_place_is_caught(workspace, record):
    caught = 0
    for trial in range(16):
        run = workspace.folder / f"run{trial}"
        with workspace.start(*COMMAND, "-o", run.name, preexec_fn=sabotage) as process:
            while not list(run.glob("checkpoints/*/model.safetensors")):
                assert process.poll() is None
            time.sleep(trial % 4 / 1000)
            process.kill()
            process.communicate()
        caught += bool(half_written(run))
        if caught:
            break
    record(half_written_after=caught)
    assert caught, "these tests would not see a half-written save"


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_preparation_is_resumed(workspace, seed):
    draws = random.Random(seed)
    command = ("prepare", "tiny", "--source", "a.en", "--target", "a.de")
    workspace.good(*command, "-o", "straight", "--quiet")
    for _ in range(4):
        with workspace.start(*command, "-o", "p") as process:
            while process.poll() is None and not (workspace.folder / "p").exists():
                time.sleep(0.001)
            time.sleep(draws.uniform(0, 0.15))
            process.kill()
            process.communicate()
    workspace.good(*command, "-o", "p")
    assert workspace.good("verify", "p") == "good  p\n"
    assert not any(name.startswith(".") for name in workspace.names("p"))
    for name in ("vocabulary.json", "train/source.ids", "train/manifest.json"):
        ours, theirs = (workspace.folder / folder / name for folder in ("p", "straight"))
        assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("seed", range(2))
def test_what_a_killed_command_was_making_is_absent_or_whole(settled, seed):
    draws = random.Random(seed)
    commands = {
        "out": ("translate", "m", "d.en", "--extra-length=1", "-o", "out"),
        "made": ("average", "run", "-o", "made"),
    }
    for name, command in commands.items():
        for _ in range(3):
            with settled.start(*command) as process:
                while process.poll() is None and not any(
                    left.endswith(f"-{name}") for left in settled.names()
                ):
                    time.sleep(0.001)
                time.sleep(draws.uniform(0, 0.1))
                process.kill()
                process.communicate()
            if (settled.folder / name).exists():
                break
        whole = (settled.folder / name).exists() or not settled.run(*command)[0]
        assert whole
        assert {left for left in settled.names() if left.startswith(".")} == set()
    assert settled.good("verify", "made") == "good  made\n"
    assert (settled.folder / "out").read_bytes().count(b"\n") == 20
    (settled.folder / "out").unlink()
    for file in (settled.folder / "made").iterdir():
        file.unlink()
    (settled.folder / "made").rmdir()
