"""The file alignment.json of a model folder: the heads that were chosen for word alignments.

The file is written after the model, so the manifest does not list it. It has its own checksum and
names the manifest of its model.
"""

import os
import typing
from collections.abc import Mapping
from pathlib import Path

from transduce.durable import (
    from_checksummed_json,
    read_regular,
    to_checksummed_json,
    write_atomically,
)
from transduce.errors import FolderError, InputError
from transduce.settings.alignment import AlignmentHeads, build_alignment_heads
from transduce.settings.architecture import Architecture

ALIGNMENT = "alignment.json"
COUNTS = ("pairs", "links", "sure")
KEYS = {"model", "layer", "heads", "shifted", "aer", *COUNTS}
LIMIT = 1 << 20
AGAIN = "delete it, and choose again: `transduce align MODEL SOURCE TARGET --choose GOLD`"


def save_alignment_heads(
    folder: Path, model_hash: str, heads: AlignmentHeads, about: Mapping[str, object]
) -> Path:
    """Write the chosen heads to a model folder's alignment.json; return the path of the file.

    `model_hash` is the sha256 of the folder's manifest; `about` has more entries, such as scores.
    """
    values = {"layer": heads.layer, "heads": list(heads.heads), "shifted": heads.shifted}
    path = folder / ALIGNMENT
    write_atomically(path, to_checksummed_json({"model": model_hash, **values, **about}))
    return path


def read_alignment_heads(
    folder: Path, model_hash: str, sizes: Architecture
) -> AlignmentHeads | None:
    """Return the heads chosen for word alignment in a model folder, or None without a choice.

    Raise FolderError if the file is damaged, or belongs to a model with another manifest.
    """
    path = folder / ALIGNMENT
    if not os.path.lexists(path):
        return None
    values = from_checksummed_json(read_regular(path, LIMIT), path)
    if values.get("model") != model_hash:
        raise FolderError("was chosen for another model", AGAIN, file=path)
    try:
        heads = build_alignment_heads(*(values.get(name) for name in ("layer", "heads", "shifted")))
        heads.require_in(sizes)
    except InputError as error:
        raise FolderError(f"names unusable heads: {error.fact}", AGAIN, file=path) from error
    if list(heads.heads) != values["heads"] or not is_choice(values):
        raise FolderError("is no choice of heads", AGAIN, file=path)
    return heads


def is_choice(values: Mapping[str, object]) -> bool:
    """Return whether a file has only known entries, and its counts and error rate are valid."""
    counts = [values.get(name, 0) for name in COUNTS]
    error = values.get("aer", 0)
    return (
        values.keys() <= KEYS
        and all(type(count) is int and 0 <= count < 1 << 63 for count in counts)
        and type(error) in (int, float)
        and 0 <= typing.cast("float", error) <= 100  # in percent
    )
