"""Names files that are given as text and are something else, such as a zip archive or LaTeX."""

import re
from pathlib import PurePath

from transduce.errors import InputError

HEAD = 512  # number of first bytes that show what a file is
SAVE_AS = "save it as plain text in UTF-8, or as HTML for translate --format html"
UNPACK = "unpack it, and name a file that was in it"
DOCUMENTS = {  # zip archives by the ends of their names
    ".docx": "a Word document (DOCX)",
    ".xlsx": "an Excel workbook (XLSX)",
    ".pptx": "a PowerPoint presentation (PPTX)",
    ".odt": "an OpenDocument text (ODT)",
    ".epub": "an e-book (EPUB)",
}
BEGINNINGS = (  # first bytes, what such a file is, and what to do with it
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"PK\x05\x06", "an empty zip archive", "name another file"),
    (b"%PDF-", "a PDF", "`pdftotext FILE` writes its text"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (such as DOC)", SAVE_AS),
    (b"{\\rtf", "a document in rich text format (RTF)", SAVE_AS),
    (b"\x1f\x8b", "packed by gzip", "unpack it, or let its name end in .gz"),
    (b"\xfd7zXZ\0", "packed by xz", "unpack it, or let its name end in .xz"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "unpack it, or let its name end in .zst"),
    (b"BZh91AY&SY", "packed by bzip2", "unpack it: `bunzip2 FILE`"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
)
TAR = 257  # offset of a tar archive's signature
LATEX = re.compile(r"\s*\\(?:documentclass|begin|end|usepackage|(?:sub)*section)\b")
MARKDOWN = re.compile(r"\s*(?:```|~~~|#{1,6} +\S|\[[^\[\]]{1,200}\]: )|.{0,1000}?\]\(")
MARKUP_SUFFIXES = {".tex": "LaTeX", ".ltx": "LaTeX", ".md": "Markdown", ".markdown": "Markdown"}


def require_plain(head: bytes, file: str) -> None:
    """Raise InputError if a file's first bytes say that it is no plain text."""
    for start, kind, hint in BEGINNINGS:
        if head.startswith(start):
            suffix = PurePath(file).suffix.lower()
            if start == b"PK\x03\x04" and suffix in DOCUMENTS:
                kind, hint = DOCUMENTS[suffix], SAVE_AS
            raise InputError(f"is {kind}, not plain text", hint, file=file)
    if head[TAR : TAR + 5] == b"ustar":
        raise InputError("is a tar archive, not plain text", UNPACK, file=file)


def name_markup(line: str) -> str:
    """Return "LaTeX" or "Markdown" if a line of text is clearly that, else ""."""
    if LATEX.match(line):
        return "LaTeX"
    return "Markdown" if MARKDOWN.match(line) else ""
