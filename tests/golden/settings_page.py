"""Make docs/reference/settings.md from the fields of the settings and from what they refuse."""

import dataclasses
import re
import typing
from collections.abc import Iterator
from typing import Any

from transduce.checkpoint.card import format_markdown_table
from transduce.errors import InputError
from transduce.settings.recipe import GROUPS, Recipe, with_changes

ABOUT = """Made from `settings/` by `scripts/renew-golden pages`; do not edit.

The defaults are the paper's base model, English to German. A section is given where the paper
prints the value; otherwise see [deviations](../internals/deviations.md) for the reason. A range is
what a setting accepts alone; some settings also limit one another. Defaults that are written as
whole numbers take whole numbers only. `transduce recipes show NAME` prints the values of a recipe;
`--set training.steps=20_000` or a [recipe file](formats.md#recipe-files) changes them.
"""
PROBES: dict[type, tuple[Any, ...]] = {
    int: (-1, 0, 1, 2, 10**15),
    float: (-1.0, 0.0, 1.0, 2.0, 1e15),
    str: ("?",),
    bool: (),
}
REFUSALS = (
    (r"must be (odd)(?: and positive)?, not", "0 or {}"),
    (r"must be (.+?), (?:not|it is)", "{}"),
    (r"must lie in (.+), not", "in {}"),
    (r"is one of (.+), not", "{}"),
    (r"is (at most \S+), not", "{}"),
    (r"must not be negative", "0 or more"),
)


def settings_page() -> str:
    """Return the whole page: one table for each noun of a recipe."""
    parts = ["# Settings\n", ABOUT]
    for noun, kind in GROUPS.items():
        title = (kind.__doc__ or "").split("\n")[0]
        parts.append(f"## {noun}\n\n{title}\n\n{table_of(noun, kind)}\n")
    return "\n".join(parts)


def table_of(noun: str, kind: type) -> str:
    """Return the table of one noun: setting, default, range, section, meaning."""
    head = ("setting", "default", "range", "section", "meaning")
    types = typing.get_type_hints(kind)
    rows = [
        (
            f"`{noun}.{field.name}`",
            f"`{written(field.default)}`",
            ", ".join(ranges_of(f"{noun}.{field.name}", types[field.name])) or "any text",
            field.metadata["section"],
            field.metadata["says"],
        )
        for field in dataclasses.fields(kind)
    ]
    return format_markdown_table(head, rows)


def written(value: object) -> str:
    """Return a default as `--set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:_}" if isinstance(value, int) else str(value)


def ranges_of(path: str, kind: type) -> Iterator[str]:
    """Yield what a setting accepts, from the refusals of values that no run could use.

    Both bounds become one phrase, and an upper bound that only keeps out the impossible none.
    """
    if kind is bool:
        yield "true, false"
    phrases = dict.fromkeys(accepted(path, value) for value in PROBES[kind])
    text = ", ".join(phrase for phrase in phrases if phrase)
    text = re.sub(r"at least (\d[\d,]*\b)", r"\1 or more", text.replace("a number of ", ""))
    if kind is int:
        text = text.replace("more than 0", "1 or more")
    text = re.sub(r", at most 1(,000){3,}$", "", text)
    text = re.sub(r"(\d[\d,]*) or more(.*), at most ([\d,]+)", r"\1 to \3\2", text)
    if text or kind is int:
        yield text or "any whole number"


def accepted(path: str, value: Any) -> str:
    """Return what a refusal says about a setting's range; empty if the value passes."""
    try:
        with_changes(Recipe(name="probe"), {path: value})
    except InputError as error:
        about = str(error).split(path, 1)[-1]
        for pattern, phrase in REFUSALS:
            found = re.match(rf"\s*{pattern}", about)
            if found and str(error).startswith(path):
                return phrase.format(*found.groups())
    return ""
