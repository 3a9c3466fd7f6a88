"""The files of a model folder: their names, and the checks of manifest and bytes, without torch.

The file alignment.json has the heads that were chosen for word alignments, its own checksum and the
manifest's sha256. The manifest does not list alignment.json, which is written later.
"""

import hashlib
import os
import typing
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from string import hexdigits

from transduce.checkpoint.stored_recipe import parse_stored_recipe
from transduce.durable.files import write_atomically
from transduce.durable.folder import (
    AGAIN,
    MANIFEST,
    MANIFEST_LIMIT,
    VerifiedFolder,
    open_folder,
    read_regular,
    require_replaceable,
)
from transduce.durable.json import from_checksummed_json, read_json, to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.settings.alignment import AlignmentHeads, build_alignment_heads
from transduce.settings.architecture import Architecture

ALIGNMENT = "alignment.json"
COUNTS = ("pairs", "links", "sure")
KEYS = {"model", "layer", "heads", "shifted", "aer", *COUNTS}
MOST_JSON_BYTES = 1 << 20
CHOOSE_AGAIN = "delete it, and choose again: `transduce align MODEL SOURCE TARGET --choose GOLD`"


def save_alignment_heads(
    folder: Path, model_hash: str, heads: AlignmentHeads, about: Mapping[str, object]
) -> Path:
    """Write the chosen heads to a model folder's alignment.json; return the path of the file.

    `model_hash` is the sha256 of the manifest of the model that the heads were chosen for; another
    model in the folder is refused. `about` has more entries, such as scores.
    """
    found = hashlib.sha256(read_regular(folder / MANIFEST, MANIFEST_LIMIT)).hexdigest()
    if found != model_hash:
        fact = "was replaced while its heads were chosen, and nothing is stored"
        raise InputError(fact, "choose again", file=folder)
    values = {"layer": heads.layer, "heads": list(heads.heads), "shifted": heads.shifted}
    path = folder / ALIGNMENT
    write_atomically(path, to_checksummed_json({"model": model_hash, **values, **about}))
    return path


def read_alignment_heads(
    folder: Path, model_hash: str, sizes: Architecture
) -> AlignmentHeads | None:
    """Return a model folder's chosen alignment heads, None if not chosen; FolderError if unusable.

    alignment.json is unusable if it is damaged, names heads that a model of these sizes lacks, or
    was written for another `model_hash`.
    """
    path = folder / ALIGNMENT
    if not os.path.lexists(path):
        return None
    values = from_checksummed_json(read_regular(path, MOST_JSON_BYTES), path)
    if values.get("model") != model_hash:
        raise FolderError("was chosen for another model", CHOOSE_AGAIN, file=path)
    try:
        heads = build_alignment_heads(*(values.get(name) for name in ("layer", "heads", "shifted")))
        heads.require_in(sizes)
    except InputError as error:
        raise FolderError(f"names unusable heads: {error.fact}", CHOOSE_AGAIN, file=path) from error
    if list(heads.heads) != values["heads"] or not is_choice(values):
        raise FolderError("is no choice of heads", CHOOSE_AGAIN, file=path)
    return heads


def is_choice(values: Mapping[str, object]) -> bool:
    """Return whether an alignment.json has only known entries, and valid counts and error rate."""
    counts = [values.get(name, 0) for name in COUNTS]
    error = values.get("aer", 0)
    return (
        values.keys() <= KEYS
        and all(type(count) is int and 0 <= count < 1 << 63 for count in counts)
        and type(error) in (int, float)
        and 0 <= typing.cast("float", error) <= 100  # in percent
    )


MODEL_KIND = "model"
WEIGHTS = "model.safetensors"
RECIPE = "recipe.json"
CARD = "README.md"
FIGURE = "figure1.svg"  # the drawing in the model card
RECIPE_LIMIT = 1 << 20


def is_model(folder: Path) -> bool:
    """Return whether a folder has a recipe or weights, even if the model folder is damaged."""
    return any(os.path.lexists(folder / name) for name in (RECIPE, WEIGHTS))


def open_model_folder(folder: Path) -> VerifiedFolder:
    """Open a model folder; raise FolderError if its manifest or file names are wrong."""
    found = open_folder(folder, MODEL_KIND, unlisted=(ALIGNMENT,))
    for name, value in found.about.items():
        if name not in ORIGIN or not ORIGIN[name](value):
            fact = f"has an entry {name[:40]!r} that is none of a model"
            raise FolderError(fact, AGAIN, file=folder / MANIFEST)
    if set(found.about) not in TOGETHER:
        fact = f"has the entries {', '.join(sorted(found.about))}, which no model has together"
        raise FolderError(fact, AGAIN, file=folder / MANIFEST)
    return found


def require_replaceable_model(folder: Path) -> None:
    """Raise InputError unless a path is free, or a valid model folder without other files."""
    require_replaceable(folder, MODEL_KIND, unlisted=(ALIGNMENT,))


def is_hash(value: object, digits: int = 64) -> bool:
    """Return whether a value is a string of `digits` lower-case hexadecimal digits."""
    return isinstance(value, str) and len(value) == digits and set(value) <= set(hexdigits.lower())


def is_list_of_steps(value: object) -> bool:
    """Return whether a value is a list of step numbers in ascending order."""
    steps = value if isinstance(value, list) else [-1]
    are_steps = all(type(step) is int and 0 <= step < 1 << 63 for step in steps)
    return are_steps and steps == sorted({*steps})


# the possible entries on a model's origin in its manifest, each with the check of its value
ORIGIN: Mapping[str, Callable[[object], bool]] = {
    "run": partial(is_hash, digits=16),
    "averaged": is_list_of_steps,
    "parent": is_hash,
    "imported": is_hash,
}


# the sets of entries that a manifest may have: none; of a run; of an adapted run; of an import
TOGETHER: tuple[set[str], ...] = (
    set(),
    {"run", "averaged"},
    {"run", "averaged", "parent"},
    {"imported"},
)


def verify_model_folder(folder: Path) -> None:
    """Check a model folder's hashes, recipe and alignment heads; FolderError at the first fault."""
    found = open_model_folder(folder)
    found.verify()
    values = read_json(found.read(RECIPE, RECIPE_LIMIT), folder / RECIPE)
    sizes = parse_stored_recipe(values, folder / RECIPE).architecture
    read_alignment_heads(folder, found.hash, sizes)
