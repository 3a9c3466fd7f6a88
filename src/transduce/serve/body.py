"""Reads the body of a request: JSON or a form, within limits of size and time."""

import asyncio
import re
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request

from transduce.durable.json import parse_json
from transduce.serve.interface import (
    FORM,
    JSON,
    MULTIPART,
    ClientGone,
    Limits,
    Refusal,
    bad_request,
    too_large,
)

MAX_FIELDS = 100
# A body over the limit is read on, so that its sender gets the refusal, but only up to this many
# times the limit.
READ_TO_REFUSE = 8
LINGER_SECONDS = 0.5  # how long a body that is too large is read before it is refused
BOUNDARY = re.compile(r'(?i:boundary)="?([^";\s]{1,70})"?')
FIELD_NAME = re.compile(rb'(?im)^content-disposition:[^\r\n]*[; ]name="([^"\r\n]{0,100})"')
ENCODED = re.compile(rb"(?im)^content-transfer-encoding:[ \t]*(base64|quoted-printable)")


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return a request's body; refuse one too large or too slow; ClientGone if the client left."""
    parts, size = list[bytes](), 0
    is_too_large = int(request.headers.get("content-length", 0)) > limits.body
    seconds = LINGER_SECONDS if is_too_large else limits.receive_seconds
    try:
        async with asyncio.timeout(seconds) as deadline:
            is_whole = False
            while not is_whole and size <= READ_TO_REFUSE * limits.body:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                part, is_whole = message.get("body", b""), not message.get("more_body", False)
                size += len(part)
                if size <= limits.body:
                    parts.append(part)
                elif size - len(part) <= limits.body:  # only now too large: read on for a moment
                    now = asyncio.get_running_loop().time()
                    deadline.reschedule(min(deadline.when() or now, now + LINGER_SECONDS))
    except TimeoutError:
        if is_too_large or size > limits.body:
            raise too_large(f"a body of more than {limits.body:,} bytes") from None
        fact = f"the body did not arrive within {limits.receive_seconds:.0f} seconds"
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, fact, {"Connection": "close"}) from None
    if size > limits.body:
        raise too_large(f"a body of more than {limits.body:,} bytes")
    return b"".join(parts)


async def read_json(request: Request, limits: Limits) -> Any:  # noqa: ANN401 - any value of JSON
    """Return the value of a request's JSON body; refuse any other body."""
    require_media_type(request, JSON)
    return parse_body(await read_body(request, limits))


async def read_fields(request: Request, limits: Limits) -> dict[str, Any]:
    """Return the fields of a JSON object or a form; a field repeated in a form has a list."""
    kind = require_media_type(request, JSON, FORM, MULTIPART)
    body = await read_body(request, limits)
    if kind == JSON:
        found = parse_body(body)
        if not isinstance(found, dict):
            raise bad_request("the body must be an object of JSON")
        return found
    try:
        if kind == MULTIPART:
            values = parse_multipart(body, request)
        else:  # Starlette's parser would decode unescaped UTF-8, which curl -d sends, as Latin-1
            values = parse_qs(
                body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
            )
    except UnicodeDecodeError:
        raise bad_request("the form is not UTF-8") from None
    except ValueError:
        raise bad_request(
            f"the form cannot be read, or has more than {MAX_FIELDS} fields"
        ) from None
    return {name: some[0] if len(some) == 1 else some for name, some in values.items()}


def require_media_type(request: Request, *known: str) -> str:
    """Return the media type of a request's body, without parameters; refuse an unknown one."""
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found not in known:
        fact = f"the body must be {' or '.join(known)}"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, fact)
    return found


def parse_body(body: bytes) -> Any:  # noqa: ANN401
    """Return the value of strict JSON; refuse other bytes without quoting them in the error."""
    try:
        return parse_json(body)
    except ValueError as error:
        fact, where = "the body is no JSON that can be used", ""
        if isinstance(error, JSONDecodeError):
            where = f": line {error.lineno}, column {error.colno}"
        raise bad_request(f"{fact}{where}") from None


def parse_multipart(body: bytes, request: Request) -> dict[str, list[str]]:
    """Return each field's values in a multipart/form-data body, files as text, or refuse it."""
    # not Starlette's parser: a part's head takes it quadratic time, and it guesses at encodings
    named = BOUNDARY.search(request.headers.get("content-type", ""))
    if not named:
        raise bad_request("the form names no boundary")
    parts = (b"\r\n" + body).split(b"\r\n--" + named[1].encode("latin-1"), MAX_FIELDS + 1)
    if not parts[-1].startswith(b"--"):
        raise bad_request(f"the form is cut off, or has more than {MAX_FIELDS} fields")
    found: dict[str, list[str]] = {}
    for part in parts[1:-1]:
        head, blank, value = part.partition(b"\r\n\r\n")
        name = FIELD_NAME.search(head)
        if ENCODED.search(head):
            raise bad_request("a part of the form is base64 or quoted-printable; send it as it is")
        if blank and name:
            found.setdefault(name[1].decode(), []).append(value.decode())
    return found
