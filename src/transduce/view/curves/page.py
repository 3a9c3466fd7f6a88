"""The page of training curves: one file that requests nothing, or one that a server keeps live."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from transduce.view.curves.encode import encode_run
from transduce.view.curves.run_log import RunLog
from transduce.view.page.data import json_block, seven_bit_block
from transduce.view.page.document import build_page
from transduce.view.page.parts import PageParts

SCRIPTS = (
    "numbers",
    "series",
    "run",
    "scale",
    "pen",
    "panels",
    "trace",
    "draw",
    "state",
    "readout",
    "app",
    "gestures",
    "controls",
    "export",
    "live",
    "main",
)
PARTS = PageParts(
    scripts=("page/dom.js", *(f"curves/{name}.js" for name in SCRIPTS)),
    styles=("page/theme.css", "curves/curves.css"),
    markup="curves/curves.html",
)


def build_curves_page(
    logs: Mapping[str, tuple[Path, RunLog]], *, full: bool = False, events: str = ""
) -> bytes:
    """Return the page of runs by name; `events` is the address of a server's new lines, or "".

    With `full` it shows each update, not only the last 10,000 of more than 200,000.
    """
    encoded = [encode_run(name, folder, log, full=full) for name, (folder, log) in logs.items()]
    header = {"format": 1, "runs": [about for about, _ in encoded], "events": events}
    blocks = [seven_bit_block(f"run-{i}", columns) for i, (_, columns) in enumerate(encoded)]
    parts = replace(PARTS, connect="'self'" if events else "'none'")
    title = f"Training curves: {', '.join(logs)}"
    return build_page(title, parts, [json_block("curves", header), *blocks]).encode()
