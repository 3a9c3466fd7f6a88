"""Limits of the server, the fields of its requests and answers, and refusals of requests.

Each field is declared once, here. `check_request` checks requests against the declarations, and
`describe_interface` makes the OpenAPI description of them. The notes of an `Annotated` type are a
description, or pairs (JSON Schema keyword, value).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from http import HTTPStatus
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NotRequired,
    TypedDict,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

JSON, FORM, MULTIPART = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
)
RETRY_SECONDS = 2  # the Retry-After header's value, for example while the queue is full


@final
@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on one request's size, on the server's queue and connections, and on times."""

    characters: ClassVar[int] = 5_000  # the most characters of one text
    texts: ClassVar[int] = 64  # the most texts of one request
    alternatives: ClassVar[int] = 5  # the most translations of a text besides the best one
    body: int = 1 << 20  # the most bytes of a request's body
    picture_characters: int = 1_000  # the most characters of a text whose attention is drawn
    picture_bytes: int = 100_000_000  # the most memory that one drawing may need
    sentences: int = 256  # the most sentences of one request; equal to `queue` by default
    queue: int = 256  # new requests are refused while this many sentences wait
    receive_seconds: float = 10.0  # time for a request's head to arrive, and again for its body
    send_seconds: float = 10.0  # time for a client to read an answer
    request_seconds: float = 30.0  # time from the body's end to the answer
    stop_seconds: float = 5.0  # time from SIGTERM to the server's end
    connections: int = 2_000  # the most open connections
    hang_seconds: float = 30.0  # time for a search process to answer a ping
    restart_seconds: float = 0.1  # before a search process is started again, doubled each time
    longest_restart_seconds: float = 30.0  # the most that doubling gives
    poll_seconds: float = 1.0  # from one check of the model folders to the next
    reload_seconds: float = 30.0  # before a new model is tried again, such as when memory ran out


Text = Annotated[str, ("maxLength", Limits.characters)]


@final
@dataclass(frozen=True)
class TranslateRequest:
    """A request to translate a text or a list of texts, with LibreTranslate's fields and ours."""

    q: Text | Annotated[list[Text], ("maxItems", Limits.texts)] = field(repr=False)
    source: Annotated[
        str,
        "a code of /languages, its region as you like, or auto: the likeliest source of the target",
    ]
    target: str
    format: Literal["text", "html"] = "text"
    alternatives: Annotated[int, ("minimum", 0), ("maximum", Limits.alternatives)] = 0
    detail: Annotated[bool, "whether the answer has sentences: scores, pieces, alignment"] = False
    prefix: Annotated[
        str,
        ("maxLength", Limits.characters),
        "forced beginning of the translation of a single sentence",
    ] = field(default="", repr=False)
    api_key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.prefix and (len(self.texts) != 1 or self.format != "text"):
            raise bad_request("prefix is for a single text that is not HTML")

    @property
    def texts(self) -> list[str]:
        """The texts to translate, as a list even if `q` is a single text."""
        return self.q if isinstance(self.q, list) else [self.q]


@final
@dataclass(frozen=True)
class DetectRequest:
    """A request to name the language of a text."""

    q: Text = field(repr=False)
    target: Annotated[
        str, "rank only the languages that can be translated to this one, and all of them"
    ] = ""
    api_key: str = field(default="", repr=False)


@final
@dataclass(frozen=True)
class OpenNmtItem:
    """One source text of a request in OpenNMT's shape, and the model that is to translate it."""

    src: Text = field(repr=False)
    id: Annotated[
        int, ("minimum", 0), "the number of the model, from 0, in the order of the command"
    ] = 0


class Detection(TypedDict):
    """A language that a text may be in, and its probability in percent."""

    language: str
    confidence: Annotated[float, "its probability among all languages known, in percent"]


class Output(TypedDict):
    """One translation of a sentence, with its score and log-probability."""

    text: str
    score: Annotated[float, "log-probability with length penalty"]
    log_prob: Annotated[float, "log-probability in nats"]


class Details(TypedDict):
    """Pieces, probabilities and word links of a sentence and its best output."""

    source_pieces: list[str]
    target_pieces: Annotated[list[str], "of the best output, with its end"]
    log_probs: Annotated[list[float], "of each target piece, given those before it"]
    alignment: Annotated[
        list[Annotated[list[int], ("minItems", 2), ("maxItems", 2)]],
        "links [source word, target word], counted from 0; words are what spaces separate",
    ]
    weights: Annotated[list[float], "of each link"]


class Sentence(Details):
    """A sentence in an answer, and its outputs, best first."""

    source: str
    outputs: list[Output]
    warnings: list[str]


class TranslateAnswer(TypedDict):
    """The translation of a text; if a list of texts was sent, each field is a list."""

    translatedText: str | list[str]
    alternatives: NotRequired[list[str] | list[list[str]]]
    detectedLanguage: NotRequired[Detection | list[Detection]]
    lost: NotRequired[
        Annotated[
            list[str] | list[list[str]],
            "placeholders, URLs, e-mail addresses and numbers that the translation lacks; absent "
            "if it lacks none",
        ]
    ]
    sentences: NotRequired[list[Sentence] | list[list[Sentence]]]


