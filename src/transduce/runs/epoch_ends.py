"""epochs.json of a run with changed pairs, with each epoch's last step, for a resume.

To plan an epoch with changed pairs, such as upper case, takes a minute or more for each million of
pairs. A file that is missing, damaged, older or of another plan costs that time, and nothing else.
"""

import dataclasses
import hashlib
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import final

from transduce.durable.files import write_atomically
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json, to_json
from transduce.errors import FolderError, SaveError
from transduce.settings import Recipe
from transduce.version import __version__

EPOCHS = "epochs.json"
MOST_BYTES = 1 << 24
PAUSE = 60  # seconds between two writes, for epochs may be as short as an update


@final
class EpochEnds:
    """The file of a run that keeps the last step of each epoch."""

    def __init__(self, folder: Path, recipe: Recipe, store: str) -> None:
        """`store` is the fingerprint of the run's training store."""
        plan = [dataclasses.asdict(recipe.data), recipe.training.seed, store, __version__]
        self.file, self.plan = folder / EPOCHS, hashlib.sha256(to_json(plan)).hexdigest()
        self.next_write = 0.0

    def read(self) -> list[int]:
        """Return the last steps of the epochs so far; [] if the file has none of this plan."""
        with suppress(FolderError):
            values = from_checksummed_json(read_regular(self.file, MOST_BYTES), self.file)
            match values:
                case {"plan": self.plan, "ends": [*ends]} if all(type(end) is int for end in ends):
                    return ends if all(a < b for a, b in pairwise([0, *ends])) else []
        return []

    def write(self, ends: Sequence[int]) -> None:
        """Replace the file, once a minute; a full disk is no error, as a resume does without."""
        if time.monotonic() < self.next_write:
            return
        with suppress(SaveError):
            write_atomically(self.file, to_checksummed_json({"plan": self.plan, "ends": [*ends]}))
        self.next_write = time.monotonic() + PAUSE
