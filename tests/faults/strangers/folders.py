"""Folders as values: files by name, written with or without right checksums."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transduce.durable.json import to_checksummed_json

GOLDEN = Path(__file__).parents[2] / "golden" / "format-1"
MANIFEST = "manifest.json"
Files = Mapping[str, bytes]


def read_files(folder: Path) -> dict[str, bytes]:
    """The files of a folder and of the folders in it, by their path in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_files(folder: Path, files: Files) -> Path:
    """Replace a folder by these files."""
    if os.path.lexists(folder):
        shutil.rmtree(folder)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def reseal(files: Files) -> dict[str, bytes]:
    """The same files with a manifest in which all sizes and checksums are right."""
    sealed = dict(files)
    for name in files:
        folder, _, last = name.rpartition("/")
        if last == MANIFEST:
            sealed[name] = seal_manifest(files, f"{folder}/" if folder else "")
    return sealed


def seal_manifest(files: Files, prefix: str) -> bytes:
    """The manifest of the files under a prefix, if it can be read; else as it is."""
    data = files[prefix + MANIFEST]
    try:
        values = json.loads(data)
        listed = {name: files[prefix + name] for name in values["files"] if prefix + name in files}
    except (ValueError, KeyError, TypeError):
        return data
    return seal_values(values, {name: describe(content) for name, content in listed.items()})


def describe(data: bytes) -> dict[str, Any]:
    """A file's entry of a manifest."""
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def seal_values(values: Mapping[str, Any], entries: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of a checksummed JSON file with these values, and these files if any are given."""
    plain = {name: value for name, value in values.items() if name not in ("format", "sha256")}
    if entries is not None:
        plain["files"] = entries
    return to_checksummed_json(plain)


def change_json(data: bytes, path: str, value: object) -> bytes:
    """A JSON object with one value changed, such as `training.steps`; left out if it is ... ."""
    values = json.loads(data)
    table, (*steps, last) = values, path.split(".")
    for step in steps:
        table = table[step]
    if value is ...:
        del table[last]
    else:
        table[last] = value
    return json.dumps(values).encode("utf-8", "surrogatepass")


def split_tensors(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the bytes of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def join_tensors(header: object, body: bytes) -> bytes:
    """A safetensors file of a header, which may be its bytes already, and a body."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body
