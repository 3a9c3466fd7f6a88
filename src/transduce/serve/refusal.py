"""Exceptions that end a request: refusals with an HTTP status and a sentence, and a lost client."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import final

RETRY_SECONDS = 2  # the Retry-After header's value, for example while the queue is full
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@final
class Refusal(Exception):  # noqa: N818 - most of them are no errors of the server
    """Ends a request with an error: HTTP status, a sentence (`fact`), and headers."""

    def __init__(
        self, status: HTTPStatus, fact: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        super().__init__(fact)
        self.status, self.fact, self.headers = status, fact, dict(headers)


def bad_request(fact: str) -> Refusal:
    """Return a refusal with status 400 and the sentence `fact`."""
    return Refusal(HTTPStatus.BAD_REQUEST, fact)


def too_large(fact: str) -> Refusal:
    """Return a refusal with status 413 for a request over a limit; it closes the connection."""
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, fact, {"Connection": "close"})


def unavailable(fact: str) -> Refusal:
    """Return a refusal with status 503, which asks the client to try again in 2 seconds."""
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, fact, {"Retry-After": str(RETRY_SECONDS)})


class ClientGone(Exception):  # noqa: N818 - the client left, which is no error
    """Ends a request whose client has closed its connection."""
