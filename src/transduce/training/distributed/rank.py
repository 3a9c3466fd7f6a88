"""Where a process stands among those of its run, as its environment says."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.errors import InputError

MEETING = "TRANSDUCE_MEETING"  # set by our own launcher: the file through which processes meet
PARENT = "TRANSDUCE_PARENT"  # and the launcher's process number
NUMBERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")  # as torchrun sets them


@final
@dataclass(frozen=True, kw_only=True)
class Place:
    """One process of so many; the first one keeps the run's folder."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0  # among those on this machine
    local_size: int = 1
    meeting: Path | None = None  # None: they meet where MASTER_ADDR and MASTER_PORT say
    parent: int = 0

    @property
    def is_alone(self) -> bool:
        """Whether nobody else takes part."""
        return self.size == 1

    @property
    def name(self) -> str:
        """For people."""
        return f"process {self.rank} of {self.size}"

    @staticmethod
    def of(environment: Mapping[str, str]) -> "Place":
        """As our launcher or torchrun has written it; alone if neither did."""
        if not {"RANK", "WORLD_SIZE"} <= set(environment):
            return Place()
        rank, size, local_rank, local_size = (
            number(environment, name, default)
            for name, default in zip(NUMBERS, (0, 1, 0, 1), strict=True)
        )
        meeting = environment.get(MEETING)
        if size > 1 and not meeting and "MASTER_ADDR" not in environment:
            raise InputError(
                "RANK and WORLD_SIZE are in the environment, and MASTER_ADDR is not",
                "start by torchrun, or by --workers on one machine",
            )
        return Place(
            rank=rank,
            size=size,
            local_rank=local_rank,
            local_size=local_size,
            meeting=Path(meeting) if meeting else None,
            parent=number(environment, PARENT, 0),
        )


def number(environment: Mapping[str, str], name: str, default: int) -> int:
    """A count in the environment."""
    text = environment.get(name, str(default))
    if not text.isascii() or not text.isdigit():
        raise InputError(f"{name} is {text!r} in the environment", "torchrun sets it to a number")
    return int(text)


def environment_of(place: Place) -> dict[str, str]:
    """What our launcher writes for a process: `Place.of` reads it."""
    numbers = (place.rank, place.size, place.local_rank, place.local_size)
    written = dict(zip(NUMBERS, map(str, numbers), strict=True))
    return written | {MEETING: str(place.meeting), PARENT: str(place.parent)}
