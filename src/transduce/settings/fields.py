"""Fields that know their source: the section of the paper, or our reason where it is silent."""

import dataclasses
from typing import Any

from transduce.errors import InputError


def stated(default: Any, section: str, says: str) -> Any:  # noqa: ANN401 - stands for any field
    """A field whose default the paper prints; `says` is the paper's sentence in our words."""
    return dataclasses.field(default=default, metadata={"section": section, "says": says})


def chosen(default: Any, why: str) -> Any:  # noqa: ANN401 - stands for any field
    """A field on which the paper is silent; `why` is the reason for our default."""
    return dataclasses.field(default=default, metadata={"section": "", "says": why})


def require(holds: bool, fact: str, hint: str = "") -> None:  # noqa: FBT001 - reads as a sentence
    """Refuse a value that no run could use."""
    if not holds:
        raise InputError(fact, hint)


def require_positive(owner: object, *names: str) -> None:
    """Refuse zero and less."""
    for name in names:
        value = getattr(owner, name)
        require(value > 0, f"{field_path(owner, name)} must be more than 0, not {value}")


def require_at_most(owner: object, most: int, *names: str) -> None:
    """Refuse what no machine could hold, before one tries."""
    for name in names:
        value = getattr(owner, name)
        require(value <= most, f"{field_path(owner, name)} is at most {most:,}, not {value:,}")


def require_share(owner: object, *names: str) -> None:
    """Refuse what is no probability below 1."""
    for name in names:
        value = getattr(owner, name)
        require(0 <= value < 1, f"{field_path(owner, name)} must lie in [0, 1), not {value}")


def require_one_of(owner: object, name: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that means nothing here."""
    value = getattr(owner, name)
    known = ", ".join(allowed)
    require(value in allowed, f"{field_path(owner, name)} is one of {known}, not {value!r}")


def field_path(owner: object, name: str) -> str:
    """The name that `--set` knows a field by: training.steps."""
    return f"{type(owner).__name__.lower()}.{name}"
