"""Reading an untrusted log by lines, so that long lines, holes and growth do no harm"""

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import final

BLOCK_BYTES = 1 << 20  # bytes read at once; with 8 times as many, each block would take new memory
MAX_LINE_BYTES = 1 << 20  # longer lines are no events; training writes about 300 bytes
UNREADABLE = b"?"  # is not JSON; replaces a line that is too long


@final
@dataclass(frozen=True)
class LineBlock:
    """Some lines of a file, and the file offset where the last whole line ends."""

    lines: bytes
    end: int


def skip_hole(stream: BufferedReader) -> int:
    """Seek past a sparse file's hole, if one is here; return the number of bytes skipped."""
    at, file = stream.tell(), stream.fileno()
    ahead = os.lseek(file, 0, os.SEEK_CUR)  # the stream has buffered more than it returned
    try:
        data = os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:  # ENXIO means that only a hole is left; some file systems have none
        data = os.fstat(file).st_size if error.errno == errno.ENXIO else at
    os.lseek(file, ahead, os.SEEK_SET)
    stream.seek(data)
    return data - at


def read_line_blocks(stream: BufferedReader) -> Iterator[LineBlock]:
    """Yield a file's lines from the stream's position on, in blocks of whole lines.

    Lines that are appended after the call are not read. A line over `MAX_LINE_BYTES` becomes a line
    that is no JSON. A last line without a newline is the last block.
    """
    end, rest = stream.tell(), b""
    left = os.fstat(stream.fileno()).st_size - end
    while left > 0:
        if hole := skip_hole(stream):  # such as a terabyte of zeros that takes no space on the disk
            left, rest = left - hole, UNREADABLE
        if not (block := stream.read(max(0, min(BLOCK_BYTES, left)))):
            break
        left -= len(block)
        lines, newline, tail = (rest + block).rpartition(b"\n")
        if newline:
            end = stream.tell() - len(tail)
            yield LineBlock(lines + newline, end)
        rest = UNREADABLE if len(tail) > MAX_LINE_BYTES else tail
    if rest:
        yield LineBlock(rest, end)
