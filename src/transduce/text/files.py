r"""Text files as lines, one at a time: plain, .gz, .xz, .zst, or "-" for standard input.

A line ends at `\n` only: U+2028, U+0085, a form feed or a lone `\r` stay inside the line. The
number of lines is therefore that of `wc -l` (one more if the last line has no newline), and
parallel files stay parallel. A byte-order mark at the start of a file and one `\r` at the end of a
line are removed, because they are part of the file format and not of the text.
"""

import codecs
import gzip
import io
import lzma
import math
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from difflib import get_close_matches
from itertools import islice, zip_longest
from pathlib import Path, PurePath
from typing import cast, final

from transduce.allowance import require_short_line
from transduce.errors import InputError

# Bounds memory: a file without a newline in 64 MiB is not text and is refused.
MAX_LINE_BYTES = 1 << 26
PART = 1 << 20
# Number of bytes of a .zst file to unpack at once. It is small because 4 bytes can become 128 KiB.
ZSTD_CHUNK = 1 << 9
MAX_WINDOW_BYTES = 1 << 31  # how far back a .zst file may refer; zstd --long=31 needs all of it
# Files count as misaligned when `MisalignmentDetector.surprise` exceeds this, as happens after
# about 20 misaligned pairs, and seldom in aligned files.
THRESHOLD = 8.0
ADDRESS = re.compile("[a-z][a-z0-9]+:/")  # a URL that became a path and so lost a slash
FEWEST_LINES = 20  # fewer lines do not show what a text is
MOST_NAMES = 1_000  # of a folder that are compared with the name of a missing file
DAMAGED = (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError)


def read_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a text file without their line ends; the path "-" is standard input.

    Raises InputError if the file cannot be read, changes meanwhile, or is not UTF-8 text.
    """
    name = display_name(path)
    for number, raw in enumerate(read_byte_lines(path), start=1):
        yield decode_line(raw, name, number)


def read_short_lines(path: Path | str) -> Iterator[str]:
    """Yield lines as `read_lines` does; raise InputError at one that is too long to be encoded."""
    name = display_name(path)
    for number, line in enumerate(read_lines(path), start=1):
        require_short_line(line, number, name)
        yield line


def read_byte_lines(path: Path | str) -> Iterator[bytes]:
    """Yield a file's lines as bytes with line ends; InputError if a plain file changes meanwhile.

    The path "-" is standard input. Packed files (.gz, .xz, .zst) are unpacked.
    """
    count = 0
    reading = explain_read_errors(display_name(path), lambda: f"{count} lines were read; ")
    with reading, open_unpacked(path) as file:
        require_plain(file.peek(HEAD), display_name(path))
        before = describe_state(file)
        for raw in read_stream_lines(file):
            yield raw
            count += 1
        if describe_state(file) != before:
            raise InputError("changed while it was read", "repeat the command", file=path)


def describe_state(file: io.BufferedReader) -> tuple[int, int] | None:
    """Return an open file's size and modification time in ns; None for a pipe or a packed file."""
    if not isinstance(file.raw, io.FileIO):
        return None
    found = os.fstat(file.fileno())
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def read_bytes(path: Path | str, most: int) -> bytes:
    """Return a file's unpacked bytes ("-": standard input); InputError if more than `most`."""
    name = display_name(path)
    with explain_read_errors(name, str), open_unpacked(path) as file:
        require_plain(file.peek(HEAD), name)
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"has more than {most >> 20} MiB", "divide it", file=name)
    return data


