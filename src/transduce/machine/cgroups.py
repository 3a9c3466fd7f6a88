"""Resource limits of containers and cluster jobs: Linux control groups, versions 1 and 2."""

from collections.abc import Iterator
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")
PROC_SELF_CGROUP = Path("/proc/self/cgroup")  # lists the groups that this process is in


def read_limits(name: str) -> Iterator[list[str]]:
    """Yield the words of this limit file, for this process's control group and each outer one.

    In the second version a name is as `memory.max`; in the first its controller stands before it,
    as in `memory/memory.limit_in_bytes`.
    """
    controller, _, file = name.rpartition("/")
    for group in control_groups(controller):
        path = CGROUP_ROOT / controller / group / file
        if path.is_file():
            yield path.read_text(encoding="ascii").split()


def control_groups(controller: str) -> list[str]:
    """Return the path of this process's control group and the paths of all groups around it."""
    text = PROC_SELF_CGROUP.read_text(encoding="ascii") if PROC_SELF_CGROUP.exists() else ""
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):  # the second version has no name: ""
            own = Path(path.lstrip("/"))
            return [str(own), *map(str, own.parents)]
    return ["."]
