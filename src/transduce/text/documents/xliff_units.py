"""The units of an XLIFF document, version 1.2 or 2: source, target, and what is translated."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from transduce.errors import InputError
from transduce.text.documents.xml_events import Event
from transduce.text.inline import Kind, Piece
from transduce.text.xml import escape_xml

PAIRS = ("g", "mrk", "pc")  # inline elements that enclose text
UNITS = {"1": "trans-unit", "2": "segment"}  # the element of a unit, by version
UNFINISHED = {
    "1": ("new", "needs-translation", "needs-adaptation", "needs-l10n"),
    "2": ("initial",),
}


@final
@dataclass
class Unit:
    """A unit of an XLIFF document; its elements, such as source, are ranges of event indices."""

    start: int  # the index of its start tag's event
    translated: bool  # whether its text is to be translated
    parts: dict[str, range] = field(default_factory=dict)  # by element: source, seg-source, target


@final
@dataclass(frozen=True)
class Xliff:
    """An XLIFF document: its events, version and units, and the tags for its target language."""

    events: Sequence[Event]
    version: str  # "1" or "2"
    units: list[Unit]
    language_tags: list[int]  # event indices of the start tags that name the target language

    def content(self, unit: Unit, part: str) -> Sequence[Event]:
        """Return the events inside of a unit's element `part`, such as source."""
        inside = unit.parts[part]
        return self.events[inside.start + 1 : inside.stop - 1]

    def is_untranslated(self, unit: Unit) -> bool:
        """Return whether a unit's translation is missing, empty, or in an unfinished state."""
        if "target" not in unit.parts:
            return True
        tag = self.events[unit.parts["target"].start if self.version == "1" else unit.start]
        state = (tag.attributes or {}).get("state")
        return state in UNFINISHED[self.version] or not any(
            event.kind == "start" or event.data.strip() for event in self.content(unit, "target")
        )


def read_xliff(events: Sequence[Event], file: str) -> Xliff:
    """Find the units in an XLIFF document's events; raise InputError if it is not XLIFF 1 or 2."""
    root = next((event for event in events if event.kind == "start"), events[0])
    version = (root.attributes or {}).get("version", "")[:1]
    if root.name != "xliff" or version not in UNITS:
        raise InputError(
            "is no XLIFF of version 1 or 2",
            "name the format that it has, such as --format html",
            file=file,
        )
    holders = ("file",) if version == "1" else ("xliff",)
    files = [
        number
        for number, event in enumerate(events)
        if event.kind == "start" and event.name in holders
    ]
    return Xliff(events, version, list(find_units(events, UNITS[version])), files)


def find_units(events: Sequence[Event], name: str) -> Iterator[Unit]:
    """Yield each unit, an element called `name`, that has a source element."""
    open_tags, wishes = list[int](), [True]  # of open elements: start event; is text translated?
    unit = Unit(0, translated=True)
    for number, event in enumerate(events):
        if event.kind == "start":
            wish = (event.attributes or {}).get("translate")
            wishes.append(wishes[-1] if wish not in ("yes", "no") else wish == "yes")
            open_tags.append(number)
            if event.name == name:
                unit = Unit(number, wishes[-1])
        elif event.kind == "end":
            first = open_tags.pop()
            wishes.pop()
            if open_tags and events[open_tags[-1]].name == name:
                unit.parts.setdefault(event.name, range(first, number + 1))
            if event.name == name and "source" in unit.parts:
                yield unit


def find_pieces(events: Sequence[Event], *, inline: bool) -> list[Piece]:
    """Split the events in a <source> into text and markup; unless `inline`, markup ends sentences.

    Elements that hold native code, such as <ph>, and those that are not to be translated are one
    piece of markup with all that they hold.
    """
    pieces, depth, code = list[Piece](), 0, ""
    kinds = list[Kind]()  # of the open elements' start tags
    for event in events:
        if code or is_code(event):
            code += event.raw
            depth += {"start": 1, "end": -1}.get(event.kind, 0)
            if not depth:
                pieces.append(Piece("empty", code))
                code = ""
        elif event.kind in ("text", "cdata"):
            raw = event.raw if event.kind == "text" else escape_xml(event.data)
            pieces.append(Piece("text", raw))
        elif event.kind == "start":
            kinds.append("boundary" if is_segment(event) else "open")
            pieces.append(Piece(kinds[-1], event.raw, event.name))
        elif event.kind == "end":
            kind: Kind = "close" if kinds.pop() == "open" else "boundary"
            pieces.append(Piece(kind, event.raw, event.name))
    return [one if inline or one.kind == "text" else Piece("boundary", one.raw) for one in pieces]


def is_code(event: Event) -> bool:
    """Return whether an event starts an inline element whose content is not translated."""
    wishes: Mapping[str, str] = event.attributes or {}
    is_excluded = wishes.get("translate") == "no" or wishes.get("mtype") == "protected"
    return event.kind == "start" and (event.name not in PAIRS or is_excluded)


def is_segment(event: Event) -> bool:
    """Return whether an event starts a segment, as <mrk mtype="seg"> does."""
    return (event.attributes or {}).get("mtype") == "seg"
