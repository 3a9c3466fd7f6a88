"""The functions that answer requests on each path of the server, and the application they form."""

import json
from collections import defaultdict
from dataclasses import replace
from http import HTTPStatus
from typing import Any, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from transduce.serve.body import read_fields, read_json
from transduce.serve.guard import Guard, ServerSettings, answer_error, require_key
from transduce.serve.interface import (
    DETECTION,
    SEARCH,
    Detection,
    DetectRequest,
    Fault,
    Fields,
    Health,
    Language,
    Limits,
    NamedLanguage,
    OpenNmtItem,
    OpenNmtOutput,
    Operation,
    Readiness,
    Refusal,
    Settings,
    TranslateAnswer,
    TranslateRequest,
    bad_request,
    check_request,
    describe_interface,
    list_operations,
    too_large,
)
from transduce.serve.messages import AttentionRequest, Page
from transduce.serve.service import Service
from transduce.serve.translate import find_model, translate_items, translate_texts
from transduce.text.languages import LANGUAGE_NAMES, can_detect_languages
from transduce.view.translation.page import TranslationPage

SEARCHING = (*DETECTION, *SEARCH)  # statuses of refused searches with language detection
HTML, PLAIN = "text/html", "text/plain"


def build_app(service: Service, settings: ServerSettings) -> ASGIApp:
    """Build the ASGI application of a started service."""
    functions, origins = Routes(service, settings.api_key), settings.allowed_origins
    methods = defaultdict[tuple[str, str], list[str]](list)
    for function, method, path, _ in list_operations(vars(Routes).values()):
        methods[path, function.__name__].append(method)
    routes = [
        Route(path, getattr(functions, name), methods=some)
        for (path, name), some in methods.items()
    ]
    cors = Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Content-Type", "Authorization"],
    )
    app = Starlette(
        routes=[*routes, Route("/favicon.ico", omit_icon)],
        middleware=[cors] if origins else [],
        exception_handlers=dict.fromkeys((Refusal, HTTPException, Exception), answer_error),
    )
    app.router.redirect_slashes = False
    paths = {route.path for route in routes}
    return Guard(app, service.metrics, paths, settings)


async def omit_icon(_request: Request) -> Response:
    """Return no content to browsers that ask for an icon, since the page has none."""
    return Response(status_code=HTTPStatus.NO_CONTENT)


