"""What a container, or a job of a cluster, allows: Linux' control groups, in both versions."""

from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")  # which groups this process is in


def words(name: str) -> Iterator[list[str]]:
    """What stands in the files of that name: of our own group, and of all that are around it.

    In the second version a name is as `memory.max`; in the first its controller stands before it,
    as in `memory/memory.limit_in_bytes`.
    """
    controller, _, file = name.rpartition("/")
    for group in groups(controller):
        path = GROUPS / controller / group / file
        if path.is_file():
            yield path.read_text(encoding="ascii").split()


def groups(controller: str) -> list[str]:
    """The group of this process and those around it, seen from the outermost one."""
    lines = OWN.read_text(encoding="ascii").splitlines() if OWN.exists() else []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):  # the second version has no name: ""
            own = Path(path.lstrip("/"))
            return [str(own), *map(str, own.parents)]
    return ["."]
