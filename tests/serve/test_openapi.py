"""The server does what its OpenAPI file says, and the file says all that the server does."""

import sys

import pytest
from tests.serve.models import load_random
from tests.serve.running import running_server, start_in_thread
from tests.serve.schema import find_faults

from transduce.durable import parse_json
from transduce.serve.app import Routes, read_openapi
from transduce.serve.dispatcher import Dispatcher
from transduce.serve.fields import TranslationFields
from transduce.serve.limits import Limits
from transduce.serve.service import Service

SPEC = parse_json(read_openapi())
TEXT = {"q": "a woman", "source": "en", "target": "de"}
HUGE = {**TEXT, "q": "a" * 6_000}
CALLS = [  # method, path, body
    ("get", "/languages", None),
    ("get", "/frontend/settings", None),
    ("get", "/health", None),
    ("get", "/ready", None),
    ("get", "/openapi.json", None),
    ("get", "/spec", None),
    ("post", "/translate", TEXT),
    ("post", "/translate", {**TEXT, "q": ["a woman", ""], "alternatives": 1, "detail": True}),
    ("post", "/translate", {**TEXT, "detail": True, "alternatives": 2}),
    ("post", "/translate", {"q": "a"}),
    ("post", "/translate", HUGE),
    ("post", "/translator/translate", [{"src": "a woman", "id": 0}]),
    ("post", "/translator/translate", [{"src": "a woman", "id": 7}]),
    ("post", "/translator/translate", {}),
    ("post", "/attention", HUGE),
    ("post", "/translate", {**TEXT, "source": "auto"}),
    ("post", "/translate", {**TEXT, "source": "auto", "q": ["a woman", "a dog"]}),
    ("post", "/detect", TEXT),
    ("post", "/detect", {"q": "a woman", "target": "de"}),
    ("post", "/detect", {"q": "a woman", "target": "xx"}),
    ("post", "/detect", {}),
    ("post", "/", HUGE),
]


@pytest.fixture(scope="module")
def client():
    with running_server() as running:
        yield running


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_answers_are_as_described(client, method, path, body):
    answer = client.get(path) if method == "get" else client.post(path, body)
    described = SPEC["paths"][path][method]["responses"][str(answer.status)]
    schema = described["content"]["application/json"]["schema"]
    assert find_faults(answer.json, schema, SPEC) == []
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/", "/attention"])
def test_pages_are_pages(client, path):
    answer = client.form(path, **TEXT)
    assert answer.status == 200
    assert "text/html" in SPEC["paths"][path]["post"]["responses"]["200"]["content"]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.body.startswith(b"<!doctype html>")


@pytest.mark.parametrize("path", ["/detect", "/translate", "/attention", "/"])
def test_without_its_package_a_server_says_that_it_detects_no_language(client, path, monkeypatch):
    monkeypatch.setitem(sys.modules, "py3langid", None)
    answer = client.post(path, {**TEXT, "source": "auto"})
    assert answer.status == 501
    assert "py3langid is not installed" in answer.json["error"]
    assert "501" in SPEC["paths"][path]["post"]["responses"]
    assert client.post("/translate", TEXT).status == 200


def test_every_path_is_described_and_every_described_path_is_there():
    found = set()
    models = {("en", "de"): Dispatcher(load_random, start_in_thread)}
    for route in Routes(Service(models, Limits())).list_routes():
        methods = set(route.methods or ()) - {"HEAD"} if route.include_in_schema else set()
        found |= {(route.path, method.lower()) for method in methods}
    described = {(path, method) for path, methods in SPEC["paths"].items() for method in methods}
    assert found == described


def test_the_limits_that_are_described_are_those_that_hold():
    schemas, limits = SPEC["components"]["schemas"], Limits()
    fields = schemas["TranslateRequest"]["properties"]
    one, several = fields["q"]["oneOf"]
    assert one["maxLength"] == several["items"]["maxLength"] == limits.characters
    assert schemas["OpenNmtItem"]["properties"]["src"]["maxLength"] == limits.characters
    assert several["maxItems"] == limits.texts
    assert fields["alternatives"]["maximum"] == limits.alternatives
    assert f"{limits.body:,}" in SPEC["info"]["description"]
    assert f" {limits.sentences} sentences" in SPEC["info"]["description"]
    detected = schemas["DetectRequest"]["properties"]["q"]
    assert detected["maxLength"] == limits.characters
    assert f"{limits.picture_characters:,}" in SPEC["paths"]["/attention"]["post"]["summary"]


def test_every_field_that_is_read_is_described():
    described = set(SPEC["components"]["schemas"]["TranslateRequest"]["properties"])
    read = set(TranslationFields.__dataclass_fields__) - {"texts", "is_list"}
    assert described == {"q", "api_key"} | read
