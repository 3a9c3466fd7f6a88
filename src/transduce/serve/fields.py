"""Checks the fields of translation requests; all errors are refusals that name the field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from transduce.serve.limits import Limits
from transduce.serve.refusal import bad_request, too_large

FORMATS = ("text", "html")


@final
@dataclass(frozen=True)
class TranslationFields:
    """A checked translation request: texts, languages, format, and the details to return."""

    texts: tuple[str, ...] = field(repr=False)
    is_list: bool
    source: str
    target: str
    format: str = "text"
    alternatives: int = 0
    detail: bool = False
    prefix: str | None = field(default=None, repr=False)


def check_translation(fields: Mapping[str, Any], limits: Limits) -> TranslationFields:
    """Return the fields of `POST /translate`; refuse missing, invalid and too large ones."""
    texts = fields.get("q")
    if texts is None:
        raise bad_request("Invalid request: missing q parameter")
    is_list = isinstance(texts, list)
    chosen = TranslationFields(
        check_texts(texts if isinstance(texts, list) else [texts], limits),
        is_list,
        check_text(fields, "source"),
        check_text(fields, "target"),
        check_text(fields, "format", "text"),
        check_count(fields, "alternatives", limits.alternatives),
        check_flag(fields, "detail"),
        check_text(fields, "prefix", "") or None,
    )
    if chosen.format not in FORMATS:
        raise bad_request("format must be text or html")
    if chosen.prefix and (len(chosen.texts) != 1 or chosen.format != "text"):
        raise bad_request("prefix is for a single text that is not HTML")
    return chosen


def check_texts(texts: list[Any], limits: Limits) -> tuple[str, ...]:
    """Return a request's texts as a tuple; refuse too many, too long ones, and non-strings."""
    if len(texts) > limits.texts:
        raise too_large(f"{len(texts)} texts, and a request may have {limits.texts}")
    for text in texts:
        if not isinstance(text, str):
            raise bad_request("q must be a string or a list of strings")
        if len(text) > limits.characters:
            raise too_large(
                f"a text of {len(text):,} characters, and one may have {limits.characters:,}"
            )
    return tuple(texts)


def check_text(fields: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return the string field `name`, or `default`; refuse its absence without a default."""
    value = fields.get(name, default)
    if value is None:
        raise bad_request(f"Invalid request: missing {name} parameter")
    if not isinstance(value, str):
        raise bad_request(f"{name} must be a string")
    return value


def check_count(fields: Mapping[str, Any], name: str, most: int) -> int:
    """Return the field `name` as an int from 0 (default) to `most`; a form gives it as text."""
    value = fields.get(name, 0)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise bad_request(f"{name} must be a number of 0 or more")
    if value > most:
        raise bad_request(f"{name} must be at most {most}")
    return value


def check_flag(fields: Mapping[str, Any], name: str) -> bool:
    """Return the field `name` as a bool, by default False; a form gives it as text."""
    value = fields.get(name, False)
    known = {"true": True, "1": True, "false": False, "0": False, "": False}
    value = known.get(value, value) if isinstance(value, str) else value
    if not isinstance(value, bool):
        raise bad_request(f"{name} must be true or false")
    return value
