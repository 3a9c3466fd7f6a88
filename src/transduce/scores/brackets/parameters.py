"""EVALB's parameters, such as labels to ignore, labels that are equal, and the limit of errors.

Nearly all published scores, including those of Table 4, were computed with `COLLINS`.
"""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

from transduce.errors import InputError, short_repr, suggest_names
from transduce.text.arguments import read_path
from transduce.text.files import read_lines

LIST_KEYS = {  # keyword of a parameter file -> the field that collects its values
    "DELETE_LABEL": "deleted_labels",
    "DELETE_LABEL_FOR_LENGTH": "labels_without_length",
    "QUOTE_LABEL": "quote_labels",
}
PAIR_KEYS = {"EQ_LABEL": "equal_labels", "EQ_WORD": "equal_words"}
NUMBER_KEYS = {"MAX_ERROR": "max_errors", "CUTOFF_LEN": "cutoff", "LABELED": "labelled"}
COMMENT = "#"
MAX_DIGITS = 9  # an integer in a parameter file has no more


@final
@dataclass(frozen=True)
class BracketParameters:
    """The contents of an EVALB parameter file; the defaults are those of an empty file."""

    name: str
    labelled: bool = True  # LABELED: constituents match only if their labels are equal
    cutoff: int | None = 40  # CUTOFF_LEN: maximum words per sentence in EVALB's 2nd summary
    max_errors: int = 10  # MAX_ERROR: EVALB stops at error number max_errors + 2
    deleted_labels: tuple[str, ...] = ()  # tags of ignored words, labels of ignored brackets
    labels_without_length: tuple[str, ...] = ()  # tags of words that are not counted in the length
    quote_labels: tuple[str, ...] = ()  # tags of quotation marks, see `restore_quotes`
    equal_labels: tuple[tuple[str, str], ...] = ()  # pairs of labels that count as equal
    equal_words: tuple[tuple[str, str], ...] = ()  # pairs of words that count as equal

    @cached_property
    def deleted_constituents(self) -> frozenset[str]:
        """The constituent labels that EVALB ignores: deleted labels, and labels equal to them."""
        both = (*self.equal_labels, *((b, a) for a, b in self.equal_labels))
        equal = (one for one, other in both if other in self.deleted_labels)
        return frozenset({*self.deleted_labels, *equal})


COLLINS = BracketParameters(
    "COLLINS",
    deleted_labels=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    labels_without_length=("-NONE-",),
    equal_labels=(("ADVP", "PRT"),),
)
NEW = replace(
    COLLINS,
    name="new",
    deleted_labels=("TOP", "S1", "-NONE-", ",", ":", "``", "''", ".", "?", "!"),
    quote_labels=("``", "''", "POS", "NN", "CD", "VBZ", ":"),
)
UNLABELLED = replace(COLLINS, name="unlabelled", labelled=False)
PARAMETERS = {parameters.name: parameters for parameters in (COLLINS, NEW, UNLABELLED)}


def is_pair(one: str, other: str, pairs: tuple[tuple[str, str], ...]) -> bool:
    """Return whether two strings are one of the pairs, in either order."""
    return (one, other) in pairs or (other, one) in pairs


def find_parameters(name: str) -> BracketParameters:
    """Return EVALB parameters by name (COLLINS, new, unlabelled) or file; InputError if unknown."""
    if name in PARAMETERS:
        return PARAMETERS[name]
    is_file = os.path.isfile(name)  # noqa: PTH113 - Path refuses a name that is too long
    if name.endswith(".prm") or is_file:
        return read_parameters(read_path("parameters", name))
    hint = f"{suggest_names(name, PARAMETERS)} or a file"
    raise InputError(f"unknown parameters {short_repr(name)}", hint)


def read_parameters(path: Path | str) -> BracketParameters:
    """Read an EVALB parameter file; raise InputError at an unknown keyword or invalid value."""
    found: dict[str, Any] = {"name": Path(path).stem}
    for number, line in enumerate(read_lines(path), start=1):
        if line.startswith(COMMENT) or len(line.rstrip()) < 3:  # EVALB's rule for empty lines
            continue
        keyword, *values = line.split(maxsplit=1)
        try:
            add_parameter(found, keyword, values[0].rstrip() if values else "")
        except ValueError as error:
            raise InputError(
                str(error), "a line is a keyword, spaces, a value", file=path, line=number
            ) from None
    return BracketParameters(**found)


def add_parameter(found: dict[str, Any], keyword: str, value: str) -> None:
    """Set a keyword's field in `found`, or extend it if it is a list; ValueError if invalid."""
    if not value:
        raise ValueError(f"{keyword} has no value")
    if keyword in LIST_KEYS:
        field = LIST_KEYS[keyword]
        found[field] = (*found.get(field, ()), value)
    elif keyword in PAIR_KEYS:
        field, pair = PAIR_KEYS[keyword], tuple(value.split())
        if len(pair) != 2:
            raise ValueError(f"{keyword} takes two values, not {short_repr(value)}")
        found[field] = (*found.get(field, ()), pair)
    elif keyword in NUMBER_KEYS:
        found[NUMBER_KEYS[keyword]] = read_number(keyword, value)
    elif keyword != "DEBUG":
        raise ValueError(f"unknown keyword {short_repr(keyword)}")


def read_number(keyword: str, value: str) -> int | bool:
    """Return a keyword's value as an int, a bool for LABELED; ValueError unless 1 to 9 digits."""
    if not value.isdecimal() or len(value) > MAX_DIGITS:
        raise ValueError(f"{keyword} takes a number, not {short_repr(value)}")
    return int(value) != 0 if keyword == "LABELED" else int(value)
