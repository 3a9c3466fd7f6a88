"""The routes of the server: which function answers the requests for each path."""

import hmac
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.resources import files
from typing import Any, final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, Router

from transduce.serve.body import read_fields, read_json
from transduce.serve.dispatcher import Dispatcher
from transduce.serve.fields import TranslationFields, check_text, check_texts, check_translation
from transduce.serve.guard import App, Guard, Receive, Scope, Send
from transduce.serve.languages import name_language
from transduce.serve.messages import AttentionRequest, Page, Sentence
from transduce.serve.opennmt import build_opennmt_answer, check_opennmt
from transduce.serve.refusal import Refusal, too_large
from transduce.serve.service import Service
from transduce.serve.translate import find_model, translate_texts
from transduce.view.translation.page import Form, PageSettings, TranslationPage


@final
class Routes:
    """The functions that answer requests, for the models and limits of one service."""

    def __init__(self, service: Service, api_key: str | None = None) -> None:
        self.service, self.api_key = service, api_key
        self.page = self.build_page()

    def build_page(self) -> TranslationPage:
        """Return the HTML page for translating by hand, which the server answers with at /."""
        pairs, limits = list(self.service.models), self.service.limits
        codes = {code for pair in pairs for code in pair}
        return TranslationPage(
            PageSettings(
                pairs,
                {code: name_language(code) for code in sorted(codes)},
                limits.characters,
                limits.texts,
                needs_key=self.api_key is not None,
                can_detect=self.service.detector.is_available,
            )
        )

    def list_routes(self) -> list[Route]:
        """Return the routes: each path with its HTTP methods and the function that answers."""
        return [
            Route("/", self.show_page, methods=["GET", "POST"]),
            Route("/translate", self.translate, methods=["POST"]),
            Route("/translator/translate", self.translate_as_opennmt, methods=["POST"]),
            Route("/attention", self.draw_attention, methods=["POST"]),
            Route("/languages", self.list_languages),
            Route("/detect", self.detect_language, methods=["POST"]),
            Route("/frontend/settings", self.list_settings),
            Route("/health", self.report_health),
            Route("/ready", self.report_readiness),
            Route("/metrics", self.write_metrics),
            Route("/openapi.json", self.describe_interface),
            Route("/spec", self.describe_interface),
            Route("/favicon.ico", self.omit_icon, include_in_schema=False),
        ]

    def require_key(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Refuse a request without the server's API key in header or fields, if there is a key."""
        if self.api_key is None:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given = token.strip().encode("latin-1")  # the bytes as they came, such as curl's UTF-8
        else:
            field = fields.get("api_key", "")
            given = field.encode("utf-8", "replace") if isinstance(field, str) else b""
        if not hmac.compare_digest(given, self.api_key.encode()):
            raise Refusal(HTTPStatus.FORBIDDEN, "Invalid API key")

    async def read_translation(self, request: Request) -> TranslationFields:
        """Return the checked fields of a translation request; refuse one without the API key."""
        fields = await read_fields(request, self.service.limits)
        self.require_key(request, fields)
        return check_translation(fields, self.service.limits)

    async def translate(self, request: Request) -> Response:
        """Translate one text or several; request and answer have LibreTranslate's shape."""
        wanted = await self.read_translation(request)
        return JSONResponse(await translate_texts(self.service, wanted, request.receive))

    async def translate_as_opennmt(self, request: Request) -> Response:
        """Translate one text or several; request and answer have the shape of OpenNMT's server."""
        body = await read_json(request, self.service.limits)
        self.require_key(request, {})
        items = check_opennmt(body, self.service.limits)
        model = self.find_model_by_number(items[0].model)
        found = await self.service.run(
            model, [Sentence(0, one.source) for one in items], request.receive
        )
        return JSONResponse(build_opennmt_answer(items, found))

    def find_model_by_number(self, number: int) -> Dispatcher:
        """Return the dispatcher of model `number`, from 0 in the order of the command line."""
        models = list(self.service.models.values())
        if not 0 <= number < len(models):
            raise Refusal(HTTPStatus.NOT_FOUND, f"no model has the id {number}")
        return models[number]

    async def show_page(self, request: Request) -> Response:
        """Return the HTML page, with a translation if a form was sent (without JavaScript)."""
        if request.method != "POST":
            return HTMLResponse(self.page.write(Form()))
        wanted = await self.read_translation(request)
        found = await translate_texts(self.service, wanted, request.receive)
        text, translation = "\n".join(wanted.texts), found["translatedText"]
        detected = found.get("detectedLanguage", {}).get("language", "")
        form = Form(text, str(translation), wanted.source, wanted.target, detected)
        return HTMLResponse(self.page.write(form))

    async def draw_attention(self, request: Request) -> Response:
        """Return the attention page of the text in a request and of its translation."""
        wanted = await self.read_translation(request)
        text = " ".join(wanted.texts)
        if len(text) > self.service.limits.picture_characters:
            raise too_large(
                f"a picture is of at most {self.service.limits.picture_characters} characters"
            )
        model, _ = await find_model(self.service, wanted, text)
        orders = [AttentionRequest(0, text, self.service.limits.picture_bytes)]
        (page,) = await self.service.run(model, orders, request.receive)
        assert isinstance(page, Page)
        return HTMLResponse(page.html)

    async def list_languages(self, _request: Request) -> Response:
        """Return the codes and names of all languages, each with its target languages."""
        pairs = list(self.service.models)
        codes = dict.fromkeys(code for pair in pairs for code in pair)
        return JSONResponse(
            [
                {"code": code, "name": name_language(code)}
                | {"targets": [target for source, target in pairs if source == code]}
                for code in codes
            ]
        )

    async def detect_language(self, request: Request) -> Response:
        """Return the languages that a text may be in, or the sources of a target, ranked."""
        fields = await read_fields(request, self.service.limits)
        self.require_key(request, fields)
        (text,) = check_texts([check_text(fields, "q")], self.service.limits)
        detector, target = self.service.detector, check_text(fields, "target", "")
        sources = self.service.list_sources(target) if target else []
        found = await (detector.rank_codes(text, sources) if target else detector.rank(text))
        return JSONResponse([one.as_json() for one in found])

    async def report_health(self, _request: Request) -> Response:
        """Return status "ok", or 503 and the language pairs whose searches have all ended."""
        fault = self.service.fault
        status = HTTPStatus.SERVICE_UNAVAILABLE if fault else HTTPStatus.OK
        return JSONResponse({"status": fault or "ok"}, status)

    async def report_readiness(self, _request: Request) -> Response:
        """Return whether all models are ready: status 200 if so, else 503."""
        is_ready = self.service.is_ready
        status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"ready": is_ready}, status)

    async def list_settings(self, _request: Request) -> Response:
        """Return the settings that LibreTranslate's clients ask for before they translate."""
        source, target = next(iter(self.service.models))
        return JSONResponse(
            {
                "apiKeys": self.api_key is not None,
                "keyRequired": self.api_key is not None,
                "charLimit": self.service.limits.characters,
                "frontendTimeout": 250,
                "filesTranslation": False,
                "supportedFilesFormat": [],
                "suggestions": False,
                "language": {
                    side: {"code": code, "name": name_language(code)}
                    for side, code in (("source", source), ("target", target))
                },
            }
        )

    async def write_metrics(self, _request: Request) -> Response:
        """Return the server's metrics in Prometheus' text format."""
        text = self.service.metrics.write(self.service.write_gauges())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def omit_icon(self, _request: Request) -> Response:
        """Return no content: a browser asks for an icon, and the page has none."""
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def describe_interface(self, _request: Request) -> Response:
        """Return the OpenAPI description of the server's interface."""
        return Response(read_openapi(), media_type="application/json")


