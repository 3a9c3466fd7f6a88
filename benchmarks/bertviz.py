"""Measure BertViz's head view of the weights of benchmarks.view, in the same browser.

python -m benchmarks.bertviz PYTHON [POSITIONS …]: PYTHON is an interpreter that has bertviz and
torch; npm brings the three libraries that the page would load from the web. One JSON line each.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from tests.view.attention.samples import ENGLISH, make_view
from tests.view.browser import Browser, open_browser

from benchmarks.view import EACH_FRAME, FRAMES, run_async, summarise

LIBRARIES = MappingProxyType(  # by npm's name: the file in the package, the address in the page
    {
        "requirejs@2.3.6": ("require.js", "require.js/2.3.6/require.min.js"),
        "d3@5.7.0": ("dist/d3.min.js", "d3/5.7.0/d3.min"),
        "jquery@2.2.4": ("dist/jquery.min.js", "jquery/2.0.0/jquery.min"),
    }
)
NETWORK = "https://cdnjs.cloudflare.com/ajax/libs/"
MAKE = """
import sys, json, numpy, torch
from bertviz import head_view
layers = [torch.from_numpy(layer[None]) for layer in numpy.load(sys.argv[1])]
print(head_view(layers, json.load(open(sys.argv[2])), html_action="return").data)
"""
READY = """
const [done] = arguments, end = () => done(performance.now());
const again = () => {
  requestAnimationFrame(document.querySelector("#attention line") ? end : again);
};
again();
"""
HOVER = """
const words = document.querySelectorAll("#left text");
words[(7 * frame) % words.length].dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
"""


def main(words: list[str]) -> None:
    """Measure each length and print its figures."""
    if not words:
        sys.exit("python -m benchmarks.bertviz PYTHON [POSITIONS …]")
    with tempfile.TemporaryDirectory() as folder:
        libraries = fetch_libraries(Path(folder))
        for count in [int(word) for word in words[1:]] or [27, 128]:
            page = make_page(words[0], count, Path(folder), libraries)
            with open_browser() as browser:
                print(json.dumps({"positions": count} | measure(browser, page)), flush=True)


def fetch_libraries(folder: Path) -> dict[str, Path]:
    """Unpack the libraries from npm; return the file of each by its address in the page."""
    found = {}
    for name, (path, address) in LIBRARIES.items():
        command = ["npm", "pack", name, "--silent"]
        packed = subprocess.check_output(command, cwd=folder, text=True).strip()
        with tarfile.open(folder / packed) as archive:
            script = archive.extractfile(f"package/{path}")
            assert script is not None
            found[address] = folder / f"{name.split('@')[0]}.js"
            found[address].write_bytes(script.read())
    return found


def make_page(python: str, count: int, folder: Path, libraries: dict[str, Path]) -> Path:
    """Write BertViz's page of the encoder's weights, with its libraries from files."""
    source = [f"{ENGLISH[i % len(ENGLISH)]}{i}" for i in range(count - 1)]
    view = make_view(source, source)
    np.save(folder / "weights.npy", view.weights["encoder"])
    (folder / "words.json").write_text(json.dumps(list(view.source.pieces)))
    command = [python, "-c", MAKE, folder / "weights.npy", folder / "words.json"]
    html = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for address, file in libraries.items():
        local = str(file.with_suffix("")) if "min.js" not in address else str(file)
        html = html.replace(NETWORK + address, f"file://{local}")
    page = folder / "bertviz.html"
    page.write_text(html, encoding="utf-8")
    return page


def measure(browser: Browser, page: Path) -> dict[str, Any]:
    """Return the size of a page, when its lines are drawn, and frames while the mouse moves."""
    browser.resize(1200, 900)
    browser.open(page)
    figures: dict[str, Any] = {"bytes": page.stat().st_size}
    figures["ready_ms"] = round(run_async(browser, READY))
    figures["hover_ms"] = summarise(run_async(browser, EACH_FRAME, FRAMES, HOVER))
    return figures


if __name__ == "__main__":
    main(sys.argv[1:])
