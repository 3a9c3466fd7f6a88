"""Escaping of text for XML, such as SVG."""

import html
import re

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML forbids these


def escape_xml(text: str) -> str:
    """Return a text with &, < and > escaped for XML, and U+FFFD for characters that XML forbids."""
    return html.escape(FORBIDDEN.sub("\ufffd", text), quote=False)
