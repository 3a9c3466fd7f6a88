"""How many cores a run may use."""

import pytest

from transduce.machine.limits import available_cpus


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A machine of eight cores whose control groups lie in a folder of ours."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr("transduce.machine.limits.CGROUP_ROOT", tmp_path)
    monkeypatch.setattr("transduce.machine.limits.PROC_SELF_CGROUP", tmp_path / "own")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (tmp_path / "cpu").mkdir()
    return tmp_path


@pytest.mark.usefixtures("groups")
def test_without_a_quota_every_core_is_ours():
    assert available_cpus() == 8


@pytest.mark.parametrize(
    ("text", "cores"),
    [("200000 100000", 2), ("150000 100000", 2), ("5000 100000", 1), ("max 100000", 8)],
)
def test_a_container_of_the_second_version_has_its_quota(groups, text, cores):
    (groups / "cpu.max").write_text(f"{text}\n")
    assert available_cpus() == cores


@pytest.mark.parametrize(("allowed", "cores"), [("300000", 3), ("900000", 8), ("-1", 8)])
def test_a_container_of_the_first_version_has_its_quota(groups, allowed, cores):
    (groups / "cpu/cpu.cfs_quota_us").write_text(f"{allowed}\n")
    (groups / "cpu/cpu.cfs_period_us").write_text("100000\n")
    assert available_cpus() == cores


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize(("text", "cores"), [("3", 3), ("12", 8), ("0", 8), ("", 8), ("2,2", 8)])
def test_fewer_threads_can_be_asked_for_as_of_other_programs(monkeypatch, text, cores):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert available_cpus() == cores
