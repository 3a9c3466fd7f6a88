"""The run folder and its first file, which says what is trained and on what."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from transduce.checkpoint.stored_recipe import stored_recipe
from transduce.durable import (
    from_checksummed_json,
    read_regular,
    to_checksummed_json,
    write_atomically,
)
from transduce.errors import FolderError, InputError
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes

RUN_FILE = "run.json"
LIMIT = 1 << 20
AGAIN = "the file is damaged or was edited: put back the run's own"


@final
@dataclass(frozen=True, kw_only=True)
class Run:
    """What is decided once, when a run begins."""

    id: str
    recipe: Recipe
    fingerprints: Mapping[str, str]  # of the data, by name


def begin_run(folder: Path, recipe: Recipe, fingerprints: Mapping[str, str]) -> Run:
    """Write down what this run is, before its first step."""
    file = folder / RUN_FILE
    if os.path.lexists(file):
        raise InputError("exists already", "go on with this run, or choose another name", file=file)
    run = Run(id=secrets.token_hex(8), recipe=recipe, fingerprints=dict(fingerprints))
    write_run(folder, run)
    return run


def lengthen_run(folder: Path, steps: int) -> Run:
    """Let a run go on to a later last step: no update depends on how many follow it."""
    run = read_run(folder)
    longer = replace(run, recipe=with_changes(run.recipe, {"training.steps": steps}))
    write_run(folder, longer)
    return longer


def write_run(folder: Path, run: Run) -> None:
    """The whole file, in place of one that may stand there."""
    values = {"id": run.id, "recipe": run.recipe.as_json(), "fingerprints": run.fingerprints}
    write_atomically(folder / RUN_FILE, to_checksummed_json(values))


def is_run(folder: Path) -> bool:
    """Whether this folder says that it is a run's; what it says may still be damaged."""
    return os.path.lexists(folder / RUN_FILE)


def read_run(folder: Path) -> Run:
    """What a run wrote down when it began."""
    file, values = folder / RUN_FILE, read_values(folder)
    recipe, fingerprints = stored_recipe(values["recipe"], file), values["fingerprints"]
    return Run(id=values["id"], recipe=recipe, fingerprints=fingerprints)


def run_id(folder: Path) -> str:
    """The name that a run's own folders carry."""
    identity: str = read_values(folder)["id"]
    return identity


def read_values(folder: Path) -> dict[str, Any]:
    """The run's first file, undamaged and in shape."""
    file = folder / RUN_FILE
    if not is_run(folder):
        raise FolderError("is not a run folder", "look at the path", file=folder)
    values = from_checksummed_json(read_regular(file, LIMIT), file)
    match values:
        case {"id": str(), "recipe": dict(), "fingerprints": dict()} if len(values) == 3:
            return values
    raise FolderError("is not as a run's first file is written", AGAIN, file=file)
