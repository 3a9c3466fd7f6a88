"""JSON files that notice their own damage, and that tell which version can read them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transduce.durable.strict_json import read_json, to_json
from transduce.errors import FolderError

FORMAT = 1
AGAIN = "the file is damaged or was edited: take the folder from its source again"
NEWER = "install a newer transduce: pip install --upgrade transduce"


def to_checksummed_json(values: Mapping[str, object]) -> bytes:
    """A file that begins with its format and ends with the sha256 of what stands before."""
    assert not {"format", "sha256"} & set(values), "these words are the to_checksummed_json's own"
    return sealed({"format": FORMAT, **values})


def sealed(body: Mapping[str, object]) -> bytes:
    """These values with their sum at the end; there is one way only to write them."""
    return to_json({**body, "sha256": hashlib.sha256(to_json(body)).hexdigest()})


def from_checksummed_json(data: bytes, file: Path) -> dict[str, Any]:
    """The values that were sealed, if they are as they were and this version knows their format."""
    values = read_json(data, file)
    require_format(values.get("format"), file)
    expected = values.pop("sha256", None)
    if data != sealed(values):
        found = hashlib.sha256(to_json(values)).hexdigest()
        fact = f"is not as it was written: expected sha256 {str(expected)[:64]}, found {found}"
        raise FolderError(fact, AGAIN, file=file)
    del values["format"]
    return values


def require_format(written: object, file: Path) -> None:
    """Refuse what a later version wrote."""
    if type(written) is not int or written < 1:
        raise FolderError("names no format", AGAIN, file=file)
    if written > FORMAT:
        fact = f"has format {written}, and this version reads format {FORMAT} at most"
        raise FolderError(fact, NEWER, file=file)
