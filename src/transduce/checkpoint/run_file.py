"""The files that a run begins with: run.json (id, recipe, fingerprints) and its vocabularies."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from transduce.checkpoint.model_files import is_model
from transduce.checkpoint.stored_recipe import parse_stored_recipe
from transduce.durable.files import require_folder, write_atomically
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.settings import Recipe
from transduce.vocabulary.vocabulary import (
    MOST_VOCABULARY_BYTES,
    Vocabularies,
    read_vocabularies,
)

RUN_FILE = "run.json"
MOST_RUN_BYTES = 1 << 20
DAMAGED = "the file is damaged or was edited: put back the run's own"


@final
@dataclass(frozen=True, kw_only=True)
class Run:
    """The id, recipe and data fingerprints of a training run, as its run.json has them."""

    id: str
    recipe: Recipe
    fingerprints: Mapping[str, str]  # sha256 of the corpus and of each vocabulary, by name


def create_run(folder: Path, recipe: Recipe, fingerprints: Mapping[str, str]) -> Run:
    """Write run.json with a new random id; return the run; InputError if the file exists."""
    file = folder / RUN_FILE
    if os.path.lexists(file):
        raise InputError("exists already", "resume this run, or choose another name", file=file)
    run = Run(id=secrets.token_hex(8), recipe=recipe, fingerprints=dict(fingerprints))
    write_run(folder, run)
    return run


def update_run_recipe(folder: Path, changed: Recipe) -> Run:
    """Set training.steps, names and descriptions in run.json to those of `changed`; return the run.

    The other settings of `changed` must be those of the run, except training.threads and
    training.micro_batch_tokens, which stay as they are in run.json.
    """
    run = read_run(folder)
    training = replace(run.recipe.training, steps=changed.training.steps)
    updated = replace(run, recipe=replace(changed, training=training))
    if updated != run:
        write_run(folder, updated)
    return updated


def write_run(folder: Path, run: Run) -> None:
    """Write run.json atomically, replacing an older one."""
    values = {"id": run.id, "recipe": run.recipe.as_json(), "fingerprints": run.fingerprints}
    write_atomically(folder / RUN_FILE, to_checksummed_json(values))


def is_run(folder: Path) -> bool:
    """Return whether a folder has a run.json, which may still be damaged."""
    return os.path.lexists(folder / RUN_FILE)


def read_run(folder: Path) -> Run:
    """Return the id, recipe and fingerprints in run.json; FolderError if it is damaged."""
    file, values = folder / RUN_FILE, read_run_file(folder)
    recipe, fingerprints = parse_stored_recipe(values["recipe"], file), values["fingerprints"]
    return Run(id=values["id"], recipe=recipe, fingerprints=fingerprints)


def read_run_id(folder: Path) -> str:
    """Return a run's id, which its checkpoints' manifests have, too; FolderError if damaged."""
    identity: str = read_run_file(folder)["id"]
    return identity


def read_run_file(folder: Path) -> dict[str, Any]:
    """Return run.json as a dict: id, recipe, fingerprints; FolderError if damaged or missing."""
    file = folder / RUN_FILE
    if not is_run(folder):
        hint = "name a folder that `transduce train` wrote"
        require_folder(folder, hint)
        fact = "is a model folder, not a run" if is_model(folder) else "is not a run folder"
        raise FolderError(fact, hint, file=folder)
    values = from_checksummed_json(read_regular(file, MOST_RUN_BYTES), file)
    match values:
        case {"id": str(), "recipe": dict(), "fingerprints": dict()} if len(values) == 3:
            return values
    raise FolderError("is not as a run's first file is written", DAMAGED, file=file)


def read_run_vocabularies(folder: Path) -> Vocabularies:
    """Return a run's vocabularies; FolderError if a file has changed since the run began."""
    run = read_run(folder)
    vocabularies = read_vocabularies(
        folder,
        lambda name: read_regular(folder / name, MOST_VOCABULARY_BYTES),
        shared=run.recipe.data.shared_vocabulary,
        has_lexicon="tags" in run.fingerprints,
    )
    for name, found in vocabularies.hashes().items():
        if run.fingerprints.get(name) != found:
            raise FolderError(
                f"the {name} vocabulary is not the one this run was begun with",
                "put back the run's own file",
                file=folder,
            )
    return vocabularies
