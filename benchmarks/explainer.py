"""Measure the explainer in headless Chromium: python -m benchmarks.explainer MODEL [TEXT].

It builds the page of a model folder or a run and measures, as medians of some rounds: its size;
the time until something, the stored translation, the computed one and the self-check are on the
screen; a step of the beam search; a translation, from a change of the text until all is shown; and
the longest task of the page's thread meanwhile. One JSON line.
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from tests.view.browser import Browser, open_browser

from benchmarks.view import run_async
from transduce.view.explainer.explain import explain

ROUNDS = 5
TEXT = "The teacher does not know whether the women worked in the kitchen."
OPENED = """
const done = arguments[0];
let stored = 0, shown = 0;
const again = () => {
  if (document.getElementById('target-pieces').children.length) stored ||= performance.now();
  if (window.transduce && transduce.page.ready) shown ||= performance.now();
  if (!shown || transduce.page.checked === undefined) return requestAnimationFrame(again);
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  done([paint ? paint.startTime : null, stored, shown, performance.now()]);
};
again();
"""
# Searches the text with a beam of 4; returns milliseconds a step, the number of steps, of pieces.
STEPS = """
const { page, header, beamSearch, finish } = transduce, { model, source } = page.result;
const settings = { ...header.search, beam: 4 };
finish(beamSearch(model, source, settings));
const begun = performance.now(), { steps, best } = finish(beamSearch(model, source, settings));
arguments[0]([(performance.now() - begun) / steps.length, steps.length, best.ids.length]);
"""
# Translates another text; returns milliseconds until it is shown, and the longest task meanwhile.
CHANGE = """
const [text, done] = arguments, long = [0];
const keep = found => long.push(...found.getEntries().map(one => one.duration));
const watch = new PerformanceObserver(keep);
watch.observe({ type: "longtask" });
const begun = performance.now();
transduce.change({ text }).then(() => {
  const seconds = performance.now() - begun;
  setTimeout(() => { watch.disconnect(); done([seconds, Math.max(...long)]); }, 200);
});
"""


def main(words: list[str]) -> None:
    """Measure the page of a model and print its figures."""
    if not words:
        sys.exit("python -m benchmarks.explainer MODEL [TEXT]")
    began = time.perf_counter()
    page = explain(Path(words[0]), words[1] if len(words) > 1 else TEXT).page
    figures: dict[str, Any] = {"bytes": len(page.encode())}
    figures["build_s"] = round(time.perf_counter() - began, 2)
    with open_browser() as browser:
        browser.resize(1200, 900)
        print(json.dumps(figures | measure(browser, page)), flush=True)


def measure(browser: Browser, page: str) -> dict[str, Any]:
    """Return the figures of an explainer's page: medians, or the longest of all rounds."""
    opened, file = [], browser.open_text(page)
    for _ in range(ROUNDS):
        browser.open(file)
        opened.append(run_async(browser, OPENED))
    names = ("first_paint_ms", "stored_ms", "computed_ms", "checked_ms")
    figures = {
        name: round(statistics.median(values))
        for name, values in zip(names, zip(*opened, strict=True), strict=True)
    }
    steps = [run_async(browser, STEPS) for _ in range(ROUNDS)]
    figures["step_ms"] = round(statistics.median(one[0] for one in steps), 2)
    figures |= {"steps": steps[0][1], "pieces": steps[0][2]}
    figures["weights"] = browser.run("return transduce.header.parameters")
    text = browser.run("return transduce.header.example.text")
    changes = [run_async(browser, CHANGE, text + " " * number) for number in range(1, ROUNDS + 1)]
    figures["translation_ms"] = round(statistics.median(one[0] for one in changes))
    figures["longest_task_ms"] = round(max(one[1] for one in changes))
    return figures


if __name__ == "__main__":
    main(sys.argv[1:])