def read_openapi() -> bytes:
    """Return the bytes of the server's OpenAPI file."""
    return files("transduce.serve").joinpath("openapi.json").read_bytes()


def build_app(
    service: Service,
    *,
    api_key: str | None = None,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
) -> App:
    """Build the ASGI application of a started service; it closes the service when it ends."""
    routes = Routes(service, api_key).list_routes()

    @asynccontextmanager
    async def close_service(_app: object) -> AsyncIterator[None]:
        yield
        await service.close()

    rest = Router(routes, redirect_slashes=False, lifespan=close_service)
    app = DirectRouter(routes, rest)
    paths = {route.path for route in routes}
    return Guard(app, service.metrics, paths, hosts=hosts, origins=origins)


@final
class DirectRouter:
    """Calls the function of a route that has exactly a request's method and path.

    All other requests, and messages about the server's start and end, go to Starlette's router,
    which compares a path with every route's pattern.
    """

    def __init__(self, routes: Sequence[Route], router: Router) -> None:
        self.router = router
        self.endpoints = {
            (method, route.path): route.endpoint
            for route in routes
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request by the function of its route, or by Starlette's router."""
        endpoint = self.endpoints.get((scope.get("method", ""), scope.get("path", "")))
        if endpoint is None:
            await self.router(scope, receive, send)
            return
        response: Response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)