@contextmanager
def explain_read_errors(name: str, describe_read: Callable[[], str]) -> Iterator[None]:
    """Context manager that raises InputError, naming `name`, for a damaged or unreadable file.

    If the file is damaged, the hint begins with what `describe_read` returns, such as how many
    lines had been read.
    """
    try:
        yield
    except DAMAGED as error:
        hint = f"{describe_read()}the file is cut or damaged: fetch or pack it again"
        raise InputError(f"cannot be unpacked any further ({error})", hint, file=name) from error
    except OSError as error:
        hint, is_missing = "check the path and its rights", isinstance(error, FileNotFoundError)
        if is_missing and ADDRESS.match(name):
            hint = "texts are read from files: download it first"
        elif is_missing and ("<" in name or "\n" in name):
            hint = "check the path; a document itself is given in Python as bytes: text.encode()"
        elif is_missing and " " in (Path(name).suffix or name):
            hint = (
                "check the path; a sentence goes to standard input: echo 'A dog.' | transduce …, "
                "and in Python into a list: ['A dog.']"
            )
        elif is_missing and (close := find_similar_file(Path(name))):
            hint = f"did you mean {close}?"
        raise InputError(f"cannot be read ({error.strerror or error})", hint, file=name) from error


def find_similar_file(path: Path) -> Path | None:
    """Return the path of the file beside a missing one whose name is most similar, if any is."""
    names = list[str]()
    with suppress(OSError), os.scandir(path.parent) as entries:
        names = [one.name for one in islice(entries, MOST_NAMES) if one.is_file()]
    return next(
        (path.with_name(name) for name in get_close_matches(path.name, names, cutoff=0.8)), None
    )


def display_name(path: Path | str) -> str:
    """Return a path as error messages name it: "standard input" for "-"."""
    return "standard input" if str(path) == "-" else str(path)


def is_file(path: Path) -> bool:
    """Return whether a path names a regular file; False for "-", which is standard input."""
    return str(path) != "-" and path.is_file()


def read_pairs(
    source: Path | str,
    target: Path | str,
    read: Callable[[Path | str], Iterator[str]] = read_lines,
) -> Iterator[tuple[str, str]]:
    """Yield (source line i, target line i) of two files; raise InputError if line counts differ.

    `read` yields the lines of each file.
    """
    if str(source) == str(target) == "-":
        raise InputError(
            "both sides cannot come from standard input",
            "name a file for one of them, or give pairs with a tab between the sides",
        )
    detector = MisalignmentDetector()
    both = zip_longest(read(source), read(target))
    for number, (ours, theirs) in enumerate(both, start=1):
        if ours is None or theirs is None:
            more = number + sum(1 for _ in both)
            counts = (number - 1, more) if ours is None else (more, number - 1)
            names = display_name(source), display_name(target)
            fact = f"{names[0]} has {counts[0]:,} lines, but {names[1]} has {counts[1]:,}"
            hint = "line i of one file must be the translation of line i of the other"
            if line := detector.first_misaligned_line:
                hint += f"; look near line {line}: from there on their lengths do not match"
            raise InputError(fact, hint)
        detector.observe(len(ours), len(theirs))
        yield ours, theirs


OF_LABELS = "--tags reads tokens with labels, whose sentences end with a blank line"


