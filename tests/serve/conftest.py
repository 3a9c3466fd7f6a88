"""A server of two models and its page in a browser, for the tests that ask for them."""

import pytest
from tests.serve.models import load_back, load_random
from tests.serve.running import running_server
from tests.view.browser import open_browser


@pytest.fixture(scope="module")
def client():
    with running_server(load_random, load_back) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(client, browser):
    """The page, freshly loaded; at the end nothing was complained of, and nobody else was asked."""
    address = f"http://127.0.0.1:{client.port}/"
    browser.open(address)
    yield browser
    assert browser.console() == []
    asked = [one for one in browser.requests() if not one.startswith("blob:")]
    assert {one for one in asked if not one.startswith(address)} <= {"data:,"}
