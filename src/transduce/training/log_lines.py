"""Read the lines of an untrusted log: pipes, endless lines and endless files do no harm."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import final

BLOCK_BYTES = 1 << 23  # the number of bytes read at once
MAX_LINE_BYTES = 1 << 20  # longer lines are no events; training writes about 300 bytes
UNREADABLE = b"?"  # is not JSON; replaces a line that is too long


@final
@dataclass(frozen=True)
class LineBlock:
    """Some lines of a file, and the offset in the file at which the last whole line ends."""

    lines: bytes
    end: int


def read_line_blocks(stream: BufferedReader) -> Iterator[LineBlock]:
    """Yield the file's lines from the stream's position on, in blocks that end with a newline.

    Lines that are appended after the call are not read. A line over `MAX_LINE_BYTES`
    becomes a line that is no JSON. The last line, if it has no newline, is the last block.
    """
    end, rest = stream.tell(), b""
    left = os.fstat(stream.fileno()).st_size - end
    while left > 0 and (block := stream.read(min(BLOCK_BYTES, left))):
        left -= len(block)
        lines, newline, tail = (rest + block).rpartition(b"\n")
        if newline:
            end = stream.tell() - len(tail)
            yield LineBlock(lines + newline, end)
        rest = UNREADABLE if len(tail) > MAX_LINE_BYTES else tail
    if rest:
        yield LineBlock(rest, end)
