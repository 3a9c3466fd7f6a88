"""Decides who may ask, by host, origin and API key; adds headers, logs faults, counts answers."""

import hmac
import ipaddress
import logging
import re
import time
import traceback
from collections.abc import Collection
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transduce.serve.interface import ClientGone, Error, Limits, Refusal, bad_request
from transduce.serve.service import Metrics
from transduce.settings.fields import require

LOG = logging.getLogger("transduce.serve")
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
)
RESOURCES = b"cross-origin-resource-policy"  # which sites may use an answer as a resource
SINGLE = (
    b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"authorization", b"content-type",
)  # fmt: skip
NAME = r"[A-Za-z0-9._-]+"  # a host name as sent: other letters come as xn--...
HOST = re.compile(rf"({NAME}|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{0,5}})?")  # perhaps with a port
ALLOWED_HOST = re.compile(rf"\*|{NAME}")
OWN_PORT = r"(?!http://.*:80$|https://.*:443$)"  # browsers leave out a scheme's own port
ORIGIN = re.compile(rf"null|{OWN_PORT}[a-z][a-z0-9+.-]*://[a-z0-9.:_\[\]-]+")
ADDRESSES = "127.0.0.1 for this machine only, 0.0.0.0 for all of its addresses"
OWN_SITES = ("", "none", "same-origin")  # values of Sec-Fetch-Site


@final
@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """A server's address, API key, allowed hosts and origins, search processes and limits.

    Refuses values that no request can match, and an empty key, which would let everyone in.
    """

    host: str = "127.0.0.1"
    port: int = 5000
    api_key: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    workers: int = 1  # search processes of each model
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        fact = "the address to listen at is empty (--host)"
        require(bool(self.host.strip()), fact, ADDRESSES)
        key, name = self.api_key, "(--api-key, TRANSDUCE_API_KEY)"
        if key is not None:
            hint = "give one without line ends and outer spaces, or no key at all"
            require(key != "", f"the API key is empty {name}", hint)
            is_text = key.isprintable() and key == key.strip()
            require(is_text, f"no request can carry this API key {name}", hint)
        for host in self.allowed_hosts:
            require(
                ALLOWED_HOST.fullmatch(host) is not None,
                f"{host!r} is not the name of a host (--allow-host)",
                "the name alone, without scheme, port and path: translate.example.org",
            )
        for origin in self.allowed_origins:
            require(
                ORIGIN.fullmatch(origin) is not None,
                f"{origin!r} is not an origin as browsers send it (--allow-origin)",
                "scheme and host in lower case, without path or usual port: https://example.org",
            )


@final
class Guard:
    """The outermost ASGI application, which refuses foreign hosts and origins, and logs faults.

    The header Host must be localhost, an address, or an allowed name ("*" allows all). Else a web
    page could point its own name at this server (DNS rebinding). Pages of another origin are
    answered only if that origin is allowed.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        paths: Collection[str],
        settings: ServerSettings,
    ) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths
        allowed = (one.lower().removesuffix(".") for one in settings.allowed_hosts)
        self.hosts, self.origins = {"localhost", *allowed}, settings.allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, let the application answer it, and count it with its status."""
        started, headers = time.monotonic(), Headers(scope=scope)
        resources = b"cross-origin" if headers.get("origin") in self.origins else b"same-origin"
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *HEADERS, (RESOURCES, resources)]
            await send(message)

        try:
            self.require_allowed(scope, headers)
            await self.app(scope, receive, send_guarded)
        except Refusal as refusal:
            answer = await answer_error(None, refusal)
            await answer(scope, receive, send_guarded)
        except ClientGone:
            status = 499  # nginx's number for a client that left
        except Exception as error:  # noqa: BLE001 - Starlette has answered it and raises it again
            trace = "".join(traceback.format_tb(error.__traceback__))
            LOG.error(  # noqa: TRY400 - an error may quote a user's text
                "%s while answering %s\n%s", type(error).__name__, scope["path"], trace
            )
        path = scope["path"] if scope["path"] in self.paths else "other"
        self.metrics.count_request(path, status, time.monotonic() - started)

    def require_allowed(self, scope: Scope, headers: Headers) -> None:
        """Refuse a request with a foreign host or origin, or with headers that are ambiguous."""
        names = [name for name, _ in scope["headers"]]
        if len(set(names)) < len(names) and any(names.count(name) > 1 for name in SINGLE):
            raise bad_request("a header is repeated that may occur only once")
        if {b"content-length", b"transfer-encoding"} <= {*names}:  # a proxy may read the other one
            raise bad_request("a body has a length or is chunked, and not both")
        # Starlette's TrustedHostMiddleware takes names only; here any IP address is allowed
        named = HOST.fullmatch(headers.get("host", ""))
        host = named[1].strip("[]").lower().removesuffix(".") if named else ""
        if "*" not in self.hosts and host not in self.hosts and not is_address(host):
            raise Refusal(HTTPStatus.FORBIDDEN, "this name of host is not allowed (--allow-host)")
        self.require_origin(headers)

    def require_origin(self, headers: Headers) -> None:
        """Refuse a request from a web page of another origin, unless that origin is allowed."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "")
        if site == "same-origin" or origin in self.origins:
            return  # forms may send a null Origin; no page can forge Sec-Fetch-Site
        host = headers.get("host", "").lower()
        own = (origin or "").lower() in (f"http://{host}", f"https://{host}")
        is_navigation = headers.get("sec-fetch-mode") == "navigate" and origin is None
        if (origin is not None and not own) or (site not in OWN_SITES and not is_navigation):
            raise Refusal(HTTPStatus.FORBIDDEN, "this origin is not allowed (--allow-origin)")


def is_address(host: str) -> bool:
    """Return whether `host` is an IP address; DNS rebinding can redirect names, not addresses."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def require_key(key: str | None, request: Request, field: object = "") -> None:
    """Refuse a request without the API key in a header or in `field`, unless `key` is None."""
    if key is None:
        return
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        given = token.strip(" \t").encode("latin-1")  # the bytes as they came, such as curl's UTF-8
    else:
        given = field.encode("utf-8", "replace") if isinstance(field, str) else b""
    if not hmac.compare_digest(given, key.encode()):
        raise Refusal(HTTPStatus.FORBIDDEN, "Invalid API key")


async def answer_error(_request: object, error: Exception) -> JSONResponse:
    """Return the JSON answer to a refused request, an unknown path or method, or a fault."""
    if isinstance(error, HTTPException):  # of Starlette's router
        status = HTTPStatus(error.status_code)
        allowed = sorted((error.headers or {}).get("Allow", "").split(", "))
        fact = status.phrase.lower() + (f": use {', '.join(allowed)}" if any(allowed) else "")
        error = Refusal(status, fact, error.headers)
    elif not isinstance(error, Refusal):
        error = Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault of the server")
    return JSONResponse(Error(error=error.fact), error.status, error.headers)
