"""A live page: new updates are seen soon, as new bytes only, and a lost connection is taken up."""

import json
import time

import pytest
from tests.view.curves.logs import loss, update, validation, write_log
from tests.view.curves.serving import serve

from transduce.training.journal import LOG

pytestmark = [pytest.mark.browser, pytest.mark.slow]
READY = "window.transduce && window.transduce.app.frames > 0"
RUN = "window.transduce.app.runs[0]"


@pytest.fixture
def run(tmp_path):
    return write_log(tmp_path / "run", [update(step) for step in range(1, 51)])


def show(browser, server):
    browser.resize(1200, 900)
    browser.command("url", {"url": "about:blank"})
    browser.logged("performance"), browser.logged("browser")
    browser.command("url", {"url": server.address})
    browser.wait(READY)
    browser.wait("document.getElementById('status').textContent.startsWith('live')")


def received(browser):
    """Return the number of bytes that came by the stream since the last time."""
    messages = (json.loads(one["message"])["message"] for one in browser.logged("performance"))
    data = [
        m["params"]["data"] for m in messages if m["method"] == "Network.eventSourceMessageReceived"
    ]
    return sum(map(len, data))


def test_new_updates_are_seen_within_a_second_as_new_bytes_only(browser, run):
    with serve(run) as server:
        show(browser, server)
        assert received(browser) == 0, "the page has what was there"
        size = (run / LOG).stat().st_size
        write_log(run, [update(51), validation(51, 2.0, 9.0), update(52)])
        browser.wait(f"{RUN}.count === 52")
        browser.wait("document.querySelector('#values tbody td').innerText === '52'")
        assert (
            browser.run("return document.getElementById('status').textContent")
            == "live (update 52)"
        )
        assert browser.run(f"return {RUN}.series.loss.mean.data[51]") == pytest.approx(loss(52))
        assert browser.run(f"return {RUN}.validations[0].score") == 9
        time.sleep(0.5)
        new = (run / LOG).stat().st_size - size
        assert new <= received(browser) <= new + 40, "nothing is sent twice"
        assert browser.console() == []


def test_the_page_asks_for_nothing_but_the_stream(browser, run):
    with serve(run) as server:
        show(browser, server)
        write_log(run, [update(51)])
        browser.wait(f"{RUN}.count === 51")
        size = len((run / LOG).read_bytes()) - len((run / LOG).read_bytes().splitlines()[-1]) - 1
        assert browser.requests() == [f"{server.address}events?from={size}"]


def test_many_updates_are_drawn_ten_times_a_second_at_most_and_not_while_hidden(browser, run):
    with serve(run) as server:
        show(browser, server)
        begin, count = time.monotonic(), browser.run("return window.transduce.app.frames")
        for step in range(51, 251):
            write_log(run, [update(step)])
            time.sleep(0.005)
        browser.wait(f"{RUN}.count === 250")
        seconds = time.monotonic() - begin
        drawn = browser.run("return window.transduce.app.frames") - count
        assert 0 < drawn <= 10 * seconds + 2
        hide = "Object.defineProperty(document, 'hidden', { value: %s, configurable: true });"
        browser.run(hide % "true")
        time.sleep(0.3)
        count = browser.run("return window.transduce.app.frames")
        write_log(run, [update(251)])
        browser.wait(f"{RUN}.count === 251")
        time.sleep(0.3)
        assert browser.run("return window.transduce.app.frames") == count
        browser.run(hide % "false" + "document.dispatchEvent(new Event('visibilitychange'))")
        browser.wait(f"window.transduce.app.frames > {count}")


def test_a_server_that_comes_back_is_found_and_goes_on_at_the_offset(browser, run):
    with serve(run) as server:
        show(browser, server)
        port = server.server_address[1]
    write_log(run, [update(51)])
    browser.wait("document.getElementById('status').textContent.startsWith('connection lost')")
    with serve(run, port=port):
        browser.wait(f"{RUN}.count === 51")
        browser.wait("document.getElementById('status').textContent === 'live (update 51)'")
        assert browser.run(f"return {RUN}.unreadable") == 0, "no line came twice"


def test_a_resumed_run_loses_its_void_updates_and_another_run_is_loaded(browser, run):
    with serve(run) as server:
        show(browser, server)
        write_log(run, [("resume", {"step": 40, "changed": []}), update(41, nats=7.0)])
        browser.wait(f"{RUN}.count === 41")
        assert browser.run(f"return {RUN}.series.loss.mean.data[40]") == 7
        assert browser.run(f"return [{RUN}.lost, {RUN}.marks.resume]") == [10, [40]]
        (run / LOG).unlink()
        write_log(run, [update(1), update(2)])
        browser.wait(f"window.transduce && {RUN}.count === 2")


def test_lines_that_are_no_events_are_counted_as_in_a_file(browser, run):
    lines = [b"{", b"\xff\xfe", b"[]", b'{"event": "update", "step": "51"}', b""]
    with serve(run) as server:
        show(browser, server)
        write_log(run, [], lines)
        write_log(run, [update(51, nats=float("nan"), applied=False)])
        browser.wait(f"{RUN}.count === 51")
        assert browser.run(f"return [{RUN}.unreadable, {RUN}.skipped.data[50]]") == [4, 1]
        assert browser.console() == []
