r"""Text files as lines, one at a time: plain, .gz, .xz, .zst, or "-" for standard input.

A line ends at `\n` and nowhere else: U+2028, U+0085, a form feed or a lone `\r` stay inside it. So
the count of lines is that of `wc -l` (and one more where the last newline is missing), and two
files that are parallel stay so. What is not text is the file's dress and is taken off: a mark of
byte order at the start, one `\r` at the end of a line.
"""

import codecs
import gzip
import io
import itertools
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import cast

from transduce.errors import InputError
from transduce.text.alignment_drift import DriftDetector
from transduce.text.zstd import open_zstd

LONGEST_LINE = 1 << 26  # bytes: what has no newline for so long is no text, and must fit in memory
DAMAGED = (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError)


def read_lines(path: Path | str) -> Iterator[str]:
    """The lines of a file without their ends."""
    name = "standard input" if str(path) == "-" else str(path)
    number = 0
    try:
        with opened(path) as file:
            for number, raw in enumerate(raw_lines(file), start=1):
                yield decoded(raw, name, number)
    except DAMAGED as error:
        raise InputError(
            f"cannot be unpacked any further ({error})",
            f"{number} lines were read; the file is cut or damaged: fetch or pack it again",
            file=name,
        ) from error
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror or error})",
            "check the path and its rights",
            file=name,
        ) from error


def read_pairs(source: Path | str, target: Path | str) -> Iterator[tuple[str, str]]:
    """Line i of one file with line i of the other; as many lines must be in both."""
    if str(source) == str(target) == "-":
        raise InputError(
            "both sides cannot come from standard input",
            "name a file for one of them, or give pairs with a tab between the sides",
        )
    pace = DriftDetector()
    both = itertools.zip_longest(read_lines(source), read_lines(target))
    for number, (ours, theirs) in enumerate(both, start=1):
        if ours is None or theirs is None:
            more = number + sum(1 for _ in both)
            counts = (number - 1, more) if ours is None else (more, number - 1)
            raise unequal((source, target), counts, pace)
        pace.see(len(ours), len(theirs))
        yield ours, theirs


def read_pairs_tsv(path: Path | str) -> Iterator[tuple[str, str]]:
    """Pairs from one file: the source, one tab, the target."""
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            count = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
            raise InputError(
                f"{count}, not 2", "a line is source, one tab, target", file=path, line=number
            )
        yield columns[0], columns[1]


def opened(path: Path | str) -> AbstractContextManager[io.BufferedIOBase]:
    """The bytes of a file, unpacked by its suffix."""
    if str(path) == "-":
        return nullcontext(cast("io.BufferedIOBase", sys.stdin.buffer))
    match Path(path).suffix.lower():
        case ".gz":
            return io.BufferedReader(gzip.open(path), buffer_size=1 << 16)
        case ".xz":
            return io.BufferedReader(lzma.open(path), buffer_size=1 << 16)
        case ".zst":
            return open_zstd(Path(path))
    return Path(path).open("rb")


def raw_lines(file: io.BufferedIOBase) -> Iterator[bytes]:
    """Lines of bytes with their newline, the first without a mark of byte order."""
    mark = codecs.BOM_UTF8
    while raw := file.readline(LONGEST_LINE):
        raw = raw.removeprefix(mark)
        mark = b""
        if raw:  # a file with nothing but the mark has no line
            yield raw


def decoded(raw: bytes, name: str, number: int) -> str:
    """The text of one line, or an error that says where it is none."""
    if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
        raise InputError(
            f"no end of line within {LONGEST_LINE >> 20} MiB",
            "is this a text with one sentence a line?",
            file=name,
            line=number,
        )
    line = raw.removesuffix(b"\n").removesuffix(b"\r")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = "UTF-16" if wide else "LATIN1"
        raise InputError(
            f"not UTF-8 (byte {error.start + 1} of the line is 0x{line[error.start]:02X})",
            f"convert it, for example: iconv -f {encoding} -t UTF-8 OLD > NEW",
            file=name,
            line=number,
        ) from None


def unequal(
    files: tuple[Path | str, Path | str], counts: tuple[int, int], pace: DriftDetector
) -> InputError:
    """What is known about two files that cannot be parallel."""
    fact = f"{files[0]} has {counts[0]:,} lines, but {files[1]} has {counts[1]:,}"
    hint = "line i of one file must be the translation of line i of the other"
    if pace.lost:
        hint += f"; look near line {pace.lost}: from there on their lengths do not match"
    return InputError(fact, hint)
