"""Downloads over HTTP that resume after a broken connection.

An unfinished download is two files:

NAME.part         the first bytes of the file
NAME.part.json    the note: the address, and the server's ETag or Last-Modified as the version
"""

import http.client
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.datasets.exchange import (
    BrokenError,
    RangeError,
    RefusedError,
    Watchdog,
    open_response,
)
from transduce.datasets.values import Download
from transduce.durable.files import raise_save_errors, sync, write_atomically, write_some
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError, short_repr
from transduce.settings.fields import require

CHUNK = 1 << 20
NOTE_LIMIT = 1 << 16  # the most bytes of a note
RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")
SIZE = re.compile(r"[0-9]{1,18}")  # a file size; one with more digits is ignored
VERSION = re.compile(r"[\x20-\x7e]{0,1000}")  # an ETag or date that may be sent to the server
DownloadProgress = Callable[[str, int, int], None]  # takes a name, bytes so far, bytes in total


@final
@dataclass(frozen=True)
class NetworkSettings:
    """Limits for downloads: time, speed, number of attempts, and size."""

    seconds: float = 60.0  # a connection without data for this time counts as broken
    slowest: int = 1_024  # minimum bytes per second, mean over `seconds`; slower counts as broken
    attempts: int = 4  # consecutive attempts without progress before giving up
    pause: float = 1.0  # seconds before the second attempt, doubled before each further one
    largest: int = 20_000_000_000  # bytes of a file whose size is not known in advance

    def __post_init__(self) -> None:
        found = short_repr(self.seconds)
        fact = f"the timeout must be a number of seconds up to 86,400, not {found}"
        is_number = isinstance(self.seconds, int | float)
        require(is_number and 0 < self.seconds <= 86_400, fact, "60 is the default")


@final
class PartialDownload:
    """An unfinished download: a file with its first bytes, and a note of address and version."""

    def __init__(self, what: Download, whole: Path) -> None:
        self.what = what
        self.path = whole.with_name(whole.name + ".part")
        self.note = whole.with_name(whole.name + ".part.json")

    @property
    def size(self) -> int:
        """The number of bytes downloaded so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def find_resume_point(self, address: str) -> tuple[int, str]:
        """Return the byte offset to resume the download at, and the version of the bytes so far.

        The version is the server's ETag or Last-Modified, or "" for another address. Without a
        version the offset is 0, unless the checksum of the whole file is known.
        """
        version = ""
        with suppress(FolderError, KeyError):  # without a note that can be read
            note = from_checksummed_json(read_regular(self.note, NOTE_LIMIT), self.note)
            version = str(note["version"]) if note["address"] == address else ""
        return (self.size if version or self.what.has_checksum else 0), version

    @contextmanager
    def append(self, start: int, address: str, version: str) -> Iterator[Callable[[bytes], None]]:
        """Context manager: cut the file to `start` bytes, and yield a function to append bytes.

        The note is written first, with `address` and `version`.
        """
        write_atomically(self.note, to_checksummed_json({"address": address, "version": version}))
        with raise_save_errors(self.path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o666)

        def add(chunk: bytes) -> None:
            rest = memoryview(chunk)
            with raise_save_errors(self.path):
                while rest:
                    rest = rest[write_some(descriptor, rest) :]

        try:
            with raise_save_errors(self.path):
                os.ftruncate(descriptor, start)
                os.lseek(descriptor, start, os.SEEK_SET)
            yield add
        finally:
            with raise_save_errors(self.path):
                try:
                    sync(descriptor)
                finally:
                    os.close(descriptor)

    def delete(self) -> None:
        """Delete the partial file and the JSON note beside it."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def transfer(
    address: str, part: PartialDownload, network: NetworkSettings, progress: DownloadProgress
) -> None:
    """Download a file, retrying broken connections; raise RefusedError after too many failures."""
    most, failures = 0, 0
    while True:
        try:
            return transfer_once(address, part, network, progress)
        except BrokenError as error:
            if isinstance(error, RangeError):
                part.delete()
            enough = network.slowest * network.seconds
            failures = 0 if part.size > most + enough else failures + 1
            most = max(most, part.size)
            if failures >= network.attempts:
                raise RefusedError(str(error)) from None
            time.sleep(network.pause * 2 ** (failures - 1) if failures else 0)


def transfer_once(
    address: str, part: PartialDownload, network: NetworkSettings, progress: DownloadProgress
) -> None:
    """Make one HTTP request and append the bytes of its response to a partial download."""
    start, version = part.find_resume_point(address)
    if start and start == part.what.size:
        return
    watchdog = Watchdog(network.seconds)
    with open_response(address, build_headers(start, version), watchdog) as answer:
        received, total = read_extent(answer, start, part)
        require_within_limit(total, part.what, network)
        version = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        if not VERSION.fullmatch(version) or version.startswith("W/"):
            version = ""  # weak ETags do not identify the bytes
        with part.append(received, address, version) as add:
            for chunk in read_paced(answer, network):
                watchdog.extend()
                add(chunk)
                received += len(chunk)
                progress(part.what.name, received, total)
                if total and received > total:
                    raise RefusedError(f"the server gives more than {total:,} bytes")
                require_within_limit(received, part.what, network)
            watchdog.finish()  # writing the last bytes depends on this machine only
    if received < total:
        raise BrokenError(f"the connection ended after {received:,} of {total:,} bytes")


def build_headers(start: int, version: str) -> dict[str, str]:
    """Build headers that ask for a file from `start`, or for all of it if `version` is outdated."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "transduce"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if version:
            headers["If-Range"] = version
    return headers


def read_extent(
    answer: http.client.HTTPResponse, start: int, part: PartialDownload
) -> tuple[int, int]:
    """Return the byte offset where a response begins, and the whole file's size (0: unknown).

    `start` is the byte that was asked for; a response may also begin at byte 0.
    """
    stated = answer.headers.get("Content-Length") or ""
    length = int(stated) if SIZE.fullmatch(stated) else 0
    received, total = 0, length
    if answer.status == http.client.PARTIAL_CONTENT:
        found = RANGE.fullmatch(answer.headers.get("Content-Range") or "")
        if found is None or int(found[1]) != start:
            raise RefusedError("the server answered with another range than it was asked for")
        received, total = start, start + length if found[2] == "*" else int(found[2])
    known = part.what.size
    if known and total and total != known:
        raise RefusedError(f"the file has {total:,} bytes there, not {known:,}")
    return received, total or known


def require_within_limit(count: int, what: Download, network: NetworkSettings) -> None:
    """Raise RefusedError if a file of unknown size has more bytes than the limit for such files."""
    if not what.size and count > network.largest:
        raise RefusedError(
            f"has more than {network.largest / 1e9:g} GB, and its size is not known: --limit "
            "allows more"
        )


def read_paced(answer: http.client.HTTPResponse, network: NetworkSettings) -> Iterator[bytes]:
    """Yield a response's bytes in chunks; raise BrokenError if they arrive too slowly."""
    since, came = time.monotonic(), 0
    while chunk := answer.read1(CHUNK):
        yield chunk
        came += len(chunk)
        passed = time.monotonic() - since
        if passed > network.seconds:
            if came < network.slowest * passed:
                raise BrokenError(f"the server gave {came:,} bytes in {passed:.0f} seconds")
            since, came = time.monotonic(), 0
