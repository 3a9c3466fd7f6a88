"""Downloads over HTTP that resume after a broken connection."""

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

from transduce.datasets.partial import PartialDownload

CHUNK = 1 << 20
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
DownloadProgress = Callable[[str, int, int], None]  # takes a name, bytes so far, bytes in total


class BrokenError(Exception):
    """An error of a connection or server after which another attempt may succeed."""


class RangeError(BrokenError):
    """The error that the server's file ends before the byte at which the download should resume."""


class RefusedError(Exception):
    """The error that an address does not give the expected file, however often it is tried."""


# HTTP statuses after which another attempt may succeed; all others are final.
STATUS_ERRORS = dict.fromkeys((408, 425, 429, 500, 502, 503, 504), BrokenError)
STATUS_ERRORS[http.client.REQUESTED_RANGE_NOT_SATISFIABLE] = RangeError


@final
@dataclass(frozen=True)
class NetworkSettings:
    """Time limits and numbers of attempts for downloads."""

    seconds: float = 60.0  # time without data after which a connection counts as broken
    slowest: int = 1_024  # minimum bytes per second, mean over `seconds`; slower counts as broken
    attempts: int = 4  # consecutive attempts without progress before giving up
    pause: float = 1.0  # seconds before the second attempt, doubled before each further one


def transfer(
    address: str, part: PartialDownload, network: NetworkSettings, progress: DownloadProgress
) -> None:
    """Download a file; retry broken connections, and give up after attempts without progress."""
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
    with open_response(build_request(address, start, version), network) as answer:
        received, total = read_extent(answer, start, part)
        version = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        with part.append(received, address, version) as add:
            for chunk in read_paced(answer, network):
                add(chunk)
                received += len(chunk)
                progress(part.what.name, received, total)
                if total and received > total:
                    raise RefusedError(f"the server gives more than {total:,} bytes")
    if received < total:
        raise BrokenError(f"the connection ended after {received:,} of {total:,} bytes")


def build_request(address: str, start: int, version: str) -> urllib.request.Request:
    """Build a request for a file from byte `start`, or from 0 if its version has changed."""
    request = urllib.request.Request(address)
    request.add_header("Accept-Encoding", "identity")
    request.add_header("User-Agent", "transduce")
    if start:
        request.add_header("Range", f"bytes={start}-")
        if version and not version.startswith("W/"):  # weak ETags do not identify the bytes
            request.add_header("If-Range", version)
    return request


@contextmanager
def open_response(
    request: urllib.request.Request, network: NetworkSettings
) -> Iterator[http.client.HTTPResponse]:
    """Send a request and open its response; every failure is a BrokenError or RefusedError."""
    if request.type not in ("http", "https"):
        raise RefusedError("is no address of the web")
    try:
        with urllib.request.urlopen(request, timeout=network.seconds) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        error.close()
        raise STATUS_ERRORS.get(error.code, RefusedError)(f"the server answered {error}") from None
    except TimeoutError:
        raise BrokenError(f"the server was silent for {network.seconds:g} seconds") from None
    except urllib.error.URLError as error:
        reason = error.reason.strerror if isinstance(error.reason, OSError) else error.reason
        raise BrokenError(f"no connection ({reason or error.reason})") from None
    except (OSError, http.client.HTTPException) as error:
        raise BrokenError(f"the connection broke off ({type(error).__name__})") from None


def read_extent(
    answer: http.client.HTTPResponse, start: int, part: PartialDownload
) -> tuple[int, int]:
    """Return the byte at which a response begins and the size of the whole file (0: unknown).

    `start` is the byte that was asked for; a response may also begin at byte 0.
    """
    length_header = answer.headers.get("Content-Length") or ""
    length = int(length_header) if length_header.isdecimal() else 0
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
