"""Reading of documents: their bytes, within limits, and the parser of each format."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from transduce.errors import InputError, short_repr, suggest_names
from transduce.text.documents.document import Document, Joined, Parse, ParseOptions
from transduce.text.documents.html import parse_html
from transduce.text.documents.plain import parse_text
from transduce.text.documents.po import parse_po
from transduce.text.documents.srt import TIMES, parse_srt
from transduce.text.documents.xliff import parse_xliff
from transduce.text.files import decode_line, display_name, read_bytes
from transduce.text.markup import Links

MAX_BYTES = 16 << 20  # size of the largest document; it is held in memory
MARK = "\ufeff"  # a byte-order mark
HEAD = 1 << 14  # characters of a document that show its format
XLIFF = re.compile(r"(?:<\?[^>]*>\s*)?<xliff\b")
HTML = re.compile(r"(?:<\?[^>]*>\s*)?<(?:!doctype\s+)?html\b", re.IGNORECASE)

FORMATS: Mapping[str, Parse] = {
    "text": parse_text,
    "html": parse_html,
    "po": parse_po,
    "xliff": parse_xliff,
    "srt": parse_srt,
}
SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys((".htm", ".html", ".xhtml"), "html"),
    **dict.fromkeys((".po", ".pot"), "po"),
    **dict.fromkeys((".xlf", ".xliff"), "xliff"),
    ".srt": "srt",
}


def read_document(document: Path | bytes, form: object, options: ParseOptions) -> Document:
    """Parse a document (path, "-" for stdin, or bytes) in the format `form`, such as "po".

    Raises InputError for an unknown format, a document of more than 16 MiB, one that is malformed,
    and one whose first lines show another format.
    """
    if not isinstance(form, str) or form not in FORMATS:
        close = suggest_names(form if isinstance(form, str) else "", FORMATS)
        raise InputError(f"unknown format {short_repr(form)}", close)
    name = "the document" if isinstance(document, bytes) else display_name(document)
    data = document if isinstance(document, bytes) else read_bytes(document, MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise InputError(f"has more than {MAX_BYTES >> 20} MiB", "divide it", file=name)
    text = decode(data, name)
    mark = MARK if text.startswith(MARK) else ""
    shown = detect_format(text.removeprefix(mark))
    if shown not in (form, ""):
        fact = f"is {shown} by its first lines, and is to be read as {form}"
        raise InputError(fact, f"--format {shown}", file=name)
    found = FORMATS[form](text.removeprefix(mark), replace(options, name=name))
    if not mark:
        return found

    def join(translations: Sequence[str], links: Sequence[Links]) -> Joined:
        joined = found.join(translations, links)
        return replace(joined, text=mark + joined.text)

    return replace(found, join=join)


def detect_format(text: str) -> str:
    """Return the format that a document's first lines show, or "" if they show none."""
    head = text[:HEAD].lstrip()
    lines = [line.strip() for line in head.splitlines()]
    first, *others = [one for one in lines if one and not one.startswith("#")] or [""]
    if first.startswith(('msgid "', 'msgctxt "')):
        return "po"
    if first.isdecimal() and any(map(TIMES.fullmatch, others[:1])):
        return "srt"
    if XLIFF.match(head):
        return "xliff"
    return "html" if HTML.match(head) else ""


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8; raise InputError, with `name` and line, for other bytes or a NUL character."""
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8")
        if "\0" not in text:
            return text
    lines = (decode_line(line, name, n) for n, line in enumerate(data.split(b"\n"), start=1))
    return "\n".join(lines)  # `decode_line` raises at the faulty line
