"""The OpenAPI description of the server, made from declared operations and fields."""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

from transduce.serve.body import FORM, JSON, MULTIPART
from transduce.serve.interface import Error, Limits, read_notes

REFUSALS = {
    400: "The request is wrong in itself.",
    403: "No key, a wrong key, or a foreign host or origin.",
    404: "There is no such model.",
    408: "The request came too slowly.",
    413: "The request is over a limit; the answer names it.",
    415: "The body is of a type that is not read here.",
    501: "The language is to be detected, and the server has no package for that.",
    503: "The queue is full, or the server starts or stops: try again after Retry-After seconds.",
    504: "There was no answer in time.",
}
BODY, DETECTION, SEARCH = (400, 403, 408, 413, 415), (501,), (503, 504)  # statuses of refusals
SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}
Schema = dict[str, Any]
Function = TypeVar("Function", bound=Callable[..., Any])


@final
@dataclass(frozen=True)
class Operation:
    """A decorator that declares a function's HTTP method, path, request type and answers."""

    call: str  # method and path
    name: str
    answer: tuple[str, Any]  # with status 200: what it says, and its type or media type
    request: Any = None  # the type of the body
    refusals: tuple[int, ...] = ()  # statuses besides those of every request with a body
    other: tuple[str, Any] | None = None  # the answer with status 503

    def __call__(self, function: Function) -> Function:
        """Add this operation to the function's operations; return the function."""
        vars(function).setdefault("operations", []).append(self)
        return function


def list_operations(functions: Iterable[Any]) -> list[tuple[Any, str, str, Operation]]:
    """Return (function, method, path, operation) for each operation that functions declare."""
    both = [(act, one) for act in functions for one in getattr(act, "operations", ())]
    return [(act, *one.call.split(), one) for act, one in both]


def describe_interface(functions: Iterable[Any], limits: Limits) -> Schema:
    """Return the OpenAPI 3.1 description of the operations that functions declare, for JSON."""
    known: Schema = {}
    paths: Schema = {}
    for function, method, path, one in list_operations(functions):
        found: Schema = {"operationId": one.name, "summary": function.__doc__}
        answers = {200: one.answer} | ({503: one.other} if one.other else {})
        if one.request is not None:
            kinds = (JSON, FORM, MULTIPART) if is_dataclass(one.request) else (JSON,)
            content = {kind: {"schema": describe_type(one.request, known)} for kind in kinds}
            found["requestBody"] = {"required": True, "content": content}
            answers |= {status: (REFUSALS[status], Error) for status in (*BODY, *one.refusals)}
        found["responses"] = {
            str(status): {
                "description": text,
                "content": {kind: {"schema": {"type": "string"}}}
                if isinstance(kind, str)
                else {JSON: {"schema": describe_type(kind, known)}},
            }
            for status, (text, kind) in answers.items()
        }
        paths.setdefault(path, {})[method.lower()] = found
    about = (
        "Translations over HTTP: the shapes of LibreTranslate and of OpenNMT's server, and details "
        f"of each sentence. Requests are limited to {limits.body:,} bytes and {limits.sentences} "
        "sentences. A server with a key takes it as api_key or as Authorization: Bearer."
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "transduce serve", "version": "1", "description": about},
        "paths": paths,
        "components": {"schemas": known},
    }


def describe_type(kind: Any, known: Schema) -> Schema:  # noqa: ANN401
    """Return the JSON Schema of a type; add the schemas of classes with fields to `known`."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**describe_type(parts[0], known), **read_notes(parts[1:])}
    if origin is NotRequired:
        return describe_type(parts[0], known)
    if origin in (Union, UnionType):
        return {"oneOf": [describe_type(one, known) for one in parts]}
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if origin is list:
        return {"type": "array", "items": describe_type(parts[0], known)}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if kind.__name__ not in known:
        known[kind.__name__] = describe_fields(kind, known)
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def describe_fields(kind: Any, known: Schema) -> Schema:  # noqa: ANN401
    """Return the JSON Schema of a class; only a dataclass (a request) allows undeclared fields."""
    hints = get_type_hints(kind, include_extras=True)
    found = {name: describe_type(one, known) for name, one in hints.items()}
    required = [name for name in hints if name in getattr(kind, "__required_keys__", ())]
    if is_dataclass(kind):
        required = [one.name for one in fields(kind) if one.default is MISSING]
        for one in fields(kind):
            if one.default not in (MISSING, ""):
                found[one.name]["default"] = one.default
    return {
        "type": "object",
        "properties": found,
        "required": required,
        "additionalProperties": is_dataclass(kind),
    }
