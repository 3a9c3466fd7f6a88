"""The rank of a training process, from the environment, and the requests that signals make."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.errors import InputError, short_repr

COUNT = re.compile("[0-9]{1,9}")
RENDEZVOUS = "TRANSDUCE_RENDEZVOUS"  # set by our launcher: the path of the rendezvous file
PARENT = "TRANSDUCE_PARENT"  # set by our launcher: its process id
RESUME_HINT = (
    "the same command resumes from the last checkpoint; a higher --lost-after waits longer"
)
TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")  # set by torchrun


@final
@dataclass(frozen=True, kw_only=True)
class ProcessRank:
    """The rank of this process, the number of processes, and their rendezvous file."""

    rank: int = 0
    world_size: int = 1  # number of processes on all machines
    local_rank: int = 0  # rank within the processes of this machine
    local_size: int = 1  # number of processes on this machine
    rendezvous_file: Path | None = None  # None: MASTER_ADDR and MASTER_PORT are used
    parent: int = 0  # process id of our launcher; 0 without our launcher

    @property
    def is_single_process(self) -> bool:
        """Whether training has only one process."""
        return self.world_size == 1

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> "ProcessRank":
        """Return the rank that our launcher or torchrun set, or else that of a single process.

        Raise InputError if the variables are invalid or contradict each other.
        """
        if not {"RANK", "WORLD_SIZE"} <= set(environment):
            return ProcessRank()
        rank, world_size, local_rank, local_size = (
            read_count(environment, name, default)
            for name, default in zip(TORCHRUN, (0, 1, 0, 1), strict=True)
        )
        require_below(rank, world_size, ("RANK", "WORLD_SIZE"))
        if "LOCAL_WORLD_SIZE" in environment:  # some programs set LOCAL_RANK alone
            require_below(local_rank, local_size, ("LOCAL_RANK", "LOCAL_WORLD_SIZE"))
        rendezvous_file = environment.get(RENDEZVOUS)
        if world_size > 1 and not rendezvous_file:
            require_master(environment)
        return ProcessRank(
            rank=rank,
            world_size=world_size,
            local_rank=local_rank,
            local_size=local_size,
            rendezvous_file=Path(rendezvous_file) if rendezvous_file else None,
            parent=read_count(environment, PARENT, 0),
        )

    def as_environment(self) -> dict[str, str]:
        """Return this rank as the environment variables that `from_environment` reads."""
        counts = (self.rank, self.world_size, self.local_rank, self.local_size)
        variables = dict(zip(TORCHRUN, map(str, counts), strict=True))
        return variables | {RENDEZVOUS: str(self.rendezvous_file or ""), PARENT: str(self.parent)}


def require_below(number: int, count: int, names: tuple[str, str]) -> None:
    """Raise InputError unless rank `number` is below `count`; `names` are their variables."""
    if number >= count:
        fact = f"{names[0]} is {number} and {names[1]} is {count} in the environment"
        raise InputError(fact, "ranks count from 0: unset both, or start by torchrun")


def require_master(environment: Mapping[str, str]) -> None:
    """Raise InputError unless MASTER_ADDR is set and MASTER_PORT is a port."""
    hint = "start by torchrun, or by --workers on one machine"
    if "MASTER_ADDR" not in environment:
        raise InputError("RANK and WORLD_SIZE are in the environment, and MASTER_ADDR is not", hint)
    port = environment.get("MASTER_PORT", "")
    if not COUNT.fullmatch(port) or not 0 < int(port) < 1 << 16:
        raise InputError(f"MASTER_PORT is {short_repr(port)} in the environment, no port", hint)


def read_count(environment: Mapping[str, str], name: str, default: int) -> int:
    """Return a variable as an integer, or `default` if unset; InputError unless 1 to 9 digits."""
    text = environment.get(name, str(default))
    if not COUNT.fullmatch(text):
        fact = f"{name} is {short_repr(text)} in the environment"
        raise InputError(fact, "torchrun sets it to a number")
    return int(text)


class SignalRequests:
    """The requests that signals have made: to stop, and to write a checkpoint now."""

    stop_signal: int = 0  # the number of the signal that requested to stop; 0 if none
    checkpoint: bool = False  # whether a signal requested a checkpoint now
