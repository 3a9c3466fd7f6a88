"""Several processes that train together, as a user starts, disturbs and loses them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.language import write_corpus
from tests.journeys.commands import COLD, tiny
from tests.journeys.conftest import Place
from tests.processes import is_alive

from transduce.training import step

pytestmark = [
    pytest.mark.slow,
    pytest.mark.workers,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
PARTS = {"training__micro_tokens": 600}  # two micro-batches an update
BUSY = {"training__save_minutes": 0.0001}  # it saves all the time
TWO = ("--workers", "2", "--lost-after", "20")
STEPS = 30
BY_TWO = ("train", *tiny(steps=STEPS, **PARTS, **BUSY), "--workers", "2", "-o", "run")
ENDLESS = ("train", *tiny(steps=100_000, **PARTS), *TWO, "-o", "run")


def weights(place, run, step=STEPS):
    folder = place.folder / run / "checkpoints" / f"step-{step:08d}"
    return [(folder / f"{name}.safetensors").read_bytes() for name in ("model", "moments")]


def children(process):
    """The process numbers of those that it started, in their order."""
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def wait_for_updates(place, process):
    """Until the run has taken two updates since it was started."""
    log = place.folder / "run" / "log.jsonl"
    before = log.stat().st_size if log.exists() else 0
    while not log.exists() or log.read_bytes()[before:].count(b'"update"') < 2:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


def ended(process):
    stderr = process.communicate(timeout=200)[1].decode()
    assert "Traceback" not in stderr, stderr
    return process.returncode, stderr


def test_with_exact_every_number_of_processes_ends_in_the_same_bits(place):
    recipe = tiny(steps=4, **PARTS)
    place.good("train", *recipe, "-o", "one")
    for workers, python in ((2, COLD), (3, ())):
        command = ("train", *recipe, "--workers", workers, "--exact", "-o", f"by-{workers}")
        code, _, stderr = place.run(*command, python=python)
        assert code == 0, stderr
        assert weights(place, f"by-{workers}", 4) == weights(place, "one", 4)


def test_in_bfloat16_too_several_go_on_with_what_one_has_kept(place):
    def train(steps, *more):
        changes = PARTS | {"training__precision": "bfloat16"}
        place.good("train", *tiny(steps=steps, **changes), *more)

    train(4, "-o", "one")
    for steps in (2, 4):
        train(steps, "--workers", "2", "--exact", "-o", "two")
    assert weights(place, "two", 4) == weights(place, "one", 4)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """What a run of two processes ends in that lost none."""
    place = Place(write_corpus(tmp_path_factory.mktemp("straight")))
    place.good(*BY_TWO)
    return weights(place, "run")


@pytest.mark.parametrize("lost", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_run_that_lost_a_process_names_it_and_goes_on_to_the_same_bits(
    place, straight, lost, rank
):
    with place.start(*BY_TWO, "--lost-after", "5") as process:
        wait_for_updates(place, process)
        both = children(process)
        os.kill(both[rank], lost)
        code, stderr = ended(process)
    how = "killed by SIGKILL" if lost == signal.SIGKILL else "stopped and did not answer any more"
    assert f"error: process {rank} of 2 was {how}, and the others have ended\nhint: " in stderr
    assert code == 7
    assert not any(map(is_alive, both))
    place.good(*BY_TWO)
    assert weights(place, "run") == straight


def let_the_second_fail():
    """Before a command begins: process 1 of those that it starts finds a fault."""
    batch_loss = step.batch_loss

    def fail(*given):
        if os.environ["RANK"] == "1":
            raise ZeroDivisionError("on purpose")
        return batch_loss(*given)

    step.batch_loss = fail


def test_a_process_that_fails_shows_its_fault_and_is_named(place):
    with place.start(*ENDLESS, preexec_fn=let_the_second_fail) as process:
        stderr = process.communicate(timeout=200)[1].decode()
    assert process.returncode == 7
    assert "ZeroDivisionError: on purpose" in stderr
    assert "error: process 1 of 2 ended with exit code 1, and the others have ended" in stderr


ENDING = """
import atexit, os
from transduce.cli.main import main
atexit.register(lambda: print("taken apart by process", os.environ.get("RANK")))
main()
"""


def test_a_process_of_several_leaves_its_interpreter_whole_when_all_is_done(place):
    recipe = tiny(steps=2, **PARTS)
    python = ("-c", ENDING)
    code, stdout, stderr = place.run("train", *recipe, *TWO, "-o", "run", python=python)
    assert code == 0, stderr
    assert stdout == "taken apart by process None\n"


@pytest.mark.parametrize("whom", ["launcher", "worker"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_one_signal_stops_all_after_the_last_finished_update(place, whom, number, code):
    with place.start(*ENDLESS) as process:
        wait_for_updates(place, process)
        both = children(process)
        os.kill(process.pid if whom == "launcher" else both[1], number)
        found, stderr = ended(process)
    assert found == code
    assert " of 100,000, kept in run\n" in stderr
    assert "\nhint: the same command goes on from here\n" in stderr  # the other may speak between
    assert not any(map(is_alive, both))
    place.good("verify", "run")


def test_a_second_signal_ends_all_at_once(place):
    with place.start(*ENDLESS) as process:
        wait_for_updates(place, process)
        both = children(process)
        os.kill(both[1], signal.SIGSTOP)  # so that they cannot agree
        os.kill(process.pid, signal.SIGTERM)
        time.sleep(1)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        code, stderr = ended(process)
    assert code == 143
    assert "terminated before it was done" in stderr
    assert not any(map(is_alive, both))


@pytest.mark.parametrize("workers", [1, 2])
def test_sigusr1_saves_and_goes_on(place, workers):
    command = ("train", *tiny(steps=100_000, **PARTS), "--workers", workers, "-o", "run")
    with place.start(*command) as process:
        wait_for_updates(place, process)
        process.send_signal(signal.SIGUSR1)
        while not list(place.folder.glob("run/checkpoints/step-*")):
            assert process.poll() is None
            time.sleep(0.02)
        wait_for_updates(place, process)
        process.send_signal(signal.SIGTERM)
        assert ended(process)[0] == 143
    assert len(list(place.folder.glob("run/checkpoints/step-*"))) == 2


def test_a_launcher_that_is_killed_leaves_nobody_and_nothing_listens_beyond_this_machine(place):
    with place.start(*ENDLESS) as process:
        wait_for_updates(place, process)
        both = children(process)
        heard = [address for pid in both for address in listening(pid)]
        process.kill()
        until = time.monotonic() + 5
        while any(map(is_alive, both)):
            assert time.monotonic() < until
            time.sleep(0.05)
    assert heard, "control: they do listen"
    assert set(heard) == {"0100007F"}, "127.0.0.1, as the system writes it"


def listening(pid):
    """The addresses at which a process listens."""
    sockets = {
        link.readlink().name.removeprefix("socket:[").rstrip("]")
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if str(link.readlink()).startswith("socket:")
    }
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
    ]
    state = "0A"  # that it listens
    return [row[1].split(":")[0] for row in lines if row[3] == state and row[9] in sockets]


def test_another_number_of_processes_is_said(place):
    recipe = tiny(steps=3, **PARTS)
    place.good("train", *recipe, "-o", "run")
    code, _, stderr = place.run("train", *tiny(steps=3, **PARTS), *TWO, "-o", "run")
    said = "this resume may differ in its last bits: gradients added in order → by 2 processes"
    assert code == 0
    assert said in stderr


def test_more_processes_than_an_update_has_parts_are_told_so(place):
    code, _, stderr = place.run("train", *tiny(steps=1), *TWO, "-o", "run")
    assert code == 0
    assert "warning: 1 of 2 processes have nothing to do: an update of 1,024 tokens is 1 " in stderr
    assert "(training.micro_tokens); begin a run with --set training.micro_tokens=512\n" in stderr


TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d")


def test_torchrun_starts_the_same_processes_and_a_lost_one_ends_them(place, monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    here = (*TORCHRUN, "--rdzv-endpoint", "localhost:0", "-m", "transduce")
    recipe = tiny(steps=4, **PARTS)
    with place.start("train", *recipe, "--exact", "-o", "by-2", python=here) as process:
        assert process.wait(200) == 0
    place.good("train", *recipe, "-o", "one")
    assert weights(place, "by-2", 4) == weights(place, "one", 4)
    endless = [word for word in ENDLESS if word not in TWO[:2]]
    with place.start(*endless, python=here) as process:
        wait_for_updates(place, process)
        both = children(process)
        os.kill(both[1], signal.SIGKILL)
        stderr = process.communicate(timeout=200)[1].decode()
    assert process.returncode
    assert "error: lost contact with another process of this run (" in stderr
    assert f"exitcode  : -9 (pid: {both[1]})" in stderr, "torchrun names it"
    assert not any(map(is_alive, both))


CUT_OFF = """
ip link set lo up
"$@" &
until grep -qs '"step": 2' run/log.jsonl; do sleep 0.1; done
ip link set lo down
wait $!
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a network of its own")
def test_processes_that_are_cut_off_from_each_other_end_after_the_limit(place):
    command = [sys.executable, "-m", "transduce", *ENDLESS, "--lost-after", "3"]
    cut = ["unshare", "--net", "bash", "-c", CUT_OFF, "bash", *map(str, command)]
    with subprocess.Popen(cut, cwd=place.folder, stderr=subprocess.PIPE, text=True) as process:
        _, stderr = process.communicate(timeout=200)
    if "unshare failed" in stderr:
        pytest.skip("this system lets nobody make a network")
    assert process.returncode == 7
    assert "error: the processes of this run have lost each other, and the others have" in stderr
    place.good("verify", "run")


def test_a_folder_in_use_is_told_once_and_all_end(place):
    with place.start(*ENDLESS) as first:
        wait_for_updates(place, first)
        code, _, stderr = place.run(*ENDLESS)
        first.send_signal(signal.SIGTERM)
        assert ended(first)[0] == 143
    assert code == 6
    assert stderr.count("error: ") == 1
    assert "another process works here" in stderr
