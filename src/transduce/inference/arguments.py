"""Checks of arguments of the Python API; errors name the argument and its wrong value."""

from collections.abc import Mapping
from dataclasses import fields

from transduce.errors import InputError, suggest_names


def require_known(name: str, changes: Mapping[str, object], settings: type) -> None:
    """Refuse a call of the method `name` if a keyword in `changes` is no field of `settings`."""
    known = [field.name for field in fields(settings)]
    for key in changes:
        if key not in known:
            raise InputError(f"{name}() has no setting {key!r}", suggest_names(key, known))
