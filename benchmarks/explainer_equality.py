"""Compare the explainer's search with Python's: python -m benchmarks.explainer_equality MODEL FILE.

FILE has sentences, one a line; those of more pieces than the page reads are left out. The page of
the model translates each in headless Chromium. Printed as one JSON line: how many outputs, as ids,
are those of Python's search with the weights that the page holds, and with the model's own; the
largest difference of a score; for how many of the first hundred sentences the live hypotheses of
every step are the same; and the lines whose outputs differ.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.view.browser import open_browser
from tests.view.explainer.opened import READY, search

from transduce.inference.load import load
from transduce.inference.outputs import combine_models
from transduce.search.trace import trace_beam_search
from transduce.text.files import read_lines
from transduce.view.explainer import LONGEST
from transduce.view.explainer.explain import build_stored_model, explain
from transduce.view.explainer.weights import store_weights
from transduce.vocabulary import END

STEPS = 100  # sentences of which every step of the search is compared
AT_ONCE = 5  # sentences that the page translates in one call of the driver


def main(words: list[str]) -> None:
    """Compare the outputs for all lines of a file and print the figures."""
    if len(words) not in (2, 3):
        sys.exit("python -m benchmarks.explainer_equality MODEL FILE [float16|int8|float32]")
    numbers = words[2] if len(words) == 3 else "float16"
    translator = load(words[0])
    lines = [translator.task.normalise(line) for line in read_lines(words[1])]
    sources = translator.task.encode_sources(lines)
    kept = [(a, b) for a, b in zip(lines, sources, strict=True) if 1 < len(b) <= LONGEST]
    stored = store_weights(translator.models[0].named_weights(), numbers)
    models = [build_stored_model(translator, stored), translator.models[0]]
    expected = [trace_all(translator, model, [ids for _, ids in kept]) for model in models]
    with open_browser() as browser:
        browser.open_text(explain(Path(words[0]), kept[0][0], numbers=numbers).page)
        browser.wait(READY)
        found = list[Any]()
        for first in range(0, len(kept), AT_ONCE):
            found += search(browser, [line for line, _ in kept[first : first + AT_ONCE]])
    figures = {"lines": len(lines), "compared": len(kept), "numbers": numbers}
    print(json.dumps(figures | compare(found, expected, [line for line, _ in kept])))


def trace_all(translator: Any, model: Any, sources: list[list[int]]) -> list[Any]:  # noqa: ANN401
    """Return Python's search, with every step, of each source."""
    decoder = combine_models([model])
    return [trace_beam_search(decoder, ids, translator.recipe.search, 1) for ids in sources]


def compare(found: list[Any], expected: list[list[Any]], lines: list[str]) -> dict[str, Any]:
    """Return how many outputs, scores and beams of the page are Python's."""
    stored, own = ([[*one.best.ids, END] for one in searches] for searches in expected)
    ids = [one["ids"] for one in found]
    beams = [
        [[one["ids"] for one in step] for step in page["steps"]]
        == [[list(one.ids) for one in step] for step in python.steps]
        for page, python in zip(found[:STEPS], expected[0][:STEPS], strict=True)
    ]
    scores = [
        abs(page["score"] - python.best.score)
        for page, python in zip(found, expected[0], strict=True)
        if page["ids"] == [*python.best.ids, END]
    ]
    return {
        "equal": sum(a == b for a, b in zip(ids, stored, strict=True)),
        "equal_to_original": sum(a == b for a, b in zip(ids, own, strict=True)),
        "largest_score_difference": max(scores),
        "equal_beams": f"{sum(beams)} of {len(beams)}",
        "different": [line for line, a, b in zip(lines, ids, stored, strict=True) if a != b],
    }


if __name__ == "__main__":
    main(sys.argv[1:])
