"""Read translation memories (TMX): XML whose units each hold a sentence in several languages."""

from collections.abc import Iterator
from typing import cast
from xml.etree import ElementTree as Xml

from transduce.datasets.languages import shorten_code
from transduce.datasets.values import LineReader
from transduce.errors import InputError

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
OTHER_LANGUAGES_HINT = "its languages may go by other names in it: name another corpus"
MARKUP_TAGS = {"bpt", "ept", "it", "ph", "ut"}  # TMX elements of format codes, not of words


def read_tmx(languages: tuple[str, str], side: int) -> LineReader:
    """Build a reader of `languages[side]` in a TMX file; it skips units without both languages."""
    wanted = [language.partition("_")[0] for language in languages]

    def read(lines: Iterator[bytes]) -> Iterator[bytes]:
        found = False
        for unit in parse_units(lines):
            texts = {
                variant_language(one): segment_text(one.find("seg")) for one in unit.iter("tuv")
            }
            if all(texts.get(language) for language in wanted):
                found = True
                yield texts[wanted[side]].encode()
        if not found:
            fact = f"no unit of it is in {wanted[0]} and in {wanted[1]}"
            raise InputError(fact, OTHER_LANGUAGES_HINT)

    return read


def parse_units(lines: Iterator[bytes]) -> Iterator[Xml.Element]:
    """Yield the translation units (<tu>) of a TMX file one by one, in constant memory."""
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


def variant_language(variant: Xml.Element) -> str:
    """Return the two-letter language code of a TMX variant (<tuv>): de for DE-AT and for deu."""
    code = variant.get(LANGUAGE) or variant.get("lang") or ""
    return shorten_code(code.replace("_", "-").partition("-")[0].lower())


def segment_text(segment: Xml.Element | None) -> str:
    """Return the text of a TMX segment (<seg>) without markup, on one line."""
    return "" if segment is None else " ".join("".join(text_fragments(segment)).split())


def text_fragments(element: Xml.Element) -> Iterator[str]:
    """Yield the text inside a TMX element, leaving out the content of its markup elements."""
    yield element.text or ""
    for inner in element:
        if inner.tag not in MARKUP_TAGS:
            yield from text_fragments(inner)
        yield inner.tail or ""
