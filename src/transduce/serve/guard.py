"""Checks host and origin of every request; adds headers, hides tracebacks, counts answers."""

import ipaddress
import logging
import re
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from transduce.serve.metrics import Metrics
from transduce.serve.refusal import ClientGone, Refusal, bad_request

Scope = dict[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOG = logging.getLogger("transduce.serve")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
SINGLE = (
    b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"authorization", b"content-type",
)  # fmt: skip
NAME = r"[A-Za-z0-9._-]+"  # of a host, as clients send it: other letters as xn--...
HOST = re.compile(rf"({NAME}|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{0,5}})?")  # perhaps with a port
OWN_SITES = ("", "none", "same-origin")  # values of Sec-Fetch-Site


@final
class Guard:
    """The outermost ASGI application: it checks each request, and turns every error into JSON.

    The header Host must be localhost, an address, or a name in `hosts` ("*" allows all). Else a web
    page could point its own name at this server (DNS rebinding). Pages of another origin are
    answered only if that origin is in `origins`.
    """

    def __init__(
        self,
        app: App,
        metrics: Metrics,
        paths: Collection[str],
        *,
        hosts: Collection[str] = (),
        origins: Collection[str] = (),
    ) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths
        self.hosts, self.origins = {host.lower() for host in hosts}, set(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an HTTP request; pass messages about the server's start and end (lifespan) on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self.answer(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, let the inner application answer it, and count it with its status."""
        started, headers = time.monotonic(), Headers(scope=scope)
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self.add_headers(message, headers)
            await send(message)

        try:
            self.require_allowed(scope, headers)
            answer = Response(status_code=204) if self.is_preflight(scope, headers) else self.app
            await answer(scope | {"app": self.app}, receive, send_guarded)
        except Refusal as refusal:
            await send_refusal(refusal, scope, receive, send_guarded)
        except HTTPException as error:  # an unknown path, or a method that the path does not allow
            fact = HTTPStatus(error.status_code).phrase.lower()
            unknown = Refusal(HTTPStatus(error.status_code), fact, error.headers or {})
            await send_refusal(unknown, scope, receive, send_guarded)
        except ClientGone:
            status = 499
        except Exception as error:  # noqa: BLE001 - the client gets no trace, and the log no text
            trace = "".join(traceback.format_tb(error.__traceback__))
            LOG.error(  # noqa: TRY400 - the message of an error may hold text
                "%s while answering %s\n%s", type(error).__name__, scope["path"], trace
            )
            if not status:
                await send_refusal(FAULT, scope, receive, send_guarded)
        path = scope["path"] if scope["path"] in self.paths else "other"
        self.metrics.count_request(path, status, time.monotonic() - started)

    def add_headers(self, message: Message, request: Headers) -> None:
        """Add security headers to an answer, and CORS headers for requests of allowed origins."""
        message["headers"] = [*message["headers"], *RAW_HEADERS]
        origin = request.get("origin", "")
        if origin in self.origins:
            answer = MutableHeaders(scope=message)
            answer["Access-Control-Allow-Origin"] = origin
            answer["Access-Control-Allow-Headers"] = "Content-Type, Authorization"
            answer["Cross-Origin-Resource-Policy"] = "cross-origin"
            answer.add_vary_header("Origin")

    def is_preflight(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a request is a CORS preflight (OPTIONS) from an allowed origin."""
        return scope["method"] == "OPTIONS" and headers.get("origin") in self.origins

    def require_allowed(self, scope: Scope, headers: Headers) -> None:
        """Refuse a request by its headers Host and Origin, or if it has one of SINGLE twice."""
        names = [name for name, _ in scope["headers"]]
        if len(set(names)) < len(names) and any(names.count(name) > 1 for name in SINGLE):
            raise bad_request("a header stands twice that may stand once only")
        self.require_host(headers)
        self.require_origin(headers)

    def require_host(self, headers: Headers) -> None:
        """Refuse a request whose header Host names neither a known nor an allowed host."""
        if "*" not in self.hosts and not is_known_host(headers.get("host", ""), self.hosts):
            raise Refusal(HTTPStatus.FORBIDDEN, "this name of host is not allowed (--allow-host)")

    def require_origin(self, headers: Headers) -> None:
        """Refuse a request from a web page of another origin, unless that origin is allowed."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "")
        if site == "same-origin" or (origin is not None and origin in self.origins):
            return  # forms may send a null Origin; no page can forge Sec-Fetch-Site
        host = headers.get("host", "").lower()
        own = (origin or "").lower() in (f"http://{host}", f"https://{host}")
        is_navigation = headers.get("sec-fetch-mode") == "navigate" and origin is None
        if (origin is not None and not own) or (site not in OWN_SITES and not is_navigation):
            raise Refusal(HTTPStatus.FORBIDDEN, "this origin is not allowed (--allow-origin)")


FAULT = Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault of the server")


async def send_refusal(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a refusal as a JSON object with the field `error`."""
    answer = JSONResponse({"error": refusal.fact}, refusal.status, refusal.headers)
    await answer(scope, receive, send)


def is_known_host(value: str, allowed: Collection[str]) -> bool:
    """Return whether a Host header has an IP address, localhost, or a name in `allowed`."""
    host, is_safe = read_host(value)
    return is_safe or host in allowed


@lru_cache(maxsize=256)  # most requests name the same host
def read_host(value: str) -> tuple[str, bool]:
    """Return the host of a Host header, "" if it has none, and whether no page can redirect it."""
    found = HOST.fullmatch(value)
    if found is None:
        return "", False
    host = found[1].strip("[]").lower()
    return host, host == "localhost" or is_address(host)


def is_address(host: str) -> bool:
    """Return whether a host is an IP address; unlike a name, no web page can redirect it."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
