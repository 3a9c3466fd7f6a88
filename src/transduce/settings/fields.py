"""Dataclass fields of settings that store where a default comes from, and checks of values."""

import dataclasses
import math
import typing
from typing import Any

from transduce.errors import InputError, short_repr

TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
LONGEST_NUMBER = 15  # most digits of an integer that an error message shows


def from_paper(default: Any, section: str, says: str) -> Any:  # noqa: ANN401 - a value of any type
    """Build a dataclass field whose default the paper's `section` gives; `says` paraphrases it."""
    return dataclasses.field(default=default, metadata={"section": section, "says": says})


def our_choice(default: Any, why: str) -> Any:  # noqa: ANN401 - a value of any type
    """Build a dataclass field whose default the paper does not print; `why` explains our choice."""
    return dataclasses.field(default=default, metadata={"section": "", "says": why})


def require(holds: bool, fact: str, hint: str = "") -> None:  # noqa: FBT001 - a call reads as a sentence
    """Raise InputError unless `holds` is true; `fact` states the fault and `hint` the remedy."""
    if not holds:
        raise InputError(fact, hint)


def require_flag(name: str, value: object) -> None:
    """Raise InputError unless the argument called `name` is True or False."""
    require(isinstance(value, bool), f"{name} must be True or False, not {short_repr(value)}")


def require_types(owner: object) -> None:
    """Raise InputError unless each field of `owner` has its type (an int passes for a float).

    An integer must also fit into 64 bits.
    """
    for field in dataclasses.fields(owner):  # type: ignore[arg-type]  # settings are dataclasses
        value, wanted = getattr(owner, field.name), field.type
        fits = type(value) is wanted or (wanted is float and type(value) is int)
        found = format_number(value) if type(value) is int else short_repr(value)
        name = TYPE_NAMES[typing.cast("type", wanted)]
        if type(value) is int and not -(2**63) <= value < 2**63:
            fits, name = False, f"{name} from -2^63 to 2^63 - 1"
        require(fits, f"{field_path(owner, field.name)} must be {name}, not {found}")


def require_positive(owner: object, *names: str) -> None:
    """Raise InputError unless all the named fields of `owner` are above 0."""
    for name in names:
        value = getattr(owner, name)
        require(value > 0, f"{field_path(owner, name)} must be more than 0, not {value}")


def require_at_most(owner: object, most: int | float, *names: str) -> None:
    """Raise InputError if a named field of `owner` is above `most`."""
    for name in names:
        value = getattr(owner, name)
        found = format_number(value)
        require(value <= most, f"{field_path(owner, name)} is at most {most:,}, not {found}")


def require_probability(owner: object, *names: str) -> None:
    """Raise InputError unless all the named fields of `owner` lie in [0, 1)."""
    for name in names:
        value = getattr(owner, name)
        require(0 <= value < 1, f"{field_path(owner, name)} must lie in [0, 1), not {value}")


def format_number(value: int | float) -> str:
    """Format a number as "1,000", "0.1" or, if it is long, "a number of about 20 digits"."""
    if isinstance(value, float):
        return f"{value:g}"
    digits = int(value.bit_length() * math.log10(2)) + 1  # str() refuses numbers of 4,300 digits
    is_short = abs(value) < 10**LONGEST_NUMBER
    return f"{value:,}" if is_short else f"a number of about {digits:,} digits"


def require_one_of(owner: object, name: str, allowed: tuple[str, ...]) -> None:
    """Raise InputError unless the named field of `owner` has one of the allowed values."""
    value = getattr(owner, name)
    known = ", ".join(allowed)
    require(value in allowed, f"{field_path(owner, name)} is one of {known}, not {value[:60]!r}")


def field_path(owner: object, name: str) -> str:
    """Return the name of a field of `owner` for messages, such as training.steps."""
    return f"{type(owner).__name__.lower()}.{name}"
