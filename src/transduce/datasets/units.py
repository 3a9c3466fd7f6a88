"""Translation memories (TMX): units of one sentence in several languages, in XML."""

from collections.abc import Iterator
from typing import cast
from xml.etree import ElementTree as Xml

from transduce.datasets.languages import short
from transduce.datasets.values import Reading
from transduce.errors import InputError

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
OTHER_NAMES = "its languages may go by other names in it: name another corpus"
CODES = {"bpt", "ept", "it", "ph", "ut"}  # markup of the text's own format, not words


def units(languages: tuple[str, str], side: int) -> Reading:
    """One of two languages, of the units that have both; regions are not told apart."""
    wanted = [language.partition("_")[0] for language in languages]

    def read(lines: Iterator[bytes]) -> Iterator[bytes]:
        found = False
        for unit in parsed(lines):
            said = {language_of(one): words(one.find("seg")) for one in unit.iter("tuv")}
            if all(said.get(language) for language in wanted):
                found = True
                yield said[wanted[side]].encode()
        if not found:
            fact = f"no unit of it is in {wanted[0]} and in {wanted[1]}"
            raise InputError(fact, OTHER_NAMES)

    return read


def parsed(lines: Iterator[bytes]) -> Iterator[Xml.Element]:
    """Unit by unit; what was read is forgotten."""
    parser: Xml.XMLPullParser[Xml.Element] = Xml.XMLPullParser(("start", "end"))
    body = Xml.Element("body")
    for line in lines:
        parser.feed(line)
        for event, element in cast("Iterator[tuple[str, Xml.Element]]", parser.read_events()):
            if (event, element.tag) == ("start", "body"):
                body = element
            elif (event, element.tag) == ("end", "tu"):
                yield element
                body.clear()
    parser.close()


def language_of(variant: Xml.Element) -> str:
    """`de` of `DE-AT` and of `deu`."""
    said = variant.get(LANGUAGE) or variant.get("lang") or ""
    return short(said.replace("_", "-").partition("-")[0].lower())


def words(segment: Xml.Element | None) -> str:
    """The text without codes, on one line."""
    return "" if segment is None else " ".join("".join(pieces(segment)).split())


def pieces(element: Xml.Element) -> Iterator[str]:
    """What lies in an element, but not in codes."""
    yield element.text or ""
    for inner in element:
        if inner.tag not in CODES:
            yield from pieces(inner)
        yield inner.tail or ""
