"""Downloads over http or https that resume after a broken connection.

An unfinished download is two files:

NAME.part         the first bytes of the file
NAME.part.json    the note: the address, and the server's ETag or Last-Modified as the version

Each attempt is one exchange with the server, with a time limit that no server can stretch.
"""

import http.client
import os
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, final
from urllib.parse import urlsplit

from transduce.datasets.values import Download
from transduce.durable.files import raise_save_errors, sync, write_atomically, write_some
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError, short_repr, shorten
from transduce.settings.fields import require

PROTOCOLS = ("http", "https")
CHUNK = 1 << 20
NOTE_LIMIT = 1 << 16  # the most bytes of a note
RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")
SIZE = re.compile(r"[0-9]{1,18}")  # a file size; one with more digits is ignored
VERSION = re.compile(r"[\x20-\x7e]{0,1000}")  # an ETag or date that may be sent to the server
LONGEST_REASON = 160  # the most characters of a server's reason that an error message shows
CHECKS = 10  # how often a watchdog checks an exchange within its time limit
DownloadProgress = Callable[[str, int, int], None]  # takes a name, bytes so far, bytes in total


class BrokenError(Exception):
    """Raised when a connection or a server fails, and another attempt may succeed."""


class RangeError(BrokenError):
    """Raised when the server's file ends before the byte where the download should resume."""


class RefusedError(Exception):
    """Raised when an address does not give the expected file, and retrying is useless."""


# The error for each HTTP status that another attempt may cure; all other statuses are final.
STATUS_ERRORS: Mapping[int, type[Exception]] = MappingProxyType(
    dict.fromkeys((408, 425, 429, 500, 502, 503, 504), BrokenError)
    | {http.client.REQUESTED_RANGE_NOT_SATISFIABLE: RangeError}
)


@final
@dataclass(frozen=True)
class NetworkSettings:
    """Limits for downloads: time, speed, number of attempts, the pause between them, and size."""

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
        """Return the byte offset to resume at, and the server's version of the bytes ("": unknown).

        The version is the server's ETag or Last-Modified, or "" if unknown or from another address.
        Without a version the offset is 0, unless the checksum of the whole file is known.
        """
        version = ""
        with suppress(FolderError, KeyError):  # if no note can be read
            note = from_checksummed_json(read_regular(self.note, NOTE_LIMIT), self.note)
            version = str(note["version"]) if note["address"] == address else ""
        return (self.size if version or self.what.has_checksum else 0), version

    @contextmanager
    def append(self, start: int, address: str, version: str) -> Iterator[Callable[[bytes], None]]:
        """Context manager: write the note, cut the file to `start`, yield a function that appends.

        SaveError, also at exit, if the disk fails.
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
    """Download into `part`, retrying broken connections; RefusedError after too many failures."""
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
    """Make one HTTP request and append the answer to `part`; BrokenError if it is cut off."""
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
            watchdog.has_ended.set()  # writing the last bytes depends on this machine only
    if received < total:
        raise BrokenError(f"the connection ended after {received:,} of {total:,} bytes")


def build_headers(start: int, version: str) -> dict[str, str]:
    """Return headers that ask for bytes from `start` on, or for all if `version` is outdated."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "transduce"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if version:
            headers["If-Range"] = version
    return headers


def read_extent(
    answer: http.client.HTTPResponse, start: int, part: PartialDownload
) -> tuple[int, int]:
    """Return (first byte's offset, file size or 0); RefusedError for an unwanted range or size.

    `start` is the byte that was asked for; a response may also begin at byte 0.
    """
    stated = answer.headers.get("Content-Length") or ""
    length = int(stated) if SIZE.fullmatch(stated) else 0
    first, total = 0, length
    if answer.status == http.client.PARTIAL_CONTENT:
        found = RANGE.fullmatch(answer.headers.get("Content-Range") or "")
        if found is None or int(found[1]) != start:
            raise RefusedError("the server answered with another range than it was asked for")
        first, total = start, start + length if found[2] == "*" else int(found[2])
    known = part.what.size
    if known and total and total != known:
        raise RefusedError(f"the file has {total:,} bytes there, not {known:,}")
    return first, total or known


def require_within_limit(count: int, what: Download, network: NetworkSettings) -> None:
    """Raise RefusedError if `count` bytes of a file of unknown size are over `network.largest`."""
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


