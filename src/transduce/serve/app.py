"""The routes of the server: which path answers what."""

import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.resources import files
from typing import Any, final

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, Router

from transduce.serve.body import read_fields, read_json
from transduce.serve.dispatcher import Dispatcher
from transduce.serve.fields import check_translation
from transduce.serve.guard import App, Guard
from transduce.serve.languages import name_language
from transduce.serve.messages import Sentence
from transduce.serve.opennmt import build_opennmt_answer, check_opennmt
from transduce.serve.refusal import Refusal
from transduce.serve.service import Service
from transduce.serve.translate import translate_texts

Endpoint = Callable[[Request], Awaitable[Response]]


@final
class Routes:
    """The functions that answer requests, for one service."""

    def __init__(self, service: Service, api_key: str | None = None) -> None:
        self.service, self.api_key = service, api_key

    def list(self) -> dict[str, tuple[str, Endpoint]]:
        """Return each path with its method and function."""
        return {
            "/translate": ("POST", self.translate),
            "/translator/translate": ("POST", self.translate_as_opennmt),
            "/languages": ("GET", self.languages),
            "/detect": ("POST", self.detect),
            "/health": ("GET", self.health),
            "/ready": ("GET", self.ready),
            "/frontend/settings": ("GET", self.frontend_settings),
            "/metrics": ("GET", self.metrics),
            "/openapi.json": ("GET", self.openapi),
            "/spec": ("GET", self.openapi),
        }

    def require_key(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Refuse a request without the server's key, if it has one."""
        if self.api_key is None:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token if scheme.lower() == "bearer" else fields.get("api_key", "")
        if not isinstance(given, str) or not hmac.compare_digest(
            given.encode("utf-8", "replace"), self.api_key.encode()
        ):
            raise Refusal(HTTPStatus.FORBIDDEN, "Invalid API key")

    async def translate(self, request: Request) -> Response:
        """Translate one text or several: LibreTranslate's request, and its answer."""
        fields = await read_fields(request, self.service.limits)
        self.require_key(request, fields)
        wanted = check_translation(fields, self.service.limits)
        return JSONResponse(await translate_texts(self.service, wanted, request.receive))

    async def translate_as_opennmt(self, request: Request) -> Response:
        """Translate the texts of OpenNMT's request, and answer in its shape."""
        body = await read_json(request, self.service.limits)
        self.require_key(request, {})
        items = check_opennmt(body, self.service.limits)
        model = self.find_numbered(items[0].model)
        found = await self.service.run(
            model, [Sentence(0, one.source) for one in items], request.receive
        )
        return JSONResponse(build_opennmt_answer(items, found))

    def find_numbered(self, number: int) -> Dispatcher:
        """Return the model with a number of OpenNMT's protocol: in the order of the command."""
        models = list(self.service.models.values())
        if not 0 <= number < len(models):
            raise Refusal(HTTPStatus.NOT_FOUND, f"no model has the id {number}")
        return models[number]

    async def languages(self, _request: Request) -> Response:
        """List the source languages, each with its targets."""
        pairs = list(self.service.models)
        codes = dict.fromkeys(code for pair in pairs for code in pair)
        return JSONResponse(
            [
                {"code": code, "name": name_language(code)}
                | {"targets": [target for source, target in pairs if source == code]}
                for code in codes
            ]
        )

    async def detect(self, _request: Request) -> Response:
        """Say that no language is detected here."""
        fact = "this server detects no languages: name the source language"
        raise Refusal(HTTPStatus.NOT_IMPLEMENTED, fact)

    async def health(self, _request: Request) -> Response:
        """Say that the server answers."""
        return JSONResponse({"status": "ok"})

    async def ready(self, _request: Request) -> Response:
        """Say whether all models translate."""
        is_ready = self.service.is_ready
        status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"ready": is_ready}, status)

    async def frontend_settings(self, _request: Request) -> Response:
        """Return what LibreTranslate's clients ask before they translate."""
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

    async def metrics(self, _request: Request) -> Response:
        """Return counts in Prometheus' text format."""
        text = self.service.metrics.write(self.service.write_gauges())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def openapi(self, _request: Request) -> Response:
        """Return the description of this interface."""
        return Response(read_openapi(), media_type="application/json")


def read_openapi() -> bytes:
    """Return the OpenAPI file of the server."""
    return files("transduce.serve").joinpath("openapi.json").read_bytes()


def build_app(
    service: Service,
    *,
    api_key: str | None = None,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
) -> App:
    """Build the application of a service that was started; it closes the service at its end."""
    routes = Routes(service, api_key).list()

    @asynccontextmanager
    async def close_service(_app: object) -> AsyncIterator[None]:
        yield
        await service.close()

    router = Router(
        [Route(path, answer, methods=[how]) for path, (how, answer) in routes.items()],
        lifespan=close_service,
    )
    return Guard(router, service.metrics, set(routes), hosts=hosts, origins=origins)
