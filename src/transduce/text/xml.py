"""Escaping of text for XML, such as SVG."""

import html
import re
from xml.parsers.expat import errors

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML forbids these

INVALID_TOKEN = errors.codes[errors.XML_ERROR_INVALID_TOKEN]  # a parser's error at a lone &
LONE_HINT = "a lone & is written &amp;, and a lone < is &lt;"
LONG_NUMBER = re.compile("&#[0-9]{100,};?")  # Python refuses to read over 4,300 digits


def unescape_references(text: str) -> str:
    """Return a text with its character references resolved.

    References beyond Unicode, or with 100 or more decimal digits, become U+FFFD.
    """
    return html.unescape(LONG_NUMBER.sub("\ufffd", text))


def mask_references(text: str) -> str:
    """Return a text with references to decimal numbers of 100 or more digits as underscores."""
    return LONG_NUMBER.sub(lambda found: "_" * len(found[0]), text)


def escape_xml(text: str) -> str:
    """Return a text with &, < and > escaped for XML, and U+FFFD for characters that XML forbids."""
    return html.escape(FORBIDDEN.sub("\ufffd", text), quote=False)
