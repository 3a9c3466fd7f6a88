"""What a user may bring to the explainer's page: its words in another language, a tour."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from transduce.durable.json import parse_json, parse_record
from transduce.errors import InputError
from transduce.text.files import read_bytes
from transduce.view.page.document import Texts, read_part, read_texts, texts_file

PAGE, ENGLISH, OWN_TOUR = "explainer", "en", "explainer/tour.json"
MAX_BYTES, NAMED = 1 << 20, 3
MAX_STEPS = 200  # of a tour
TOUR_HINT = (
    'a list of {"title": "…", "text": "…", "link": "#p=cross&l=2"}, the link as the page has it'
)
CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
VALUE = re.compile(r"\{\w\}")  # a placeholder, such as {0}


def choose_page_texts(language: str, file: Path | None) -> tuple[str, dict[str, Texts]]:
    """Return the language of a page, "" if the reader's browser chooses, and texts by language.

    `language` is a code whose texts the package has; a file has the texts of the language that its
    name gives.
    """
    brought = read_texts(PAGE)
    if file is not None:
        if language:
            fact = f"a file of texts and the language {language!r} exclude each other"
            raise InputError(fact, "leave one of them out")
        return file.stem, {file.stem: read_texts_file(file, brought["de"])}
    if language and language not in (ENGLISH, *brought):
        known = ", ".join((ENGLISH, *brought))
        hint = f"known: {known}; a file has another one: --texts {language}.json"
        raise InputError(f"the page has no language {language!r}", hint)
    return language, {code: brought[code] for code in brought if language in ("", code)}


def read_texts_file(file: Path, wanted: Texts) -> Texts:
    """Read a file of texts, {English: translation}; raise InputError if it lacks one of `wanted`.

    A text that the page lacks is also refused, and a translation without its text's placeholders.
    """
    hint = f"{texts_file(PAGE, 'de')} has each text of the page; translate its right side"
    if not CODE.fullmatch(file.stem):
        raise InputError("its name is no code of a language", "fr.json for French", file=file)
    try:
        found = parse_json(read_bytes(file, MAX_BYTES))
        if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
            raise ValueError("not an object of texts")
    except ValueError as error:
        raise InputError(f"has no texts of the page: {error}", hint, file=file) from error
    missing = [text for text in wanted if not found.get(text, "").strip()]
    unknown = [text for text in found if text not in wanted]
    places = [
        text
        for text in wanted
        if text not in missing and {*VALUE.findall(text)} != {*VALUE.findall(found[text])}
    ]
    faults = {"lacks": missing, "has unknown": unknown, "leaves out a value of": places}
    for fact, texts in faults.items():
        if texts:
            raise InputError(f"{fact} {name_texts(texts)}", hint, file=file)
    return {text: found[text] for text in wanted}


def name_texts(texts: list[str]) -> str:
    """Return the first three texts in quotes, and how many others there are."""
    named = ", ".join(repr(text) for text in texts[:NAMED])
    return named if len(texts) <= NAMED else f"{named} and {len(texts) - NAMED:,} more"


@final
@dataclass(frozen=True)
class TourStep:
    """A step of a tour: its title and text, and a link that opens the page at its place."""

    title: str
    text: str
    link: str = ""  # the page's address from its "#" on; what is before it is ignored


def read_tour(path: Path | None) -> list[dict[str, Any]]:
    """Read the steps of a tour from a JSON file, or the page's own; raise InputError if unfit."""
    if path is None:
        return parse_json(read_part(OWN_TOUR).encode())
    data = read_bytes(path, MAX_BYTES)
    try:
        steps = parse_json(data)
        if not isinstance(steps, list) or not 0 < len(steps) <= MAX_STEPS:
            raise ValueError(f"it has not 1 to {MAX_STEPS} steps")
        found = [parse_record(TourStep, step) for step in steps]
        for number, step in enumerate(found, start=1):
            if step.link and "#" not in step.link:
                raise ValueError(f"the link of step {number} has no #, and names no place")
        return [asdict(step) for step in found]
    except ValueError as error:
        raise InputError(f"is no tour: {error}", TOUR_HINT, file=path) from error
