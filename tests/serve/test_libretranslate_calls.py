"""The calls of LibreTranslate's page and documentation get the statuses and shapes they expect.

The list was written from its documented interface. tests/external/test_libretranslate_page.py runs
the page itself.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.serve.fake_search import FakeSearch
from tests.serve.running import running_server

RECORDED = json.loads(Path(__file__).with_name("libretranslate_calls.json").read_bytes())
CALLS = RECORDED["calls"]
KINDS: dict[str, Any] = {"string": str, "number": (int, float), "boolean": bool}


@pytest.fixture(scope="module")
def client():
    with running_server(start=FakeSearch()) as running:
        yield running


def has_shape(value, shape):
    """Return whether a value is of a kind, a list of one shape, or an object with these fields."""
    if isinstance(shape, str):
        return isinstance(value, KINDS[shape])
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(one, shape[0]) for one in value)
    return isinstance(value, dict) and all(
        name in value and has_shape(value[name], inner) for name, inner in shape.items()
    )


@pytest.mark.parametrize("call", CALLS, ids=[call["what"] for call in CALLS])
def test_a_call_of_libretranslate_gets_what_it_expects(client, call):
    headers = RECORDED["headers"][call["headers"]]
    typed = {**headers, "Content-Type": call["type"]} if "type" in call else headers
    body = call["body"].encode() if "body" in call else None
    answer = client.send(call["method"], call["path"], body, **typed)
    assert answer.status == call["status"]
    if call["shape"] == "html":
        assert answer.body.startswith(b"<!doctype html>")
    else:
        assert has_shape(answer.json, call["shape"])
        texts = call["shape"].get("translatedText") if isinstance(call["shape"], dict) else None
        assert not isinstance(texts, list) or len(answer.json["translatedText"]) == 2


def test_there_are_thirty_calls_and_they_differ():
    sent = {(call["method"], call["path"], call.get("body")) for call in CALLS}
    assert len(sent) >= 30
