"""The server does what its OpenAPI description says, which is made from its declared fields."""

import sys

import pytest
from tests.serve.running import running_server
from tests.serve.schema import find_faults

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


@pytest.fixture(scope="module")
def described(client):
    return client.get("/openapi.json").json


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_answers_are_as_described(client, described, method, path, body):
    answer = client.get(path) if method == "get" else client.post(path, body)
    known = described["paths"][path][method]["responses"][str(answer.status)]
    schema = known["content"]["application/json"]["schema"]
    assert find_faults(answer.json, schema, described) == []
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/", "/attention"])
def test_pages_are_pages(client, described, path):
    answer = client.form(path, **TEXT)
    assert answer.status == 200
    assert "text/html" in described["paths"][path]["post"]["responses"]["200"]["content"]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.body.startswith(b"<!doctype html>")


@pytest.mark.parametrize("path", ["/detect", "/translate", "/attention", "/"])
def test_without_its_package_a_server_says_that_it_detects_no_language(
    client, described, path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "py3langid", None)
    answer = client.post(path, {**TEXT, "source": "auto"})
    assert answer.status == 501
    assert "py3langid is not installed" in answer.json["error"]
    assert "501" in described["paths"][path]["post"]["responses"]
    assert client.post("/translate", TEXT).status == 200


def test_requests_are_described_with_their_types_choices_limits_and_defaults(described):
    found = described["components"]["schemas"]["TranslateRequest"]
    assert found["required"] == ["q", "source", "target"]
    assert found["additionalProperties"] is True
    fields = found["properties"]
    text = {"type": "string", "maxLength": 5_000}
    assert fields["q"] == {"oneOf": [text, {"type": "array", "items": text, "maxItems": 64}]}
    assert fields["format"] == {"type": "string", "enum": ["text", "html"], "default": "text"}
    bounds = {"minimum": 0, "maximum": 5, "default": 0}
    assert fields["alternatives"] == {"type": "integer", **bounds}
    assert set(described["paths"]["/translate"]["post"]["requestBody"]["content"]) == {
        "application/json", "application/x-www-form-urlencoded", "multipart/form-data",
    }  # fmt: skip


def test_a_request_with_all_described_defaults_is_one_without_them(client, described):
    fields = described["components"]["schemas"]["TranslateRequest"]["properties"]
    defaults = {name: one["default"] for name, one in fields.items() if "default" in one}
    assert set(defaults) == {"format", "alternatives", "detail"}
    assert (
        client.post("/translate", {**TEXT, **defaults}).json == client.post("/translate", TEXT).json
    )


def test_what_may_be_absent_is_not_required(described):
    answer = described["components"]["schemas"]["TranslateAnswer"]
    assert answer["required"] == ["translatedText"]
    assert answer["additionalProperties"] is False
    assert answer["properties"]["sentences"]["oneOf"][0] == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/Sentence"},
    }
