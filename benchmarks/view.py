"""Measure the attention page in headless Chromium: python -m benchmarks.view [POSITIONS …].

For each length it builds a page of made-up weights (three kinds, 6 layers, 8 heads) and measures
its size, the time until something and until everything is on the screen, and frames while the
mouse moves over words, while the page scrolls, and when the layer changes. One JSON line each.
"""

import json
import statistics
import sys
import time
from typing import Any

from tests.view.attention.samples import ENGLISH, make_view
from tests.view.browser import Browser, open_browser

from transduce.view.attention.page import build_attention_page

FRAMES = 60
READY = """
const done = arguments[0];
const again = () => {
  if (window.transduce && transduce.page.ready === transduce.page.turn) {
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    done([paint ? paint.startTime : null, performance.now()]);
  } else requestAnimationFrame(again);
};
again();
"""
# Does something before each of many frames; returns the times between them, in milliseconds.
EACH_FRAME = """
const [count, body, done] = arguments, act = new Function('frame', body), times = [];
let frame = 0, before = performance.now();
const next = (now) => {
  if (frame) times.push(now - before);
  before = now;
  if (frame === count) return done(times);
  act(frame++);
  requestAnimationFrame(next);
};
requestAnimationFrame(next);
"""
HOVER = """
const units = document.querySelectorAll('#readers .unit');
units[(7 * frame) % units.length].dispatchEvent(new MouseEvent('mousemove', { bubbles: true }));
"""
CHANGE = """
const [key, done] = arguments, before = performance.now();
document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
const again = () => {
  if (transduce.page.ready === transduce.page.turn) requestAnimationFrame(() =>
    requestAnimationFrame(() => done(performance.now() - before)));
  else requestAnimationFrame(again);
};
again();
"""


def main(words: list[str]) -> None:
    """Measure each length and print its figures."""
    for count in [int(word) for word in words] or [27, 128, 512]:
        with open_browser() as browser:
            print(json.dumps(measure(browser, count)), flush=True)


def measure(browser: Browser, count: int) -> dict[str, Any]:
    """Return the figures of a page with `count` positions on each side."""
    source = [f"{ENGLISH[i % len(ENGLISH)]}{i}" for i in range(count - 1)]
    view, began = make_view(source, source), time.perf_counter()
    page = build_attention_page(view)
    built = time.perf_counter() - began
    browser.resize(1200, 900)
    figures: dict[str, Any] = {"positions": count, "bytes": len(page.encode())}
    figures["build_s"] = round(built, 2)
    file = browser.open_text(page, "k=enc&l=5&v=lines")
    paint, ready = run_async(browser, READY)
    figures |= {"first_paint_ms": round(paint or 0), "ready_ms": round(ready)}
    figures["hover_ms"] = summarise(run_async(browser, EACH_FRAME, FRAMES, HOVER))
    browser.open(file, "k=enc&l=5&v=lines")
    run_async(browser, READY)
    scroll = "scrollBy(0, frame % 40 < 20 ? 60 : -60)"
    figures["scroll_ms"] = summarise(run_async(browser, EACH_FRAME, FRAMES, scroll))
    figures["layer_ms"] = [round(run_async(browser, CHANGE, "[")) for _ in range(3)]
    figures["head_ms"] = [round(run_async(browser, CHANGE, key)) for key in "amw"]
    browser.open(file, "k=enc&l=5&v=matrix")
    figures["matrix_ready_ms"] = round(run_async(browser, READY)[1])
    browser.open(file, "k=enc&l=5&v=grid")
    figures["grid_ready_ms"] = round(run_async(browser, READY)[1])
    return figures


def run_async(browser: Browser, script: str, *arguments: object) -> Any:  # noqa: ANN401
    """Return what a script of the page hands to its last argument."""
    return browser.command("execute/async", {"script": script, "args": list(arguments)})


def summarise(times: list[float]) -> list[int]:
    """Return the median and the 95th percentile of times between frames."""
    return [round(statistics.median(times)), round(sorted(times)[int(0.95 * len(times))])]


if __name__ == "__main__":
    main(sys.argv[1:])
