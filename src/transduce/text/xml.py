"""Escaping of text for XML, such as SVG."""

import html
import re
from xml.parsers.expat import errors

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML forbids these

INVALID_TOKEN = errors.codes[errors.XML_ERROR_INVALID_TOKEN]  # a parser's error at a lone &
LONE_HINT = "a lone & is written &amp;, and a lone < is &lt;"
# a reference with more digits than any character has; Python refuses to read over 4,300 digits
LARGE_NUMBER = re.compile("&#0*[1-9][0-9]{7,};?")


def unescape_references(text: str) -> str:
    """Return a text with its character references resolved; those beyond Unicode become U+FFFD."""
    return html.unescape(LARGE_NUMBER.sub("\ufffd", text))


def mask_references(text: str) -> str:
    """Return a text with references to decimal numbers of 8 or more digits as underscores."""
    return LARGE_NUMBER.sub(lambda found: "_" * len(found[0]), text)


def escape_xml(text: str) -> str:
    """Return a text with &, < and > escaped for XML, and U+FFFD for characters that XML forbids."""
    return html.escape(FORBIDDEN.sub("\ufffd", text), quote=False)
