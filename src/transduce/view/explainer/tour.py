"""A user's own tour, a JSON file with a title, a text and a link into the page for each step."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

from transduce.durable.json import parse_json
from transduce.durable.records import parse_record
from transduce.errors import InputError
from transduce.text.files import read_bytes

MAX_STEPS, MAX_BYTES = 200, 1 << 20
HINT = 'a list of {"title": "…", "text": "…", "link": "#p=cross&l=2"}, the link as the page has it'


@final
@dataclass(frozen=True)
class TourStep:
    """A step of a tour: what it says, and the link that opens the page at it."""

    title: str
    text: str
    link: str = ""  # the page's address from its "#" on; what is before it is ignored


def read_tour(path: Path) -> list[dict[str, str]]:
    """Read the steps of a tour from a JSON file; raise InputError for what is no tour."""
    data = read_bytes(path, MAX_BYTES)
    try:
        steps = parse_json(data)
        if not isinstance(steps, list) or not 0 < len(steps) <= MAX_STEPS:
            raise ValueError(f"it has not 1 to {MAX_STEPS} steps")
        return [asdict(parse_record(TourStep, step)) for step in steps]
    except ValueError as error:
        raise InputError(f"is no tour: {error}", HINT, file=path) from error
