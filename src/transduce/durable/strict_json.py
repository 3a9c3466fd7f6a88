"""JSON that means one thing only: what Python's parser lets through is refused here."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transduce.errors import FolderError

DEEPEST = 20


def to_json(value: object) -> bytes:
    """The bytes of a JSON file that people can read too."""
    return json.dumps(value, allow_nan=False, indent=1).encode("ascii") + b"\n"


def read_json(data: bytes, file: Path) -> dict[str, Any]:
    """The object in these bytes; repeated keys, NaN and deep nests are refused."""
    try:
        value = json.loads(
            data.decode(), object_pairs_hook=without_repeats, parse_constant=refuse_constant
        )
        require_plain(value)
    except (ValueError, RecursionError) as fault:
        reason = str(fault) if isinstance(fault, ValueError) else "nested too deep"
        raise FolderError(f"is no JSON that can be used: {reason}", DAMAGED, file=file) from fault
    if not isinstance(value, dict):
        raise FolderError("is no JSON object", DAMAGED, file=file)
    return value


DAMAGED = "the file is damaged or was edited: take the folder from its source again"


def without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys each stand once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {repeated!r} stands twice")
    return found


def refuse_constant(name: str) -> None:
    """NaN and the infinities are no JSON."""
    raise ValueError(f"{name} is no number")


def require_plain(value: object) -> None:
    """Refuse nests deeper than any file of ours, and numbers too large for a float."""
    layer: list[Any] = [value]
    for _ in range(DEEPEST):
        if any(isinstance(item, float) and not math.isfinite(item) for item in layer):
            raise ValueError("a number is too large")
        inner = [item for item in layer if isinstance(item, dict | list)]
        layer = [
            part for item in inner for part in (item.values() if isinstance(item, dict) else item)
        ]
    if layer:
        raise ValueError("nested too deep")
