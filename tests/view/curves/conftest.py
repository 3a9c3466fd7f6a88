"""Runs with all that a log can have, their page, and the page in a browser."""

import math

import pytest
from tests.view.curves.logs import loss, update, validation, write_log, write_recipe

import transduce

READY = "window.transduce && window.transduce.app.frames > 0"


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A run with everything that a log has, and a shorter one that is two nats worse."""
    folder = tmp_path_factory.mktemp("runs")
    events = [update(step) for step in range(1, 121)]
    events += [("checkpoint", {"step": 100}), ("resume", {"step": 100, "changed": []})]
    for step in range(101, 301):
        skipped = {"nats": math.nan, "applied": False} if step in (150, 151) else {}
        events.append(update(step, **skipped))
        if step % 100 == 0:
            events += [validation(step, loss(step) + 0.5, step / 10), ("snapshot", {"step": step})]
    events += [("failure", {"step": 250, "fact": "full"}), ("finish", {"step": 300})]
    other = [update(step, nats=loss(step) + 2) for step in range(1, 201)]
    first = write_recipe(write_log(folder / "first", events))
    return [first, write_log(folder / "other", other)]


@pytest.fixture(scope="session")
def page(runs, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "curves.html"
    transduce.curves(*runs, output=file)
    return file


@pytest.fixture
def opened(browser, page):
    """Open the page with a link, at the size of a desk or another."""

    def open_page(link="", width=1200, file=page):
        browser.resize(width, 900)
        browser.open(file, link)
        browser.wait(READY)
        return browser

    yield open_page
    assert browser.console() == []
    assert browser.requests() == []
