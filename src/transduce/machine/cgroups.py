"""Resource limits of containers and cluster jobs: Linux control groups, versions 1 and 2."""

from collections.abc import Iterator
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")
PROC_SELF_CGROUP = Path("/proc/self/cgroup")  # lists the control groups of this process


def read_limits(name: str) -> Iterator[list[str]]:
    """Yield the words of a limit file for this process's control group, then for each outer group.

    `name` is the file name in version 2, such as `memory.max`; in version 1 the controller precedes
    the file name, as in `memory/memory.limit_in_bytes`.
    """
    controller, _, file = name.rpartition("/")
    for group in control_groups(controller):
        path = CGROUP_ROOT / controller / group / file
        if path.is_file():
            yield path.read_text(encoding="ascii").split()


def control_groups(controller: str) -> list[str]:
    """Return the path of this process's control group, then of each group that contains it."""
    text = PROC_SELF_CGROUP.read_text(encoding="ascii") if PROC_SELF_CGROUP.exists() else ""
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):  # cgroup version 2 has "" for both
            own = Path(path.lstrip("/"))
            return [str(own), *map(str, own.parents)]
    return ["."]
