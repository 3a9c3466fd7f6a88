"""How soon the server's page shows a translation (row V29): python -m benchmarks.serving_page

A text is put into the page in headless Chromium, as one key of a user would, and the time
until its translation is drawn is taken in the page. The search is a fake one that answers at once,
so that the figures are what page and server add to the time of a model.
"""

import json
import os
import statistics

from tests.serve.fake_search import FakeSearch
from tests.serve.running import running_server
from tests.view.browser import Browser, open_browser

TURNS = 40
TYPED, ENDED = "a sentence that goes on {}", "a sentence that ends {}."
WRITE = """
const [text, wanted, done] = arguments, box = document.getElementById("text");
const output = document.getElementById("output"), before = performance.now();
box.value = text;
box.dispatchEvent(new InputEvent("input", { inputType: "insertText" }));
const again = () => {
  if (output.textContent === wanted) done(performance.now() - before);
  else requestAnimationFrame(again);
};
requestAnimationFrame(again);
"""


def main() -> None:
    """Print the milliseconds for a text that is typed on and for one that ends a sentence."""
    load = round(os.getloadavg()[0], 1)
    with running_server(start=FakeSearch()) as server, open_browser() as browser:
        browser.open(f"http://127.0.0.1:{server.port}/")
        for what, text in (("after a key", TYPED), ("after a sentence's end", ENDED)):
            times = [measure(browser, text.format(number)) for number in range(TURNS)]
            found = {"median_ms": statistics.median(times), "slowest_ms": max(times)}
            rounded = {name: round(value) for name, value in found.items()}
            print(json.dumps({"what": what, **rounded, "load_before": load}))


def measure(browser: Browser, text: str) -> float:
    """Return the milliseconds from the input of a text to its drawn translation."""
    script = {"script": WRITE, "args": [text, f"[{text}]"]}
    return float(browser.command("execute/async", script))


if __name__ == "__main__":
    main()
