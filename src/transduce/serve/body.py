"""Reads the body of a request: JSON or a form, within limits of size and time."""

import asyncio
import re
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request

from transduce.durable import parse_json
from transduce.serve.limits import Limits
from transduce.serve.refusal import ClientGone, Refusal, bad_request, too_large

JSON, FORM, MULTIPART = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
)
MAX_FIELDS = 100
READ_TO_REFUSE = 8  # reading stops after this many times the limit, even if no answer gets out
BOUNDARY = re.compile(r'boundary="?([^";\s]{1,70})"?')
FIELD_NAME = re.compile(rb'(?im)^content-disposition:[^\r\n]*[; ]name="([^"\r\n]{0,100})"')


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return a request's body; refuse one that is too large or comes too slowly."""
    parts, size = list[bytes](), 0
    try:
        async with asyncio.timeout(limits.receive_seconds):
            is_whole = False
            while not is_whole and size <= READ_TO_REFUSE * limits.body:
                part, is_whole = await receive_part(request)
                size += len(part)
                if size <= limits.body:
                    parts.append(part)
    except TimeoutError:
        fact = f"the body did not arrive within {limits.receive_seconds:.0f} seconds"
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, fact, {"Connection": "close"}) from None
    if size > limits.body:
        raise too_large(f"a body of more than {limits.body:,} bytes")
    return b"".join(parts)


async def receive_part(request: Request) -> tuple[bytes, bool]:
    """Return the next part of a request's body, and whether it is the last one."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message.get("body", b""), not message.get("more_body", False)


async def read_json(request: Request, limits: Limits) -> Any:  # noqa: ANN401 - any value of JSON
    """Return the value of a request's JSON body; refuse any other body."""
    if read_media_type(request) != JSON:
        fact = f"the body must be {JSON}"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, fact)
    return parse_body(await read_body(request, limits))


async def read_fields(request: Request, limits: Limits) -> dict[str, Any]:
    """Return a request's fields from a JSON object, a URL-encoded form or a multipart form."""
    kind = read_media_type(request)
    if kind not in (JSON, FORM, MULTIPART):
        fact = f"the body must be {JSON}, {FORM} or {MULTIPART}"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, fact)
    body = await read_body(request, limits)
    if kind == JSON:
        found = parse_body(body)
        if not isinstance(found, dict):
            raise bad_request("the body must be an object of JSON")
        return found
    try:
        return parse_form(body) if kind == FORM else parse_multipart(body, request)
    except UnicodeDecodeError:
        raise bad_request("the form is not UTF-8") from None
    except ValueError:
        raise bad_request(
            f"the form cannot be read, or has more than {MAX_FIELDS} fields"
        ) from None


def read_media_type(request: Request) -> str:
    """Return the media type of a request's body, without parameters such as charset."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def parse_body(body: bytes) -> Any:  # noqa: ANN401
    """Return the value of strict JSON; refuse other bytes without quoting them in the error."""
    try:
        return parse_json(body)
    except ValueError:
        raise bad_request("the body is no JSON that can be used") from None


def parse_form(body: bytes) -> dict[str, Any]:
    """Return the fields of a URL-encoded form; a repeated field has a list of values."""
    found = parse_qs(
        body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
    )
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def parse_multipart(body: bytes, request: Request) -> dict[str, Any]:
    """Return the fields of a multipart/form-data body; a file counts as text."""
    named = BOUNDARY.search(request.headers.get("content-type", ""))
    if not named:
        raise bad_request("the form names no boundary")
    parts = (b"\r\n" + body).split(b"\r\n--" + named[1].encode("latin-1"), MAX_FIELDS + 1)
    found: dict[str, list[str]] = {}
    for part in parts[1:]:
        head, blank, value = part.partition(b"\r\n\r\n")
        name = FIELD_NAME.search(head)
        if blank and name:
            found.setdefault(name[1].decode(), []).append(value.decode())
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