def read_pairs_tsv(
    path: Path | str, columns: tuple[int, int] | None = None, more_hint: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield (source, target) of each line of a tab-separated file; `columns` count from 1.

    Without `columns`, each line must have exactly two columns. Raises InputError for a line with
    other columns; `more_hint`, which names other ways to give pairs, is appended to its hint.
    """
    name = display_name(path)
    hint = f"a line is source, one tab, target{'; ' if more_hint else ''}{more_hint}"
    for number, line in enumerate(read_lines(path), start=1):
        if columns is None:
            yield split_columns(
                line, hint if line or not more_hint else f"{hint}; {OF_LABELS}", name, number
            )
            continue
        found = line.split("\t")
        if len(found) < max(columns):
            fact = f"{count_columns(found)}, and --columns asks for number {max(columns)}"
            raise InputError(fact, "count the columns from 1", file=name, line=number)
        yield found[columns[0] - 1], found[columns[1] - 1]


def split_columns(line: str, hint: str, name: str, number: int) -> tuple[str, str]:
    """Return the (source, target) columns of line `number`; InputError unless it has one tab."""
    columns = line.split("\t")
    if len(columns) != 2:
        raise InputError(f"{count_columns(columns)}, not 2", hint, file=name, line=number)
    return columns[0], columns[1]


def count_columns(columns: Sequence[str]) -> str:
    """Return "1 column", "3 columns" and so on."""
    return "1 column" if len(columns) == 1 else f"{len(columns):,} columns"


def open_unpacked(path: Path | str) -> AbstractContextManager[io.BufferedReader]:
    """Open a file ("-": standard input) as a byte stream, unpacked if .gz, .xz or .zst."""
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed", "leave it open, or name a file")
        stream = sys.stdin.buffer
        if isinstance(stream, io.BufferedReader):
            return nullcontext(stream)
        return nullcontext(io.BufferedReader(cast("io.RawIOBase", stream)))
    match Path(path).suffix.lower():
        case ".gz":
            return io.BufferedReader(gzip.open(path), buffer_size=1 << 16)
        case ".xz":
            return io.BufferedReader(lzma.open(path), buffer_size=1 << 16)
        case ".zst":
            return open_zstd(Path(path))
    return Path(path).open("rb")


def open_zstd(path: Path) -> io.BufferedReader:
    """Open a .zst file as a stream of unpacked bytes that raises EOFError if it is damaged."""
    try:
        import zstandard  # noqa: F401 - an optional dependency
    except ImportError:
        hint = "pip install zstandard, or unpack the file: zstd -d FILE"
        raise InputError("reading .zst needs the package zstandard", hint, file=path) from None
    return io.BufferedReader(ZstdStream(path.open("rb")), buffer_size=1 << 16)


class ZstdStream(io.RawIOBase):
    """A stream of a Zstandard file's unpacked bytes; raises EOFError if the file is damaged."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self.packed = packed
        self.chunks = unpack_frames(packed)
        self.ready = io.BytesIO()  # the last chunk

    def readable(self) -> bool:
        """Return True, because this stream can be read."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with unpacked bytes and return the byte count, 0 at the end of the file."""
        if not len(into):
            return 0
        while not (count := self.ready.readinto(into)):
            self.ready = io.BytesIO()  # frees the last chunk
            if (chunk := next(self.chunks, None)) is None:
                return 0
            self.ready = io.BytesIO(chunk)
        return count

    def close(self) -> None:
        """Close this stream and the packed file under it."""
        self.packed.close()
        super().close()


def unpack_frames(packed: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the unpacked bytes of a Zstandard file's frames, in chunks; EOFError if damaged."""
    import zstandard

    frame, rest = None, b""
    while data := rest or packed.read(ZSTD_CHUNK):
        if frame is None or frame.eof:
            frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).decompressobj()
        try:
            yield frame.decompress(data)
        except zstandard.ZstdError as error:
            raise EOFError(str(error)) from error
        rest = frame.unused_data if frame.eof else b""
    if frame is not None and not frame.eof:
        raise EOFError("the last frame has no end")


def read_stream_lines(file: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield a byte stream's lines with their newlines; drop a byte-order mark at its start.

    A line longer than `MAX_LINE_BYTES` is yielded in parts of that size, which `decode_line`
    refuses.
    """
    mark, most = codecs.BOM_UTF8, min(PART, MAX_LINE_BYTES)
    while raw := file.readline(most):
        if len(raw) == most and not raw.endswith(b"\n"):
            raw = read_long_line(file, raw)
        if len(raw) < MAX_LINE_BYTES:
            raw = raw.removeprefix(mark)
        mark = b""
        if raw:  # empty if the file holds only a byte-order mark, which is not a line
            yield raw


def read_long_line(file: io.BufferedIOBase, part: bytes) -> bytes:
    """Read on after `part` to the line's end or `MAX_LINE_BYTES` in all; return it with `part`."""
    line = io.BytesIO()  # grows in place; `readline` would join parts and need twice the memory
    while part:
        line.write(part)
        at_end = part.endswith(b"\n")
        part = b"" if at_end else file.readline(min(PART, MAX_LINE_BYTES - line.tell()))
    return line.getvalue()


def decode_line(raw: bytes, name: str, number: int) -> str:
    """Return line `number` of a file as a string without its end; InputError unless UTF-8 text.

    Raises InputError for a line that is too long, is not UTF-8, or has a NUL character.
    """
    if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
        fact = f"no end of line within {MAX_LINE_BYTES >> 20} MiB"
        hint = "is this a text with one sentence a line?"
        raise InputError(fact, hint, file=name, line=number)
    line = raw.removesuffix(b"\n").removesuffix(b"\r")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        fact = f"not UTF-8 (byte {error.start + 1} of the line is 0x{line[error.start]:02X})"
        convert = f"iconv -f {guess_encoding(line, number)} -t UTF-8 OLD > NEW"
        hint = f"convert it, for example: {convert}"
        raise InputError(fact, hint, file=name, line=number) from None
    if "\0" in text:
        encoding = guess_encoding(line, number)
        fact = f"a NUL character (byte {line.index(0) + 1} of the line)"
        hint = f"if the text is {encoding[:6]}: iconv -f {encoding} -t UTF-8 OLD > NEW; "
        hint += r"if not: tr -d '\0' < OLD > NEW"
        raise InputError(fact, hint, file=name, line=number)
    return text


def guess_encoding(line: bytes, number: int) -> str:
    """Guess the encoding of line `number`, which is not UTF-8 text; return its name for iconv."""
    if wide := find_wide_encoding(line):
        return wide
    if b"\0" not in line:
        return "LATIN1"
    # BE puts a NUL before each ASCII character, so that line 1 begins with NUL; LE puts it after
    order = "BE" if number == 1 and line.startswith(b"\0") else "LE"
    return ("UTF-32" if b"\0\0\0" in line else "UTF-16") + order


def find_wide_encoding(head: bytes) -> str:
    """Return UTF-32 or UTF-16 if a file begins with that encoding's byte-order mark, else ""."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # LE: UTF-16's mark and a NUL
        return "UTF-32"
    return "UTF-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""


@final
class MisalignmentDetector:
    """A detector that finds, from line lengths, the line where two parallel files stop matching.

    The lengths of a line and its translation have a nearly constant ratio. After a line that is
    missing on one side, line i of one file is no longer the translation of line i of the other,
    and |log(source length / target length)| is larger. `surprise` is a running sum: each pair adds
    this value minus twice its mean over the pairs so far, and the sum never falls below zero
    (Page's CUSUM, 1954). When `surprise` exceeds `THRESHOLD`, the files are taken to be misaligned
    from the line where `surprise` last left zero.
    """

    def __init__(self) -> None:
        self.first_misaligned_line = 0  # counted from 1; 0 if none is known
        self.lines = 0
        self.total = 0.0  # sum over all pairs of |log(source length / target length)|
        self.surprise = 0.0
        self.start = 0  # the line where `surprise` last left zero

    def observe(self, source: int, target: int) -> None:
        """Add a pair's lengths; set `first_misaligned_line` once lengths show a misalignment."""
        if self.first_misaligned_line:
            return
        self.lines += 1
        distance = abs(math.log((source + 5) / (target + 5)))  # + 5: short lines vary most
        usual = (self.total + 1.0) / (self.lines + 4)  # about the mean `distance` so far
        self.total += distance
        if self.surprise == 0:
            self.start = self.lines
        self.surprise = max(0.0, self.surprise + distance - 2 * usual)
        if self.surprise > THRESHOLD:
            self.first_misaligned_line = self.start


HEAD = 512  # number of first bytes that show what a file is
SAVE_AS = "save it as plain text in UTF-8, or as HTML for translate --format html"
UNPACK, OTHER = "unpack it, and name a file that was in it", "name another file"
DOCUMENTS = {  # what a zip archive is, by the end of its name
    ".docx": "a Word document (DOCX)",
    ".xlsx": "an Excel workbook (XLSX)",
    ".pptx": "a PowerPoint presentation (PPTX)",
    ".odt": "an OpenDocument text (ODT)",
    ".epub": "an e-book (EPUB)",
}
BEGINNINGS = (  # first bytes, what such a file is, and what to do with it
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"PK\x05\x06", "an empty zip archive", OTHER),
    (b"%PDF-", "a PDF", "`pdftotext FILE` writes its text"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (such as DOC)", SAVE_AS),
    (b"{\\rtf", "a document in rich text format (RTF)", SAVE_AS),
    (b"\x1f\x8b", "packed by gzip", "unpack it, or give a file whose name ends in .gz"),
    (b"\xfd7zXZ\0", "packed by xz", "unpack it, or give a file whose name ends in .xz"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "unpack it, or give a file whose name ends in .zst"),
    (b"BZh91AY&SY", "packed by bzip2", "unpack it: `bunzip2 FILE`"),
    (b"\x04\x22\x4d\x18", "packed by lz4", "unpack it: `unlz4 FILE`"),
    (b"\x1f\x9d", "packed by compress", "unpack it: `uncompress FILE`"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"\x89PNG\r\n", "a picture (PNG)", OTHER),
    (b"\xff\xd8\xff", "a picture (JPEG)", OTHER),
    (b"PAR1", "a table (Parquet)", "write two of its columns as CSV"),
    (b"SQLite format 3\0", "a database (SQLite)", "write two columns of a table as CSV"),
    (b"\x7fELF", "a program", OTHER),
    (b"version https://git-lfs.", "a pointer of Git LFS", "`git lfs pull` fetches the text"),
)
TAR = 257  # offset of a tar archive's signature
LATEX = re.compile(r"\s*\\(?:documentclass|begin|end|usepackage|(?:sub)*section)\b")
HTML = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
MARKDOWN = re.compile(r"\s*(?:```|~~~|#{1,6} +\S|\[[^\[\]]{1,200}\]: )|.{0,1000}?\]\(")
MARKUP_SUFFIXES = {
    **dict.fromkeys((".tex", ".ltx"), "LaTeX"),
    **dict.fromkeys((".md", ".markdown"), "Markdown"),
    ".csv": "CSV",
}


def require_plain(head: bytes, file: str) -> None:
    """Raise InputError if a file's first bytes are those of another format, such as PDF or zip."""
    for start, kind, hint in BEGINNINGS:
        if head.startswith(start):
            suffix = PurePath(file).suffix.lower()
            if start == b"PK\x03\x04" and suffix in DOCUMENTS:
                kind, hint = DOCUMENTS[suffix], SAVE_AS
            raise InputError(f"is {kind}, not plain text", hint, file=file)
    if head[TAR : TAR + 5] == b"ustar":
        raise InputError("is a tar archive, not plain text", UNPACK, file=file)


def describe_records(lines: Sequence[str]) -> str:
    """Return a phrase if all of 20 or more lines are JSON, or all have a tab; else ""."""
    if len(lines) >= FEWEST_LINES:
        if all("\t" in line.strip() for line in lines):
            return "each line has a tab, as in a file of pairs"
        if all(line.startswith('{"') for line in lines):
            return "each line is JSON"
    return ""


def name_markup(line: str) -> str:
    """Return the markup that a line clearly has: "HTML", "LaTeX" or "Markdown"; "" if none."""
    if HTML.match(line):
        return "HTML"
    if LATEX.match(line):
        return "LaTeX"
    return "Markdown" if MARKDOWN.match(line) else ""
