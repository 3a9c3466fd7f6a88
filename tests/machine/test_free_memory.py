"""What may still be taken of the memory: of the machine, and of the control groups around us."""

import math

import pytest

from transduce.machine import limits

SECOND = ("memory.max", "memory.current", "memory.stat")
FIRST = tuple(f"memory/memory.{name}" for name in ("limit_in_bytes", "usage_in_bytes", "stat"))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """An empty machine; `write(name, text)` puts a file into its control group."""
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:  5000 kB\n")
    monkeypatch.setattr(limits, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(limits, "CGROUP_ROOT", tmp_path)
    monkeypatch.setattr(limits, "PROC_SELF_CGROUP", tmp_path / "own")

    def write(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    return write


@pytest.mark.usefixtures("machine")
def test_it_is_what_the_kernel_calls_available():
    assert limits.free_memory_bytes() == 5_000 * 1_024


@pytest.mark.parametrize("names", [SECOND, FIRST])
def test_a_control_group_leaves_its_limit_less_its_use_and_file_cache_counts_as_free(
    machine, names
):
    for name, text in zip(
        names, ("1000000", "700000", "anon 5\ninactive_file 200000"), strict=True
    ):
        machine(name, text)
    assert limits.free_memory_bytes() == 500_000


def test_a_group_without_a_limit_changes_nothing(machine):
    for name, text in zip(SECOND, ("max", "700000", "inactive_file 1"), strict=True):
        machine(name, text)
    assert limits.free_memory_bytes() == 5_000 * 1_024


@pytest.mark.usefixtures("machine")
def test_where_nothing_is_known_it_is_infinite(tmp_path):
    (tmp_path / "meminfo").unlink()
    assert limits.free_memory_bytes() == math.inf
