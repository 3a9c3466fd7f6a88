"""One exchange over http or https, with a time limit that no server can stretch."""

import http.client
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import Any, final
from urllib.parse import urlsplit

from transduce.errors import shorten

PROTOCOLS = ("http", "https")
LONGEST_REASON = 160  # the most characters of a server's reason that an error message shows
CHECKS = 10  # how often a watchdog checks an exchange within its time limit


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
        """Open a connection (as `socket.create_connection`) and store it, so that it can be cut."""
        found = socket.create_connection(*arguments, **options)
        self.sockets.append(socket.socket(fileno=os.dup(found.fileno())))
        return found

    def extend(self) -> None:
        """Restart the time limit, because there was progress."""
        self.deadline = time.monotonic() + self.seconds

    def finish(self) -> None:
        """End the time limit, because the whole response has arrived."""
        self.has_ended.set()

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
        """Open an http address."""
        return self.do_open(partial(self.build_connection, http.client.HTTPConnection), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open an https address."""
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
    """Context manager: open a response; every failure is a BrokenError or a RefusedError."""
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
    except (ValueError, OverflowError, http.client.InvalidURL):  # also long host names
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
