"""epochs.json, in which a run with changed pairs keeps each epoch's last step for a resume.

Planning an epoch with changed pairs, such as upper case, takes a minute or more per million pairs.
A file that is missing, damaged, older or of another plan costs that time, and nothing else.
"""

import dataclasses
import hashlib
import inspect
import time
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import final

from transduce.durable.files import write_atomically
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json, to_json
from transduce.errors import FolderError, InputError, SaveError
from transduce.settings import Recipe

EPOCHS = "epochs.json"
MOST_BYTES = 1 << 24
PAUSE = 60  # least seconds between two writes, since epochs may be as short as an update


@final
class EpochEnds:
    """The file of a run that keeps the last step of each epoch."""

    def __init__(self, folder: Path, recipe: Recipe, store: str) -> None:
        """`store` is the fingerprint of the run's training store."""
        from transduce.corpus import feed, plan  # imports torch
        from transduce.text import changes, clean, sentences

        given = [dataclasses.asdict(recipe.data), recipe.training.seed, store]
        versions = [version("tokenizers"), unicodedata.unidata_version]
        code = map(inspect.getsource, (plan, feed, changes, clean, sentences))
        facts = to_json([*given, *versions, *code])
        self.file, self.key = folder / EPOCHS, hashlib.sha256(facts).hexdigest()
        self.next_write = 0.0

    def read(self) -> list[int]:
        """Return the last steps of the epochs so far; [] if the file has none of this plan."""
        with suppress(FolderError):
            values = from_checksummed_json(read_regular(self.file, MOST_BYTES), self.file)
            match values:
                case {"plan": self.key, "ends": [*ends]} if all(type(end) is int for end in ends):
                    return ends if all(a < b for a, b in pairwise([0, *ends])) else []
        return []

    def write(self, ends: Sequence[int]) -> None:
        """Replace the file, at most once a minute; ignore a full disk: a resume needs no file."""
        if time.monotonic() < self.next_write:
            return
        with suppress(SaveError, InputError):
            write_atomically(self.file, to_checksummed_json({"plan": self.key, "ends": [*ends]}))
        self.next_write = time.monotonic() + PAUSE
