"""epochs.json of a run: the last step of each epoch so far, so that a resume plans none again.

An epoch with changed pairs, such as pairs in upper case, takes a minute or more for each million of
pairs. A file that is missing, damaged or of another plan costs that time, and nothing else.
"""

import dataclasses
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.durable.files import write_atomically
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json, to_json
from transduce.errors import FolderError, SaveError
from transduce.settings import Recipe

EPOCHS = "epochs.json"
MOST_BYTES = 1 << 24


@final
@dataclass(frozen=True)
class EpochEnds:
    """The file of a run that keeps the last step of each epoch."""

    file: Path
    plan: str  # a hash of everything that the steps depend on

    @classmethod
    def of_run(cls, folder: Path, recipe: Recipe, store: str) -> "EpochEnds":
        """Return the file of the run in `folder`; `store` is its training store's fingerprint."""
        plan = [dataclasses.asdict(recipe.data), recipe.training.seed, store]
        return cls(folder / EPOCHS, hashlib.sha256(to_json(plan)).hexdigest())

    def read(self) -> list[int]:
        """Return the last steps of the epochs so far; [] if the file has none of this plan."""
        with suppress(FolderError, OSError):
            values = from_checksummed_json(read_regular(self.file, MOST_BYTES), self.file)
            if values.get("plan") == self.plan:
                return list(values["ends"])
        return []

    def write(self, ends: Sequence[int]) -> None:
        """Replace the file; a full disk is no error, because a resume does without it."""
        with suppress(SaveError):
            write_atomically(self.file, to_checksummed_json({"plan": self.plan, "ends": [*ends]}))