class OpenNmtOutput(TypedDict):
    """The best translation of one source text."""

    src: str
    tgt: str
    n_best: int
    pred_score: float
    lost: NotRequired[list[str]]


class NamedLanguage(TypedDict):
    """A language's code and English name."""

    code: str
    name: str


class Language(NamedLanguage):
    """A source or target language, and the languages that it can be translated to."""

    targets: list[str]


class LanguagePair(TypedDict):
    """The source and target language that a client's page preselects."""

    source: NamedLanguage
    target: NamedLanguage


class Settings(TypedDict):
    """The settings that LibreTranslate's clients ask for before they translate."""

    apiKeys: bool
    keyRequired: bool
    charLimit: int
    frontendTimeout: int
    filesTranslation: bool
    supportedFilesFormat: list[str]
    suggestions: bool
    language: LanguagePair


class Health(TypedDict):
    """The state of a server whose models all have a search process."""

    status: Literal["ok"]


class Fault(TypedDict):
    """The answer to /health if models have no search process; `status` names the language pairs."""

    status: Annotated[str, "The language pairs that have none."]


class Readiness(TypedDict):
    """Whether all models are ready to translate."""

    ready: bool


class Error(TypedDict):
    """Why a request was refused, in a sentence."""

    error: str


@final
class Refusal(Exception):  # noqa: N818 - most of them are no errors of the server
    """Raised to answer a request with an error: HTTP status, a sentence (`fact`) and headers."""

    def __init__(
        self, status: HTTPStatus, fact: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(fact)
        self.status, self.fact, self.headers = status, fact, headers


def bad_request(fact: str) -> Refusal:
    """Return a refusal with status 400 and the sentence `fact`."""
    return Refusal(HTTPStatus.BAD_REQUEST, fact)


def too_large(fact: str) -> Refusal:
    """Return a refusal with status 413 for a request over a limit; it closes the connection."""
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, fact, {"Connection": "close"})


def unavailable(fact: str) -> Refusal:
    """Return a refusal with status 503 and a header Retry-After."""
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, fact, {"Retry-After": str(RETRY_SECONDS)})


class ClientGone(Exception):  # noqa: N818 - the client left, which is no error
    """Raised to end a request whose client has closed its connection."""


Fields = TypeVar("Fields", TranslateRequest, DetectRequest, OpenNmtItem)


def check_request(kind: type[Fields], values: Mapping[str, Any]) -> Fields:
    """Build a request of class `kind`; refuse a field that is missing, wrong or too large."""
    found = {}
    for one in fields(kind):
        value = values.get(one.name)
        value = one.default if value is None else value  # null counts as missing
        if value is None or value is MISSING:
            raise bad_request(f"Invalid request: missing {one.name} parameter")
        found[one.name] = check_field(one.name, one.type, value)
    return kind(**found)


def check_field(name: str, kind: Any, value: Any) -> Any:  # noqa: ANN401 - any declared type
    """Return a field's value as its declared type, or refuse it; numbers and flags may be text."""
    rules: dict[str, Any] = {}
    if get_origin(kind) is Union:  # a text, or a list of texts
        kind = get_args(kind)[isinstance(value, list)]
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
        rules = read_notes(notes)
    if get_origin(kind) is list:
        if len(value) > rules["maxItems"]:
            raise too_large(f"{len(value)} texts, and a request may have {rules['maxItems']}")
        return [check_field(name, get_args(kind)[0], one) for one in value]
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise bad_request(f"{name} must be {' or '.join(get_args(kind))}")
        return value
    if isinstance(value, list):
        raise bad_request(f"{name} must be one value, not a list")
    check = {str: check_text, int: check_number, bool: check_flag}[kind]
    return check(name, value, rules)


def read_notes(notes: Iterable[Any]) -> dict[str, Any]:
    """Return the notes of an `Annotated` type as {keyword of JSON Schema: value}."""
    return dict(("description", one) if isinstance(one, str) else one for one in notes)


def check_text(name: str, value: object, rules: Mapping[str, Any]) -> str:
    """Return `value`; refuse it if it is no text, or longer than `rules` allow."""
    if not isinstance(value, str):
        raise bad_request(f"{name} must be a string")
    most = rules.get("maxLength", len(value))
    if len(value) > most:
        raise too_large(f"a text of {len(value):,} characters, and one may have {most:,}")
    return value


def check_number(name: str, value: object, rules: Mapping[str, Any]) -> int:
    """Return an int, or text of up to 8 digits, as an int; refuse all but 0 to the maximum."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise bad_request(f"{name} must be a whole number of 0 or more")
    if value > rules.get("maximum", value):
        raise bad_request(f"{name} must be at most {rules['maximum']}")
    return value


def check_flag(name: str, value: object, _rules: Mapping[str, Any]) -> bool:
    """Return `value` as a bool; text may be true, 1, false, 0 or empty (False); refuse others."""
    known = {"true": True, "1": True, "false": False, "0": False, "": False}
    value = known.get(value, value) if isinstance(value, str) else value
    if not isinstance(value, bool):
        raise bad_request(f"{name} must be true or false")
    return value


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
