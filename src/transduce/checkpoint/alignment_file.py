"""The file alignment.json of a model folder: the heads that were chosen for word alignments.

It is written after the model, so that the manifest does not list it. It has a checksum of its own
and names the manifest that it belongs to.
"""

import os
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
LIMIT = 1 << 20
AGAIN = "delete it, and choose again: `transduce align MODEL SOURCE TARGET --choose GOLD`"


def save_alignment_heads(
    folder: Path, model: str, heads: AlignmentHeads, about: Mapping[str, object]
) -> Path:
    """Write the chosen heads to a model folder and return the file's path.

    `model` is the sha256 of the folder's manifest; `about` says how the heads were chosen.
    """
    values = {"layer": heads.layer, "heads": list(heads.heads), "shifted": heads.shifted}
    path = folder / ALIGNMENT
    write_atomically(path, to_checksummed_json({"model": model, **values, **about}))
    return path


def read_alignment_heads(folder: Path, model: str, sizes: Architecture) -> AlignmentHeads | None:
    """Return the heads that were chosen for a model, None if there is no choice.

    FolderError says that the file is damaged, or belongs to a model with another manifest.
    """
    path = folder / ALIGNMENT
    if not os.path.lexists(path):
        return None
    values = from_checksummed_json(read_regular(path, LIMIT), path)
    if values.get("model") != model:
        raise FolderError("was chosen for another model", AGAIN, file=path)
    try:
        heads = build_alignment_heads(*(values.get(name) for name in ("layer", "heads", "shifted")))
        heads.require_in(sizes)
    except InputError as error:
        raise FolderError(f"names unusable heads: {error.fact}", AGAIN, file=path) from error
    return heads
