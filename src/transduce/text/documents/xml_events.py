"""XML as a list of events, each with its stretch of the document.

Python's own parser (expat) finds the events, so that a document can be cut and never has to be
written anew. A document type, which could define entities, is refused; nothing is ever loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, final
from xml.parsers import expat

from transduce.errors import InputError

MAX_DEPTH = 256  # levels of nested elements
Kind = Literal["start", "end", "text", "cdata", "other"]


@final
@dataclass(frozen=True)
class Event:
    """A start tag, an end tag, text or another piece of an XML document, with its unchanged text.

    A tag such as <x/> is a "start" event with its text and an "end" event whose text is empty.
    """

    kind: Kind
    raw: str
    name: str = ""  # the element's name without its prefix
    attributes: Mapping[str, str] | None = None  # of a start tag, by name without its namespace
    data: str = ""  # text with its character references resolved


def read_events(document: str, file: str) -> list[Event]:
    """Return the events of an XML document; joined in order, their `raw` texts are the document."""
    reader = Reader(file)
    data = document.encode("utf-8")
    try:
        reader.parser.Parse(data, True)  # noqa: FBT003 - the parser's signature
    except expat.ExpatError as error:
        fact = f"is not well-formed XML ({expat.ErrorString(error.code)})"
        hint = "`xmllint --noout FILE` checks such files"
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
        """Build an error that names the parser's line."""
        return InputError(fact, hint, file=self.file, line=self.parser.CurrentLineNumber)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Record a start tag; raise InputError if elements are nested too deeply."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.build_error(f"elements are nested more than {MAX_DEPTH} deep", "")
        plain = {key.split(" ")[-1]: value for key, value in attributes.items()}
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
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii"):
            fact = f"says that its encoding is {encoding}"
            raise self.build_error(fact, "convert it to UTF-8, and change its first line")
        self.add(Event("other", ""))

    def refuse_document_type(self, *_: object) -> None:
        """Raise InputError for a document type, since its entities could grow or load files."""
        raise self.build_error("has a document type, which could define entities", "take it out")
