"""Measure the page of training curves in headless Chromium: python -m benchmarks.curves [UPDATES].

It writes the log of a run of 1,000,000 updates, one of them a spike, and measures, as the page is
by default and with every update (--full): the processor time of building it, first without cached
columns and then with them, its size, the time until the curves are on the screen, drawing after a
zoom, and whether the spike is drawn. Then it serves the run and writes updates: the time until each
is on the screen, and the bytes sent for one. One JSON line each.
"""

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.view.browser import Browser, open_browser
from tests.view.curves.logs import update, write_log
from tests.view.curves.serving import serve

import transduce
from benchmarks.view import run_async
from transduce.training.journal import LOG

UPDATES, ROUNDS, TICKS = 1_000_000, 5, 20
SPIKE = 12.0  # nats at one update in the middle
OPENED = """
const done = arguments[0];
const again = () => {
  if (!window.transduce || !transduce.app.frames) return requestAnimationFrame(again);
  requestAnimationFrame(() => done(performance.now()));
};
again();
"""
ZOOM = """
const done = arguments[0], { app } = transduce, { count, x } = app.runs[0], times = [];
const last = x.step.data[count - 1];
for (let i = 1; i <= 40; i++) {
  app.state.from = (last * i) / 100;
  app.state.to = last - (last * i) / 100;
  const begun = performance.now();
  app.drawNow();
  times.push(performance.now() - begun);
}
Object.assign(app.state, { from: null, to: null });
app.drawNow();
times.sort((a, b) => a - b);
done([times[20], times[37]]);
"""
SPIKE_PIXELS = """
const { canvas, scales } = transduce.app.panels.get("loss");
const x = Math.floor(scales.xScale.pixel(arguments[0])), y = Math.round(scales.yScale.pixel(8));
const { data } = canvas.getContext("2d").getImageData(x - 3, y, 7, 1);
return Array.from({ length: 7 }, (_, i) => data[4 * i + 3]).some((alpha) => alpha > 60);
"""
LIVE = "window.transduce && document.getElementById('status').textContent.startsWith('live')"


def main(words: list[str]) -> None:
    """Measure the page of a long run, default and full, and the live page of it."""
    count = int(words[0]) if words else UPDATES
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRANSDUCE_CACHE"] = folder
        run = write_long_log(Path(folder, "run"), count)
        for full in (False, True):
            shutil.rmtree(Path(folder, "columns"), ignore_errors=True)
            figures = measure_page(run, count, Path(folder, "page.html"), full=full)
            print(json.dumps(figures), flush=True)
        print(json.dumps(measure_live(run, count)), flush=True)


def write_long_log(run: Path, count: int) -> Path:
    """Write the log of a run with a spike in its middle."""
    middle = count // 2
    events = (
        update(step, nats=SPIKE) if step == middle else update(step) for step in range(1, count + 1)
    )
    return write_log(run, events)


def measure_page(run: Path, count: int, file: Path, *, full: bool) -> dict[str, Any]:
    """Return the figures of a page that is written to a file."""
    figures: dict[str, Any] = {"updates": count, "full": full}
    for name in ("build", "cached"):
        wall, processor = time.perf_counter(), time.process_time()
        transduce.curves(run, output=file, full=full)
        figures[f"{name}_processor_s"] = round(time.process_time() - processor, 2)
        figures[f"{name}_s"] = round(time.perf_counter() - wall, 2)
    figures |= {"bytes": file.stat().st_size, "log_bytes": (run / LOG).stat().st_size}
    with open_browser() as browser:
        browser.resize(1200, 900)
        ready = []
        for _ in range(ROUNDS):
            browser.open(file)
            ready.append(run_async(browser, OPENED))
        figures["on_screen_ms"] = [round(one) for one in sorted(ready)]
        median, late = run_async(browser, ZOOM)
        figures["zoom_ms"] = [round(median, 1), round(late, 1)]
        figures["spike_drawn"] = browser.run(SPIKE_PIXELS, count // 2)
    return figures


def measure_live(run: Path, count: int) -> dict[str, Any]:
    """Return how soon new updates are seen in the live page, and how many bytes one takes."""
    seen = []
    with serve(run) as server, open_browser() as browser:
        browser.open(server.address)
        browser.wait(LIVE)
        browser.logged("performance")
        size = (run / LOG).stat().st_size
        for step in range(count + 1, count + TICKS + 1):
            time.sleep(0.3)
            began = time.perf_counter()
            write_log(run, [update(step)])
            browser.wait(f"document.getElementById('status').textContent.endsWith(' {step:,}')")
            seen.append(time.perf_counter() - began)
        written = (run / LOG).stat().st_size - size
        return {
            "live_ms": [round(1_000 * one) for one in (statistics.median(seen), max(seen))],
            "bytes_of_an_update": round(written / TICKS),
            "bytes_sent": round(count_sent(browser) / TICKS),
        }


def count_sent(browser: Browser) -> int:
    """Return the number of characters that came by the stream."""
    messages = (json.loads(one["message"])["message"] for one in browser.logged("performance"))
    data = [
        m["params"]["data"] for m in messages if m["method"] == "Network.eventSourceMessageReceived"
    ]
    return sum(map(len, data))


if __name__ == "__main__":
    main(sys.argv[1:])
