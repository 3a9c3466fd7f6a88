"""Bytes over HTTP, behind those that are here already."""

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

from transduce.datasets.partial import Partial

CHUNK = 1 << 20
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
Told = Callable[[str, int, int], None]  # what comes, how many bytes are here, and of how many


class BrokenError(Exception):
    """It went wrong on the way; another attempt may do better."""


class BehindTheEndError(BrokenError):
    """The server's file ends before the bytes that were asked for: it is another one."""


class RefusedError(Exception):
    """This address does not give the file."""


# Most of what a server says instead of a file is its last word. After these it may think better.
MEANT = dict.fromkeys((408, 425, 429, 500, 502, 503, 504), BrokenError)
MEANT[http.client.REQUESTED_RANGE_NOT_SATISFIABLE] = BehindTheEndError


@final
@dataclass(frozen=True)
class Network:
    """How much patience to have with it."""

    seconds: float = 60.0  # of silence before a connection counts as broken
    slowest: int = 1_024  # bytes a second; less than that over `seconds` is silence, too
    attempts: int = 4  # that bring nothing but silence
    pause: float = 1.0  # before the second attempt; doubled before each further one


def transfer(address: str, part: Partial, network: Network, told: Told) -> None:
    """Ask again after every break, as long as that brings bytes that were not here before."""
    most, failures = 0, 0
    while True:
        try:
            return ask(address, part, network, told)
        except BrokenError as error:
            if isinstance(error, BehindTheEndError):
                part.forget()
            enough = network.slowest * network.seconds
            failures = 0 if part.size > most + enough else failures + 1
            most = max(most, part.size)
            if failures >= network.attempts:
                raise RefusedError(str(error)) from None
            time.sleep(network.pause * 2 ** (failures - 1) if failures else 0)


def ask(address: str, part: Partial, network: Network, told: Told) -> None:
    """Add what one connection brings."""
    here, version = part.usable(address)
    if here and here == part.what.size:
        return
    with answered(request(address, here, version), network) as answer:
        begun, total = extent(answer, here, part)
        version = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        with part.adding(begun, address, version) as add:
            for chunk in paced(answer, network):
                add(chunk)
                begun += len(chunk)
                told(part.what.name, begun, total)
                if total and begun > total:
                    raise RefusedError(f"the server gives more than {total:,} bytes")
    if begun < total:
        raise BrokenError(f"the connection ended after {begun:,} of {total:,} bytes")


def request(address: str, here: int, version: str) -> urllib.request.Request:
    """For the bytes that are missing, or for all if the file is another one by now."""
    asked = urllib.request.Request(address)
    asked.add_header("Accept-Encoding", "identity")
    asked.add_header("User-Agent", "transduce")
    if here:
        asked.add_header("Range", f"bytes={here}-")
        if version and not version.startswith("W/"):  # a weak name does not tell bytes apart
            asked.add_header("If-Range", version)
    return asked


@contextmanager
def answered(asked: urllib.request.Request, network: Network) -> Iterator[http.client.HTTPResponse]:
    """An open answer; whatever goes wrong until it is closed is of one of two kinds."""
    if asked.type not in ("http", "https"):
        raise RefusedError("is no address of the web")
    try:
        with urllib.request.urlopen(asked, timeout=network.seconds) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        error.close()
        raise MEANT.get(error.code, RefusedError)(f"the server answered {error}") from None
    except TimeoutError:
        raise BrokenError(f"the server was silent for {network.seconds:g} seconds") from None
    except urllib.error.URLError as error:
        reason = error.reason.strerror if isinstance(error.reason, OSError) else error.reason
        raise BrokenError(f"no connection ({reason or error.reason})") from None
    except (OSError, http.client.HTTPException) as error:
        raise BrokenError(f"the connection broke off ({type(error).__name__})") from None


def extent(answer: http.client.HTTPResponse, here: int, part: Partial) -> tuple[int, int]:
    """Where the answer's bytes begin, and how many the whole file has; 0 if nobody says."""
    said = answer.headers.get("Content-Length") or ""
    length = int(said) if said.isdecimal() else 0
    begun, total = 0, length
    if answer.status == http.client.PARTIAL_CONTENT:
        found = RANGE.fullmatch(answer.headers.get("Content-Range") or "")
        if found is None or int(found[1]) != here:
            raise RefusedError("the server answered with another range than it was asked for")
        begun, total = here, here + length if found[2] == "*" else int(found[2])
    known = part.what.size
    if known and total and total != known:
        raise RefusedError(f"the file has {total:,} bytes there, not {known:,}")
    return begun, total or known


def paced(answer: http.client.HTTPResponse, network: Network) -> Iterator[bytes]:
    """The bytes as they come, as long as they do not come too slowly."""
    since, came = time.monotonic(), 0
    while chunk := answer.read1(CHUNK):
        yield chunk
        came += len(chunk)
        passed = time.monotonic() - since
        if passed > network.seconds:
            if came < network.slowest * passed:
                raise BrokenError(f"the server gave {came:,} bytes in {passed:.0f} seconds")
            since, came = time.monotonic(), 0
