"""A row of the page on reliability: a kind of fault and what is promised for it."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class Row:
    """A kind of fault, with its promise and the names of its tests, relative to `tests/`."""

    number: str
    fault: str
    promise: str
    tests: tuple[str, ...]
    controls: tuple[str, ...]