@final
class Watchdog:
    """A limit on the time without progress; when it has passed, all connections are cut.

    A socket's timeout starts again with every byte. A server that sends one byte at a time, in
    headers or between chunks, would never reach it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.has_expired = False
        self.has_ended = threading.Event()
        self.sockets: list[socket.socket] = []

    def connect(self, *arguments: Any, **options: Any) -> socket.socket:  # noqa: ANN401
        """Open a connection by `socket.create_connection`, and store it, so that it can be cut."""
        found = socket.create_connection(*arguments, **options)
        self.sockets.append(socket.socket(fileno=os.dup(found.fileno())))
        return found

    def extend(self) -> None:
        """Restart the time limit, because there was progress."""
        self.deadline = time.monotonic() + self.seconds

    def watch(self) -> None:
        """Wait for the end of the exchange; cut all connections if the deadline comes first."""
        while not self.has_ended.wait(self.seconds / CHECKS):
            if time.monotonic() > self.deadline:
                self.has_expired = True
                for one in tuple(self.sockets):
                    with suppress(OSError):
                        one.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Context manager that watches the connections in another thread."""
        thread = threading.Thread(target=self.watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.has_ended.set()
            thread.join()
            for one in self.sockets:
                one.close()


@final
class LimitedHandler(urllib.request.HTTPSHandler):
    """Handler of http and https addresses whose connections a watchdog may cut."""

    http_request = urllib.request.HTTPSHandler.https_request

    def __init__(self, watchdog: Watchdog) -> None:
        super().__init__()
        self.watchdog = watchdog

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Return the response from an http address, by a connection that the watchdog may cut."""
        return self.do_open(partial(self.build_connection, http.client.HTTPConnection), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Return the response from an https address, by a connection that the watchdog may cut."""
        return self.do_open(partial(self.build_connection, http.client.HTTPSConnection), req)

    def build_connection(
        self,
        kind: type[http.client.HTTPConnection],
        host: str,
        **options: Any,  # noqa: ANN401
    ) -> http.client.HTTPConnection:
        """Return a connection to a host, which the watchdog opens and may cut."""
        found = kind(host, **options)
        found._create_connection = self.watchdog.connect  # type: ignore[attr-defined]  # noqa: SLF001
        return found


@final
class WebRedirects(urllib.request.HTTPRedirectHandler):
    """Handler of redirects that follows only those to http and https addresses."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: Any,  # noqa: ANN401 - a response, which urllib declares as a file
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the request to a redirect's address; RefusedError unless it is http(s)."""
        fp.close()  # else the caller reads the redirect's body to its end, however long
        if urlsplit(newurl).scheme not in PROTOCOLS:
            raise RefusedError("the server leads to what is no address of the web")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def open_response(
    address: str, headers: Mapping[str, str], watchdog: Watchdog
) -> Iterator[http.client.HTTPResponse]:
    """Context manager: yield the response to a request; BrokenError or RefusedError on failure."""
    try:
        with watchdog.running():
            with send_request(address, headers, watchdog) as answer:
                yield answer
            if watchdog.has_expired:
                raise TimeoutError
    except (BrokenError, RefusedError):
        if watchdog.has_expired:
            raise silent_error(watchdog) from None
        raise
    except urllib.error.HTTPError as error:
        error.close()
        fact = f"the server answered {shorten_reason(error)}"
        raise STATUS_ERRORS.get(error.code, RefusedError)(fact) from None
    except (OSError, http.client.HTTPException) as error:
        raise broken_error(error, watchdog) from None


def send_request(
    address: str, headers: Mapping[str, str], watchdog: Watchdog
) -> http.client.HTTPResponse:
    """Send a request and return the response; RefusedError if an address is malformed."""
    try:
        if urlsplit(address).scheme not in PROTOCOLS:
            raise RefusedError("is no address of the web")
        opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            LimitedHandler(watchdog),
            WebRedirects(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
        ):
            opener.add_handler(handler)
        request = urllib.request.Request(address, headers=dict(headers))
        response = opener.open(request, timeout=watchdog.seconds)
    except (ValueError, OverflowError, http.client.InvalidURL):  # raised for long host names, too
        if watchdog.has_expired:
            raise TimeoutError from None
        raise RefusedError("this address, or the one it leads to, is malformed") from None
    assert isinstance(response, http.client.HTTPResponse)
    return response


def broken_error(error: Exception, watchdog: Watchdog) -> BrokenError:
    """Build the BrokenError that describes why a connection failed or the watchdog cut it."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if watchdog.has_expired or isinstance(reason, TimeoutError):
        return silent_error(watchdog)
    if isinstance(error, urllib.error.URLError):
        known = reason.strerror if isinstance(reason, OSError) else None
        return BrokenError(f"no connection ({shorten_reason(known or reason)})")
    return BrokenError(f"the connection broke off ({type(error).__name__})")


def silent_error(watchdog: Watchdog) -> BrokenError:
    """Build the BrokenError for a server that sent too little for too long."""
    return BrokenError(f"the server was silent for {watchdog.seconds:g} seconds")


def shorten_reason(reason: object) -> str:
    """Return a server's reason on one line of at most 160 characters."""
    return shorten(" ".join(str(reason).split()), LONGEST_REASON)
