"""All shards of a text as tasks of Ray, on a cluster of this machine."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.exports.random_members import save_member, shapes
from tests.external.environments import make_environment
from tests.external.test_exports import text_member
from tests.journeys.test_workers import listening

pytestmark = pytest.mark.external
SOURCES = Path(__file__).parents[2] / "src"
LINES = [f"the {word} sees {number} cats" for number in range(400) for word in ("dog", "cat")]
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""  # two nodes of one core each, until standard input is closed
LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F")  # 127.0.0.1, as the system writes it


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("ray"), ["ray"])


@pytest.fixture
def folder(tmp_path, python):
    """A folder with a model, a text, and its translation by one process."""
    save_member(text_member(shapes()["untied"]), tmp_path / "model")
    (tmp_path / "text.en").write_text("".join(f"{line}\n" for line in LINES))
    finish(translate(python, tmp_path, "--shard=1/1", "-o", "whole"))
    return tmp_path


def start(python, folder, *arguments, **streams):
    known = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(SOURCES)}
    return subprocess.Popen([python, *arguments], cwd=folder, env=known, text=True, **streams)


def translate(python, folder, *words):
    words = ("-m", "transduce", "translate", "model", "text.en", *words)
    return start(python, folder, *words, stderr=subprocess.PIPE)


def finish(process):
    _, said = process.communicate()
    assert process.returncode == 0, said
    return said


def read(folder):
    return [(path / "output.txt").read_bytes() for path in sorted(folder.glob("shard-*"))]


def find_workers():
    """The processes of Ray that run a task."""
    found = subprocess.run(["pgrep", "-f", "^ray::run_command"], capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


def find_parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[1])


def find_descendants(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [pid, *(one for child in found for one in find_descendants(int(child)))]


def wait_for_workers(running, count):
    """Wait until so many processes run a task; return them."""
    while len(workers := find_workers()) < count:
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.05)
    return workers


def test_a_worker_that_is_killed_changes_nothing(python, folder):
    running = translate(python, folder, "--on=ray", "--shard=all/3", "-o", "parts")
    for number in wait_for_workers(running, 1):
        os.kill(number, signal.SIGKILL)
    assert "3 of 3 shards ended" in finish(running)
    assert b"".join(read(folder / "parts")) == b"".join(read(folder / "whole"))
    finish(translate(python, folder, "--on=ray", "--shard=all/3", "-o", "parts"))


def test_a_cluster_of_two_nodes_writes_what_one_process_writes(python, folder):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with start(python, folder, "-c", CLUSTER, **pipes) as cluster:
        address = cluster.stdout.readline().strip()
        running = translate(python, folder, f"--on=ray={address}", "--shard=all/4", "-o", "parts")
        nodes = {find_parent(worker) for worker in wait_for_workers(running, 2)}
        assert "4 of 4 shards ended" in finish(running)
        assert cluster.poll() is None, "the cluster is left running"
        cluster.stdin.close()
    assert len(nodes) == 2
    parts = read(folder / "parts")
    assert len(parts) == 4
    assert b"".join(parts) == b"".join(read(folder / "whole"))


def test_without_an_address_ray_is_heard_by_nobody_else_and_reports_no_usage(python, folder):
    running = translate(python, folder, "--on=ray", "--shard=all/2", "-o", "parts")
    wait_for_workers(running, 1)
    everyone = find_descendants(running.pid)
    heard = [address for pid in everyone for address in listening(pid)]
    # a process that has named itself anew has written over what it was given
    settings = [Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in everyone[1:]]
    finish(running)
    assert len(heard) >= 4, "control: they do listen"
    assert set(heard) <= {*LOOPBACK}
    told = [
        b"RAY_USAGE_STATS_ENABLED=0" in one for one in settings if any(b"=" in part for part in one)
    ]
    assert len(told) >= 4
    assert all(told)
