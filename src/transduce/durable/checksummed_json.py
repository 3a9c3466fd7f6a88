"""JSON files with a format number and a sha256 of all their other entries."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transduce.durable.strict_json import read_json, to_json
from transduce.errors import FolderError

FORMAT = 1
AGAIN = "the file is damaged or was edited: take the folder from its source again"
NEWER = "install a newer transduce"


def to_checksummed_json(values: Mapping[str, object]) -> bytes:
    """Serialise values to JSON with a format number and a last entry, the sha256 of all others."""
    assert not {"format", "sha256"} & set(values), "these keys are reserved"
    return add_checksum({"format": FORMAT, **values})


def add_checksum(body: Mapping[str, object]) -> bytes:
    """Serialise values to JSON with a last entry "sha256", the hash of the JSON without it."""
    return to_json({**body, "sha256": hashlib.sha256(to_json(body)).hexdigest()})


def from_checksummed_json(data: bytes, file: Path) -> dict[str, Any]:
    """Parse a checksummed JSON file; raise FolderError if it was altered or its format is newer."""
    values = read_json(data, file)
    require_format(values.get("format"), file)
    expected = values.pop("sha256", None)
    if data != add_checksum(values):
        found = hashlib.sha256(to_json(values)).hexdigest()
        if found == expected:
            raise FolderError("has its values in another spelling or order", AGAIN, file=file)
        fact = f"is not as it was written: expected sha256 {str(expected)[:64]}, found {found}"
        raise FolderError(fact, AGAIN, file=file)
    del values["format"]
    return values


def require_format(written: object, file: Path) -> None:
    """Raise FolderError unless this version of transduce can read a file's format number."""
    if type(written) is not int or written < 1:
        raise FolderError("names no format", AGAIN, file=file)
    if written > FORMAT:
        fact = f"has format {written}, and this version reads format {FORMAT} at most"
        raise FolderError(fact, NEWER, file=file)
