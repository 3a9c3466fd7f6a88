"""Why a request is not answered: a status of HTTP and a sentence."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import final

RETRY_SECONDS = 2  # what a client that meets a full queue is told to wait
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@final
class Refusal(Exception):  # noqa: N818 - most of them are no errors of the server
    """The end of a request without a translation: a status, a sentence, and headers."""

    def __init__(
        self, status: HTTPStatus, fact: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        super().__init__(fact)
        self.status, self.fact, self.headers = status, fact, dict(headers)


def bad_request(fact: str) -> Refusal:
    """Return the refusal of a request that is wrong in itself."""
    return Refusal(HTTPStatus.BAD_REQUEST, fact)


def too_large(fact: str) -> Refusal:
    """Return the refusal of a request over a limit, which closes its connection."""
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, fact, {"Connection": "close"})


def unavailable(fact: str) -> Refusal:
    """Return the refusal of a request that may be sent again in a moment."""
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, fact, {"Retry-After": str(RETRY_SECONDS)})


class ClientGone(Exception):  # noqa: N818 - the client left, which is no error
    """The client of a request has closed its connection."""
