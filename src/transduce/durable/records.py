"""Frozen dataclasses read back from JSON, with the types and ranges of their fields checked."""

import dataclasses
import functools
import sys
import types
import typing
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar, cast

Record = TypeVar("Record")
LARGEST = {int: 2**63 - 1, float: sys.float_info.max}


def parse_record(kind: type[Record], values: object) -> Record:
    """Build a dataclass from a JSON object; ValueError for a wrong, unknown or missing field.

    Numbers must be finite and not negative. A field with a default may be missing.
    """
    if not isinstance(values, dict):
        raise ValueError(f"{repr(values)[:40]} is no JSON object")
    hints = field_types(cast("Hashable", kind))
    for name in values:
        if name not in hints:
            raise ValueError(f"{name[:40]!r} is unknown")
    parsed = {name: parse_field(name, hints[name], value) for name, value in values.items()}
    unset = dataclasses.MISSING
    for field in dataclasses.fields(cast("type[Any]", kind)):
        if field.default is field.default_factory is unset and field.name not in parsed:
            raise ValueError(f"{field.name} is missing")
    return kind(**parsed)


@functools.cache
def field_types(kind: type[Any]) -> Mapping[str, Any]:
    """Return the type of each field of a dataclass by name."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


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
    if type(value) is not wanted:
        raise ValueError(f"{name} is {repr(value)[:40]}")
    if wanted in (int, float) and not 0 <= value <= LARGEST[wanted]:
        raise ValueError(f"{name} is {repr(value)[:40]}")
    return value