@final
class Routes:
    """The functions that answer requests, for the models and limits of one service."""

    def __init__(self, service: Service, api_key: str | None) -> None:
        self.service, self.limits, self.api_key = service, service.limits, api_key
        self.description = json.dumps(describe_interface(vars(Routes).values(), self.limits))
        pairs = list(service.models)
        codes = sorted({code for pair in pairs for code in pair})
        names = {code: name_language(code)["name"] for code in codes}
        self.page = TranslationPage(
            pairs,
            names,
            {},  # the models' names, which `show_page` sets
            self.limits.characters,
            self.limits.texts,
            needs_key=api_key is not None,
            can_detect=can_detect_languages(),
        )

    async def read(self, kind: type[Fields], request: Request) -> Fields:
        """Return a request's checked fields as an object of class `kind`; require the API key."""
        fields = await read_fields(request, self.limits)
        require_key(self.api_key, request, fields.get("api_key"))
        return check_request(kind, fields)

    @Operation(
        "POST /translate", "translate",
        ("The translation; lists if q was a list.", TranslateAnswer),
        request=TranslateRequest, refusals=SEARCHING,
    )  # fmt: skip
    async def translate(self, request: Request) -> Response:
        """Translate a text or a list of texts."""
        wanted = await self.read(TranslateRequest, request)
        return JSONResponse(await translate_texts(self.service, wanted, request.receive))

    @Operation(
        "POST /translator/translate", "translateAsOpenNmt",
        ("A list that holds one list: an object for each source.", list[list[OpenNmtOutput]]),
        request=list[OpenNmtItem], refusals=(*SEARCH, HTTPStatus.NOT_FOUND),
    )  # fmt: skip
    async def translate_as_opennmt(self, request: Request) -> Response:
        """Translate texts in the shape of OpenNMT's server."""
        body = await read_json(request, self.limits)
        require_key(self.api_key, request)
        if not isinstance(body, list) or not body or not all(isinstance(one, dict) for one in body):
            raise bad_request("the body must be a list of objects with src and id")
        if len(body) > self.limits.texts:
            raise too_large(f"{len(body)} sources, and a request may have {self.limits.texts}")
        items = [check_request(OpenNmtItem, one) for one in body]
        return JSONResponse(await translate_items(self.service, items, request.receive))

    @Operation("GET /", "showPage", ("The page.", HTML))
    @Operation(
        "POST /", "fillPage", ("The page.", HTML),
        request=TranslateRequest, refusals=SEARCHING,
    )  # fmt: skip
    async def show_page(self, request: Request) -> Response:
        """Return the page to type in; without JavaScript, a form fills it with its translation."""
        models = {pair: one.facts.name for pair, one in self.service.models.items() if one.facts}
        if models != self.page.models:  # at the first request, and after a model was replaced
            self.page = replace(self.page, models=models)
        if request.method != "POST":
            return HTMLResponse(self.page.write())
        wanted = await self.read(TranslateRequest, request)
        text = "\n".join(wanted.texts)
        found: Any = await translate_texts(self.service, replace(wanted, q=text), request.receive)
        detected = found.get("detectedLanguage", {}).get("language", "")
        translation = found["translatedText"]
        page = self.page.write(text, translation, wanted.source, wanted.target, detected)
        return HTMLResponse(page)

    @Operation(
        "POST /attention", "showAttention",
        (f"A page for a plain text of up to {Limits.picture_characters:,} characters.", HTML),
        request=TranslateRequest, refusals=SEARCHING,
    )  # fmt: skip
    async def draw_attention(self, request: Request) -> Response:
        """Return the page of what the model attends to in a text and its translation."""
        wanted = await self.read(TranslateRequest, request)
        if len(wanted.texts) > 1:
            raise bad_request("a picture is of one text")
        if wanted.prefix or wanted.format != "text":
            raise bad_request("a picture is of plain text, without a prefix")
        text = "".join(wanted.texts)
        if len(text) > self.limits.picture_characters:
            raise too_large(f"a picture is of at most {self.limits.picture_characters} characters")
        model, _ = await find_model(self.service, wanted, text)
        if model is None:
            raise bad_request(f"the text is in {wanted.target} already")
        orders = [AttentionRequest(0, text, self.limits.picture_bytes)]
        (page,) = await self.service.run(model, orders, request.receive)
        assert isinstance(page, Page)
        return HTMLResponse(page.html)

    @Operation("GET /languages", "listLanguages", ("All languages.", list[Language]))
    async def list_languages(self, _request: Request) -> Response:
        """List the languages, each with its targets."""
        pairs = list(self.service.models)
        codes = dict.fromkeys(code for pair in pairs for code in pair)
        return JSONResponse(
            [
                Language(**name_language(code), targets=[b for a, b in pairs if a == code])
                for code in codes
            ]
        )

    @Operation(
        "POST /detect", "detect", ("The languages, most probable first.", list[Detection]),
        request=DetectRequest, refusals=DETECTION,
    )  # fmt: skip
    async def detect_language(self, request: Request) -> Response:
        """Rank the languages that a text may be in, or the sources of a target."""
        wanted = await self.read(DetectRequest, request)
        return JSONResponse(await self.service.detect(wanted.q, wanted.target))

    @Operation(
        "GET /health", "health", ("It does, also while it is over capacity or stops.", Health),
        other=("All search processes of a model have ended; they are being started again.", Fault),
    )  # fmt: skip
    async def report_health(self, _request: Request) -> Response:
        """Report whether the server answers, and every model has a search process."""
        fault = self.service.fault
        status = HTTPStatus.SERVICE_UNAVAILABLE if fault else HTTPStatus.OK
        return JSONResponse({"status": fault or "ok"}, status)

    @Operation(
        "GET /ready", "ready", ("They do.", Readiness),
        other=("They do not, or the server stops.", Readiness),
    )  # fmt: skip
    async def report_readiness(self, _request: Request) -> Response:
        """Report whether all models translate."""
        is_ready = self.service.is_ready
        status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse(Readiness(ready=is_ready), status)

    @Operation("GET /frontend/settings", "frontendSettings", ("The settings.", Settings))
    async def list_settings(self, _request: Request) -> Response:
        """Return what LibreTranslate's clients ask before they translate."""
        source, target = next(iter(self.service.models))
        return JSONResponse(
            Settings(
                apiKeys=self.api_key is not None,
                keyRequired=self.api_key is not None,
                charLimit=self.limits.characters,
                frontendTimeout=250,
                filesTranslation=False,
                supportedFilesFormat=[],
                suggestions=False,
                language={"source": name_language(source), "target": name_language(target)},
            )
        )

    @Operation("GET /metrics", "metrics", ("The counts.", PLAIN))
    async def answer_metrics(self, _request: Request) -> Response:
        """Return counts in Prometheus' text format."""
        text = self.service.metrics.format(self.service.format_gauges())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    @Operation("GET /openapi.json", "openapi", ("The description.", dict))
    @Operation("GET /spec", "spec", ("The description, where LibreTranslate has it.", dict))
    async def describe(self, _request: Request) -> Response:
        """Return this description of the server in OpenAPI's format."""
        return Response(self.description, media_type="application/json")


def name_language(code: str) -> NamedLanguage:
    """Return a language's code and English name; the name is the code if none is known."""
    return NamedLanguage(code=code, name=LANGUAGE_NAMES.get(code, code))
