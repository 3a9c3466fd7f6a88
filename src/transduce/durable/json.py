"""Strict JSON, JSON files with a format number and a sha256, and dataclasses read from JSON.

Repeated keys, NaN, infinite numbers, lone surrogates and more than 20 levels are refused.
"""

import dataclasses
import hashlib
import json
import math
import sys
import types
import typing
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

from transduce.errors import FolderError

MAX_DEPTH = 20


def to_json(value: object) -> bytes:
    """Serialise a value to indented ASCII JSON bytes that end with a newline."""
    return json.dumps(value, allow_nan=False, indent=1).encode("ascii") + b"\n"


def read_json(data: bytes, file: Path) -> dict[str, Any]:
    """Parse a JSON object strictly; raise FolderError for repeated keys, NaN or deep nesting."""
    try:
        value = parse_json(data)
    except ValueError as error:
        raise FolderError(f"is no JSON that can be used: {error}", DAMAGED, file=file) from error
    if not isinstance(value, dict):
        raise FolderError("is no JSON object", DAMAGED, file=file)
    return value


def parse_json(data: bytes) -> Any:  # noqa: ANN401 - any value of JSON
    """Parse a JSON value strictly; raise ValueError for repeated keys, NaN or deep nesting."""
    try:
        value = json.loads(
            data.removeprefix(BOM_UTF8).decode(),
            object_pairs_hook=build_unique_dict,
            parse_constant=refuse_constant,
        )
        require_plain(value)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


DAMAGED = "the file is damaged or was edited: take the folder from its source again"


def build_unique_dict(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dict from key-value pairs; raise ValueError if a key is repeated."""
    found = dict[str, Any]()
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {key[:80]!r} stands twice")
        found[key] = value
    return found


def refuse_constant(name: str) -> None:
    """Raise ValueError for the constants NaN, Infinity and -Infinity, which are not JSON."""
    raise ValueError(f"{name} is no number")


def require_plain(value: object, depth: int = MAX_DEPTH) -> None:
    """Raise ValueError for deep nesting, infinite numbers and text with half a surrogate pair."""
    if not depth:
        raise ValueError("nested too deep")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is too large")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{ascii(value)[:80]} has half of a character") from None
    if isinstance(value, dict | list):
        for part in chain.from_iterable(value.items()) if isinstance(value, dict) else value:
            require_plain(part, depth - 1)


FORMAT = 4
NEWER = "install a newer transduce"


class NewerFormatError(FolderError):
    """Raised for a file in a newer format, which only a later version of this package reads."""


def to_checksummed_json(values: Mapping[str, object]) -> bytes:
    """Return values as JSON with a format number and, last, a sha256 of all other entries."""
    assert not {"format", "sha256"} & set(values), "these keys are reserved"
    return add_checksum({"format": FORMAT, **values})


def add_checksum(body: Mapping[str, object]) -> bytes:
    """Return values as JSON with a last entry "sha256", the hash of the JSON without that entry."""
    return to_json({**body, "sha256": hashlib.sha256(to_json(body)).hexdigest()})


def from_checksummed_json(data: bytes, file: Path) -> dict[str, Any]:
    """Parse checksummed JSON, drop its format and sha256; FolderError if altered or too new."""
    values = read_json(data, file)
    written = values.get("format")
    if type(written) is not int or written < 1:
        raise FolderError("names no format", DAMAGED, file=file)
    if written > FORMAT:
        fact = f"has format {written}, and this version reads format {FORMAT} at most"
        raise NewerFormatError(fact, NEWER, file=file)
    expected = values.pop("sha256", None)
    if data != add_checksum(values):
        found = hashlib.sha256(to_json(values)).hexdigest()
        if found == expected:
            raise FolderError("has its values in another spelling or order", DAMAGED, file=file)
        fact = f"is not as it was written: expected sha256 {str(expected)[:64]}, found {found}"
        raise FolderError(fact, DAMAGED, file=file)
    del values["format"]
    return values


Record = TypeVar("Record")
LARGEST = {int: 2**63 - 1, float: sys.float_info.max}


def parse_record(kind: type[Record], values: object) -> Record:
    """Build a dataclass from a JSON object; ValueError for a wrong, unknown or missing field.

    Numbers must be finite and not negative. A field with a default may be missing.
    """
    if not isinstance(values, dict):
        raise ValueError(f"{repr(values)[:40]} is no JSON object")
    hints = typing.get_type_hints(kind)
    for name in values:
        if name not in hints:
            raise ValueError(f"{name[:40]!r} is unknown")
    parsed = {name: parse_field(name, hints[name], value) for name, value in values.items()}
    unset = dataclasses.MISSING
    for field in dataclasses.fields(cast("type[Any]", kind)):
        if field.default is field.default_factory is unset and field.name not in parsed:
            raise ValueError(f"{field.name} is missing")
    return kind(**parsed)


def parse_field(name: str, wanted: Any, value: Any) -> Any:  # noqa: ANN401 - values of JSON
    """Convert a JSON value to the type `wanted` of field `name`; ValueError if it does not fit."""
    if isinstance(wanted, types.UnionType):  # a type or None
        if value is None:
            return None
        wanted = typing.get_args(wanted)[0]
    if dataclasses.is_dataclass(wanted):
        return parse_record(cast("type[Any]", wanted), value)
    if wanted is float and type(value) is int and abs(value) <= LARGEST[int]:
        value = float(value)
    wanted = dict if typing.get_origin(wanted) is Mapping else wanted
    is_number = wanted in (int, float)
    if type(value) is not wanted or (is_number and not 0 <= value <= LARGEST[wanted]):
        raise ValueError(f"{name} is {repr(value)[:40]}")
    return value
