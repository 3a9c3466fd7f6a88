"""Downloads over HTTP that resume after a broken connection."""

import http.client
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from transduce.datasets.exchange import (
    BrokenError,
    RangeError,
    RefusedError,
    Watchdog,
    open_response,
)
from transduce.datasets.partial import PartialDownload
from transduce.datasets.values import Download
from transduce.errors import short_repr
from transduce.settings.fields import require

CHUNK = 1 << 20
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


def transfer(
    address: str, part: PartialDownload, network: NetworkSettings, progress: DownloadProgress
) -> None:
    """Download a file, retrying broken connections; raise RefusedError after futile attempts."""
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
        version = version if VERSION.fullmatch(version) else ""
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
    """Build the headers to request a file from byte `start`, or all of it if `version` changed."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "transduce"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if version and not version.startswith("W/"):  # weak ETags do not identify the bytes
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
