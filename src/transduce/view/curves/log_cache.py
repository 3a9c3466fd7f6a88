"""Columns of long logs, kept in the user's cache folder so that lines are parsed only once.

A cached file is used if it is intact, if it was written by code that parses as this does, and if
the log still begins with the bytes that were parsed. Later lines are read from the log. A damaged
file or folder costs only time. Nothing is written into the run's folder, because it may be a
stranger's, and a training writes there.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, final

import numpy as np

from transduce.datasets.cache import cache_folder
from transduce.durable.files import atomic_file, ensure_folder
from transduce.durable.folder import open_regular, read_regular
from transduce.errors import TransduceError
from transduce.view.curves.log_part import LogPart, empty_part, join_parts, read_log_part
from transduce.view.curves.run_log import Updates
from transduce.view.curves.update_lines import PATTERN, LogEvent

LEAST_NEW_BYTES = 1 << 24  # columns are written after this many new bytes, parsed in 1/6 second
MAX_FILE_BYTES = 1 << 30  # the columns of 19 million updates
MAX_FILES = 8  # if there are more, the oldest are deleted
VERSION = b"1 " + PATTERN  # raise the number when other values follow from the same lines
CHECKSUM_BYTES = hashlib.sha256().digest_size
CHUNK = 1 << 20


@final
class PrefixCheck:
    """The CRC-32 and the number of a log's first bytes; a sha256 would take twice as long."""

    def __init__(self) -> None:
        self.crc, self.size = 0, 0

    def update(self, content: bytes | memoryview) -> None:
        """Add the log's next bytes."""
        self.crc = zlib.crc32(content, self.crc)
        self.size += len(content)


def read_cached_log(path: Path) -> LogPart:
    """Read a log to its present end, and parse only what its cached columns do not cover."""
    known, prefix = load_part(path)
    part = join_parts([known, read_log_part(path, known.size, prefix.update)])
    is_whole = prefix.size == part.size  # false if a hole or an endless line was passed over
    if is_whole and part.size - known.size >= LEAST_NEW_BYTES:
        with suppress(TransduceError, OSError, RecursionError):
            store_part(path, part, prefix.crc)
    return part


def load_part(path: Path) -> tuple[LogPart, PrefixCheck]:
    """Return a log's cached part and the check of its bytes; an empty part if none is valid."""
    with suppress(TransduceError, OSError):
        cached = cache_path(path)
        if cached.exists():
            known, expected = decode_part(read_regular(cached, MAX_FILE_BYTES))
            prefix = check_prefix(path, known.size)
            if (prefix.crc, prefix.size) == (expected, known.size):
                return known, prefix
    return empty_part(), PrefixCheck()


def cache_path(path: Path) -> Path:
    """Return the file in which a log's columns are cached, named by its absolute path's sha256."""
    name = hashlib.sha256(os.fsencode(path.parent.resolve() / path.name)).hexdigest()
    return cache_folder() / "columns" / name[:32]


def check_prefix(path: Path, size: int) -> PrefixCheck:
    """Return the check of the first `size` bytes of a log, or of all if it has fewer."""
    prefix, buffer = PrefixCheck(), memoryview(bytearray(CHUNK))
    with open_regular(path) as stream:
        while count := stream.readinto(buffer[: min(CHUNK, size - prefix.size)]):
            prefix.update(buffer[:count])
    return prefix


def store_part(path: Path, part: LogPart, crc: int) -> None:
    """Write the columns of a log's whole lines and their CRC-32 to the cache; delete old files."""
    cached = cache_path(path)
    ensure_folder(cached.parent.parent)
    cached.parent.mkdir(mode=0o700, exist_ok=True)
    events = [[event.position, event.values] for event in part.events]
    about = {"size": part.size, "crc": crc, "unreadable": part.unreadable, "events": events}
    columns = [
        getattr(part.updates, field.name).astype("<f8", copy=False) for field in fields(Updates)
    ]
    line = json.dumps(about).encode()
    line += b" " * (-len(line) - 1 & 7) + b"\n"  # the columns begin at a multiple of eight bytes
    pieces: list[bytes | memoryview] = [line, *(memoryview(one).cast("B") for one in columns)]
    if CHECKSUM_BYTES + sum(map(len, pieces)) > MAX_FILE_BYTES:
        return
    with atomic_file(cached) as stream:
        stream.write(checksum(pieces))
        for piece in pieces:
            stream.write(piece)
    for old in sorted(cached.parent.iterdir(), key=lambda file: file.stat().st_mtime)[:-MAX_FILES]:
        old.unlink()


def decode_part(content: bytes) -> tuple[LogPart, int]:
    """Return the part of a log in a cached file and its CRC-32; an empty part if it is damaged."""
    if content[:CHECKSUM_BYTES] != checksum([memoryview(content)[CHECKSUM_BYTES:]]):
        return empty_part(), 0
    end = content.index(b"\n", CHECKSUM_BYTES)
    about: dict[str, Any] = json.loads(content[CHECKSUM_BYTES:end])
    columns = np.frombuffer(memoryview(content)[end + 1 :], "<f8").reshape(len(fields(Updates)), -1)
    events = tuple(LogEvent(position, values) for position, values in about["events"])
    part = LogPart(Updates(*columns), events, about["unreadable"], about["size"], b"")
    return part, about["crc"]


def checksum(pieces: Iterable[bytes | memoryview]) -> bytes:
    """Return the sha256 of `VERSION` and of a cached file's content, which follows it in pieces."""
    digest = hashlib.sha256(VERSION)
    for piece in pieces:
        digest.update(piece)
    return digest.digest()
