"""XLIFF 1.2 and 2: fills in targets that are missing, empty or unfinished.

Everything else keeps its bytes, except states and a missing target language. In version 1.2 a new
target is marked as a machine's: its state is "needs-review-translation" with the qualifier
"mt-suggestion", and the unit is no longer approved. In version 2 the segment's state becomes
"translated". If the placeholders, tags or numbers of source and target differ, an existing
state becomes "initial" instead, and a missing one is not added.

Python's own parser (expat) reads the XML as a list of events, each with its stretch of the
document, so that the document can be cut and never has to be written anew. A document type, which
could define entities, is refused; nothing is ever loaded.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Literal, final
from xml.parsers import expat

from transduce.errors import InputError
from transduce.text.documents.document import Document, Joined, ParseOptions, warn_of_languages
from transduce.text.markup import Kind, Links, Piece, SplitMarkup, split_markup
from transduce.text.placeholders import compare_placeholders
from transduce.text.xml import INVALID_TOKEN, LONE_HINT, escape_xml, unescape_references

ATTRIBUTE = re.compile(r"""(?<!\s)(\s++)([^\s=/>"']++)(\s*+=\s*+)("[^"]*"|'[^']*')""")
TAG_NAME = re.compile(r"<([^\s/>]+)")
LANGUAGE = {"1": "target-language", "2": "trgLang"}  # attribute of the target language, by version
SOURCE_LANGUAGE = {"1": "source-language", "2": "srcLang"}
SUGGESTION = {"state": "needs-review-translation", "state-qualifier": "mt-suggestion"}
PAIRS = ("g", "mrk", "pc")  # inline elements that enclose text
UNITS = {"1": "trans-unit", "2": "segment"}  # the element of a unit, by version
UNFINISHED = {
    "1": ("new", "needs-translation", "needs-adaptation", "needs-l10n"),
    "2": ("initial",),
}
FINISHED = {None, "translated", "reviewed", "signed-off", "final"}  # None: a unit without a state
MAX_DEPTH = 256  # levels of nested elements


@final
@dataclass(frozen=True)
class Event:
    """A start tag, an end tag, text or another piece of an XML document, with its unchanged text.

    A tag such as <x/> is a "start" event with its text and an "end" event whose text is empty.
    """

    kind: Literal["start", "end", "text", "cdata", "other"]
    raw: str
    name: str = ""  # the element's name without its prefix
    # of a start tag, without other namespaces
    attributes: Mapping[str, str] = field(default_factory=dict)
    data: str = ""  # text with its character references resolved


def read_events(document: str, file: str) -> list[Event]:
    """Split an XML document into events that cover its whole text; InputError if malformed."""
    reader = Reader(file)
    data = document.encode("utf-8")
    try:
        reader.parser.Parse(data, True)  # noqa: FBT003 - the parser's signature
    except expat.ExpatError as error:
        fact = f"is not well-formed XML ({expat.ErrorString(error.code)})"
        hint = "`xmllint --noout FILE` checks such files"
        hint = f"{LONE_HINT}; {hint}" if error.code == INVALID_TOKEN else hint
        raise InputError(fact, hint, file=file, line=error.lineno) from None
    ends = [start for start, _ in reader.found[1:]] + [len(data)]
    for number, ((start, event), (following, _)) in enumerate(pairwise(reader.found)):
        if event.kind == "start" and start == following:  # <x/>
            ends[number] = ends[number + 1]
            reader.found[number + 1] = ends[number], reader.found[number + 1][1]
    return [
        Event(one.kind, data[start:end].decode("utf-8"), one.name, one.attributes, one.data)
        for (start, one), end in zip(reader.found, ends, strict=True)
    ]


@final
class Reader:
    """A parser of XML that records every event and the byte offset of its start."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found = list[tuple[int, Event]]()
        self.depth = 0
        self.in_cdata = False
        self.parser = parser = expat.ParserCreate("UTF-8", namespace_separator=" ")
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.StartCdataSectionHandler = lambda: self.mark_cdata(begins=True)
        parser.EndCdataSectionHandler = lambda: self.mark_cdata(begins=False)
        parser.XmlDeclHandler = self.declare
        parser.StartDoctypeDeclHandler = self.refuse_document_type
        parser.DefaultHandler = lambda _: self.add(Event("other", ""))

    def add(self, event: Event) -> None:
        """Record an event at the parser's position."""
        self.found.append((self.parser.CurrentByteIndex, event))

    def build_error(self, fact: str, hint: str) -> InputError:
        """Build an InputError for the line of the XML file that the parser has reached."""
        return InputError(fact, hint, file=self.file, line=self.parser.CurrentLineNumber)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Record a start tag; raise InputError if elements are nested too deeply."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.build_error(f"elements are nested more than {MAX_DEPTH} deep", "")
        plain = {key: value for key, value in attributes.items() if " " not in key}
        self.add(Event("start", "", name.split(" ")[-1], plain))

    def end(self, name: str) -> None:
        """Record an end tag."""
        self.depth -= 1
        self.add(Event("end", "", name.split(" ")[-1]))

    def text(self, data: str) -> None:
        """Record character data as an event: "cdata" inside a CDATA section, else "text"."""
        self.add(Event("cdata" if self.in_cdata else "text", "", data=data))

    def mark_cdata(self, *, begins: bool) -> None:
        """Record the beginning (`begins`) or end of a CDATA section at the parser's position."""
        self.in_cdata = begins
        self.add(Event("other", ""))

    def declare(self, _version: str, encoding: str | None, _standalone: int) -> None:
        """Record the XML declaration; raise InputError if it names an encoding other than UTF-8."""
        if encoding is not None and encoding.lower() != "utf-8":
            fact = f"says that its encoding is {encoding}"
            is_plain = encoding.lower() == "us-ascii"  # which is UTF-8, too
            convert = "" if is_plain else "convert it to UTF-8, and "
            raise self.build_error(fact, f"{convert}change its first line to say UTF-8")
        self.add(Event("other", ""))

    def refuse_document_type(self, *_: object) -> None:
        """Raise InputError for a document type, since its entities could grow or load files."""
        raise self.build_error("has a document type, which could define entities", "take it out")


@final
@dataclass
class Unit:
    """A unit of an XLIFF document: the ranges of event indices of its source, target and so on."""

    start: int  # the index of its start tag's event
    translated: bool  # whether its text is to be translated
    parts: dict[str, range] = field(default_factory=dict)  # by element: source, seg-source, target


@final
@dataclass(frozen=True)
class Xliff:
    """An XLIFF document: its events, version and units, and the tags that name its languages."""

    events: Sequence[Event]
    version: str  # "1" or "2"
    units: list[Unit]
    language_tags: list[int]  # event indices of the start tags that may name the languages

    def content(self, unit: Unit, part: str) -> Sequence[Event]:
        """Return the events inside of a unit's element that is called `part`, such as source."""
        inside = unit.parts[part]
        return self.events[inside.start + 1 : inside.stop - 1]

    def is_untranslated(self, unit: Unit) -> bool:
        """Return whether a unit's translation is missing, empty, or in an unfinished state."""
        if "target" not in unit.parts:
            return True
        tag, holder = self.events[unit.start], self.events[unit.parts["target"].start]
        state = (holder if self.version == "1" else tag).attributes.get("state")
        is_done = is_finished(state, tag.attributes.get("approved"))
        return (state in UNFINISHED[self.version] and not is_done) or not any(
            (event.kind == "start" and not is_segment(event)) or event.data.strip()
            for event in self.content(unit, "target")
        )


def is_finished(state: str | None, approved: str | None) -> bool:
    """Return whether a target is a finished translation, by the attributes `state` and `approved`.

    Unless it is empty, such a target is not translated anew, and its unit is a pair to train on.
    """
    return approved == "yes" or state in FINISHED


Gap = tuple[Unit, SplitMarkup]  # a unit without a translation, and its source's sentences


def parse_xliff(text: str, options: ParseOptions) -> Document:
    """Parse XLIFF into its untranslated sentences and a function that fills them in."""
    found = read_xliff(read_events(text, options.name), options.name)
    wanted = [unit for unit in found.units if unit.translated and found.is_untranslated(unit)]
    gaps = list[Gap]()
    for unit in wanted:
        part = "seg-source" if "seg-source" in unit.parts else "source"
        pieces, language = find_pieces(found.content(unit, part)), options.source_language
        split = split_markup(
            pieces, unescape_references, escape_xml, language, inline=options.inline
        )
        gaps.append((unit, split))
    ends = list(accumulate((len(split.sentences) for _, split in gaps), initial=0))

    def join(translations: Sequence[str], links: Sequence[Links]) -> Joined:
        links = links or [()] * len(translations)
        spans = [slice(*edges) for edges in pairwise(ends)]
        return fill_gaps(found, gaps, [(translations[one], links[one]) for one in spans], options)

    return Document(
        tuple(one for _, split in gaps for one in split.sentences),
        join,
        any(split.has_inline_markup for _, split in gaps),
        kept=sum(unit.translated for unit in found.units) - len(gaps),
        warnings=tuple(dict.fromkeys(find_warnings(found, options))),
    )


def find_warnings(found: Xliff, options: ParseOptions) -> Iterator[str]:
    """Yield a warning for each file's source or target language that is not the model's."""
    for number in found.language_tags:
        attributes = found.events[number].attributes
        source = attributes.get(SOURCE_LANGUAGE[found.version], "")
        target = attributes.get(LANGUAGE[found.version], "")
        yield from warn_of_languages(source, target, options)


def fill_gaps(
    found: Xliff,
    gaps: Sequence[Gap],
    translations: Sequence[tuple[Sequence[str], Sequence[Links]]],
    options: ParseOptions,
) -> Joined:
    """Return the XLIFF text, gaps filled, and a note on each target with other placeholders."""
    written, doubts = [event.raw for event in found.events], list[str]()
    lines = list(accumulate((raw.count("\n") for raw in written), initial=1))
    for (unit, split), (texts, links) in zip(gaps, translations, strict=True):
        both = zip(split.sentences, texts, strict=True)
        doubt = "; ".join(filter(None, (compare_placeholders(*pair) for pair in both)))
        tag = found.events[unit.start]
        if doubt:
            name = tag.attributes.get("id")
            named = "" if name is None else f", {UNITS[found.version]} {name}"
            doubts.append(f"line {lines[unit.start]}{named}: the target {doubt}")
        put_target(found, written, unit, split.join(texts, links))
        if found.version == "1" and tag.attributes.get("approved") == "yes":
            written[unit.start] = set_attributes(tag.raw, {"approved": "no"})
        elif found.version == "2" and ("state" in tag.attributes or not doubt):
            state = "initial" if doubt else "translated"
            written[unit.start] = set_attributes(tag.raw, {"state": state})
    for number in found.language_tags if gaps and options.language else ():
        if LANGUAGE[found.version] not in found.events[number].attributes:
            language = {LANGUAGE[found.version]: options.language}
            written[number] = set_attributes(written[number], language)
    return Joined("".join(written), tuple(doubts))


def put_target(found: Xliff, written: list[str], unit: Unit, content: str) -> None:
    """Write `content` into `written` as a unit's target, which is added if the unit has none.

    `written` is the list of all events' texts and is changed in place. A new target follows the
    source and is indented like it.
    """
    state: Mapping[str, str] = SUGGESTION if found.version == "1" else {}
    if "target" in unit.parts:
        inside = unit.parts["target"]
        tag = re.sub(r"(?<!\s)\s*/>$", ">", written[inside.start])
        written[inside.start] = set_attributes(tag, state) + content
        name = read_tag_name(tag)
        for number in inside[1:]:
            written[number] = ""
        written[inside.stop - 1] = f"</{name}>"
        return
    last = unit.parts.get("seg-source", unit.parts["source"]).stop - 1
    source = unit.parts["source"].start
    name = re.sub("source$", "target", read_tag_name(found.events[source].raw))
    before = "".join(event.raw for event in found.events[max(0, source - 3) : source])
    indent = before[len(before.rstrip()) :]
    tag = set_attributes(f"<{name}>", state)
    written[last] += f"{indent}{tag}{content}</{name}>"


def read_tag_name(tag: str) -> str:
    """Return the name in a tag, namespace prefix included."""
    match = TAG_NAME.match(tag)
    assert match is not None
    return match[1]


def set_attributes(tag: str, values: Mapping[str, str]) -> str:
    """Return a start tag with the attributes in `values` set or added."""
    missing = dict(values)

    def change(match: re.Match[str]) -> str:
        value = missing.pop(match[2], None)
        return match[0] if value is None else f'{match[1]}{match[2]}{match[3]}"{value}"'

    end = len(read_tag_name(tag)) + 1
    close = re.search(r"(?<!\s)\s*/?>$", tag)
    assert close is not None
    attributes = ATTRIBUTE.sub(change, tag[end : close.start()])
    added = "".join(f' {name}="{html.escape(value)}"' for name, value in missing.items())
    return tag[:end] + attributes + added + close[0]


def read_xliff(events: Sequence[Event], file: str) -> Xliff:
    """Find the units in an XLIFF document's events; raise InputError if it is not XLIFF 1 or 2."""
    root = next((event for event in events if event.kind == "start"), events[0])
    version = root.attributes.get("version", "")[:1]
    if root.name != "xliff" or version not in UNITS:
        hint = "name the format that it has, such as --format html"
        raise InputError("is no XLIFF of version 1 or 2", hint, file=file)
    holder = "file" if version == "1" else "xliff"
    tags = [n for n, one in enumerate(events) if one.kind == "start" and one.name == holder]
    return Xliff(events, version, list(find_units(events, UNITS[version])), tags)


def find_units(events: Sequence[Event], name: str) -> Iterator[Unit]:
    """Yield each unit, an element called `name`, that has a source element."""
    # of the open elements: indices of their start events; whether their text is to be translated
    open_tags, wishes = list[int](), [True]
    unit = Unit(0, translated=True)
    for number, event in enumerate(events):
        if event.kind == "start":
            wish = event.attributes.get("translate")
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


def find_pieces(events: Sequence[Event]) -> list[Piece]:
    """Split a <source> into text and markup, with the tags of segments as boundaries.

    An element that holds native code, such as <ph>, or that is not to be translated becomes one
    piece of markup, content included.
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
    return pieces


def is_segment(event: Event) -> bool:
    """Return whether a start tag encloses a segment, as <mrk mtype="seg"> does."""
    return event.attributes.get("mtype") == "seg"


def is_code(event: Event) -> bool:
    """Return whether an event starts an inline element whose content is not translated."""
    attributes = event.attributes
    is_excluded = attributes.get("translate") == "no" or attributes.get("mtype") == "protected"
    return event.kind == "start" and (event.name not in PAIRS or is_excluded)
