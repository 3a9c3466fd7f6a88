"""A distillation that is killed, or whose disk is full, in every stage ends in the same bytes."""

import functools
import os
import re
import shutil
import signal
import sys

import pytest
from tests.faults.test_refused import write_directly
from tests.journeys.test_limits import small_files

from transduce.distillation import STAGES

pytestmark = pytest.mark.slow
# before which changes of a stage's names it is killed; the last of a model gives it its heads
KILLS = dict.fromkeys(STAGES, (3, 5)) | {"shards": (4, 4), "run": (40, 5), "model": (5, 10)}
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


@pytest.fixture(scope="module")
def straight(settled):
    """The folder of a distillation that nothing disturbed."""
    settled.good(*COMMAND, "-o", "straight")
    return settled.folder / "straight"


def die_in(stage, change):
    """Let this process kill itself before its n-th call that makes or renames a name of a stage."""
    own, count = re.compile(rf"/killed/(\.tmp-[0-9a-f]+-)?{stage}(/|$)"), 0

    def hear(event, values):
        nonlocal count
        changes = event in ("os.mkdir", "os.rename") or (event == "open" and values[2] & os.O_CREAT)
        if changes and own.search(str(values[0])):
            count += 1
            if count == change:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


def is_complete(stage):
    """Whether a stage has its result; some folders are there before."""
    last = {"shards": "shard-1-of-1", "run": "checkpoints/step-00000020", "model": "alignment.json"}
    return (stage / last.get(stage.name, "")).exists()


def test_a_distillation_that_is_killed_twice_in_every_stage_ends_in_the_same_bytes(
    settled, straight, record
):
    killed = settled.folder / "killed"
    for stage, changes in KILLS.items():
        for change in changes:
            dying = functools.partial(die_in, stage, change)
            code, _, _ = settled.run(*COMMAND, "-o", "killed", preexec_fn=dying)
            assert (code, is_complete(killed / stage)) == (-9, False), (stage, change)
    settled.good(*COMMAND, "-o", "killed")
    assert results(killed) == results(straight)
    assert is_complete(killed / "model")
    assert not list(killed.rglob(".*"))
    record(kills=sum(map(len, KILLS.values())))


def write_under_its_name(stage):
    """Die in the middle of a stage that is written under its name from the start."""
    write_directly(pytest.MonkeyPatch())
    die_in(stage, KILLS[stage][0])


def test_the_control_that_writes_a_stage_under_its_name_is_caught(settled):
    dying = functools.partial(write_under_its_name, "text")
    assert settled.run(*COMMAND, "-o", "control/killed", preexec_fn=dying)[0] == -9
    assert is_complete(settled.folder / "control/killed/text"), "half a stage"


def fill(disk, pages):
    """Leave room for so many pages of 4,096 bytes on a disk; return the file with the rest."""
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - 4_096 * pages))
    return ballast


def test_a_disk_that_fills_up_in_every_stage_is_reported_and_loses_nothing(
    settled, straight, small_disk
):
    folder = small_disk / "d"
    for stage in STAGES:
        sizes = [path.stat().st_size for path in (straight / stage).rglob("*") if path.is_file()]
        ballast = fill(small_disk, sum(-(-size // 4_096) for size in sizes) // 2)
        code, _, stderr = settled.run(*COMMAND, "-o", folder)
        ballast.unlink()
        assert (code, stderr.count("error: "), "Traceback" in stderr) == (4, 1, False), stderr
        assert re.search(rf"^error: {folder}/{stage}.*\nhint: free some space.*\n$", stderr, re.M)
        assert not is_complete(folder / stage)
        settled.good(*COMMAND, "-o", folder, f"--until={stage}")
    assert results(folder) == results(straight)


@pytest.mark.parametrize("stage", STAGES)
def test_a_distillation_whose_files_grow_too_large_says_so_and_goes_on_later_to_the_same_bytes(
    settled, straight, stage
):
    folder = settled.folder / f"full-{stage}"
    if before := STAGES[: STAGES.index(stage)]:
        settled.good(*COMMAND, "-o", folder, f"--until={before[-1]}")
    largest = max(path.stat().st_size for path in (straight / stage).rglob("*"))
    code, _, stderr = settled.run(*COMMAND, "-o", folder, preexec_fn=small_files(largest // 2))
    assert (code, stderr.count("error: "), "Traceback" in stderr) == (4, 1, False)
    assert re.search(rf"{folder}/{stage}/\S+: cannot be written: file too large\n", stderr)
    assert re.search(rf"^error: {folder}/{stage}.*\nhint: .*\n$", stderr, re.M)
    assert not is_complete(folder / stage)
    settled.good(*COMMAND, "-o", folder)
    assert results(folder) == results(straight)
