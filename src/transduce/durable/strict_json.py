"""Strict JSON: the reader refuses repeated keys, NaN, infinite numbers and over 20 levels."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transduce.errors import FolderError

MAX_DEPTH = 20


def to_json(value: object) -> bytes:
    """Serialise a value to indented ASCII JSON bytes that end with a newline."""
    return json.dumps(value, allow_nan=False, indent=1).encode("ascii") + b"\n"


def read_json(data: bytes, file: Path) -> dict[str, Any]:
    """Parse a JSON object strictly; raise FolderError for repeated keys, NaN or deep nesting."""
    try:
        value = json.loads(
            data.decode(), object_pairs_hook=build_unique_dict, parse_constant=refuse_constant
        )
        require_shallow_and_finite(value)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "nested too deep"
        raise FolderError(f"is no JSON that can be used: {reason}", DAMAGED, file=file) from error
    if not isinstance(value, dict):
        raise FolderError("is no JSON object", DAMAGED, file=file)
    return value


DAMAGED = "the file is damaged or was edited: take the folder from its source again"


def build_unique_dict(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dict from key-value pairs; raise ValueError if a key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {repeated!r} stands twice")
    return found


def refuse_constant(name: str) -> None:
    """Raise ValueError for the constants NaN, Infinity and -Infinity, which are not JSON."""
    raise ValueError(f"{name} is no number")


def require_shallow_and_finite(value: object) -> None:
    """Raise ValueError if a parsed value is nested too deep or holds an infinite number."""
    layer: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        if any(isinstance(item, float) and not math.isfinite(item) for item in layer):
            raise ValueError("a number is too large")
        inner = [item for item in layer if isinstance(item, dict | list)]
        layer = [
            part for item in inner for part in (item.values() if isinstance(item, dict) else item)
        ]
    if layer:
        raise ValueError("nested too deep")
