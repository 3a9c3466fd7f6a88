"""What tests of the explainer do in a browser again and again."""

import functools
import json

import numpy as np
from tests.view.browser import Browser

from transduce.inference.translator import Translator
from transduce.view.explainer.explain import explain

TOLERANCE = 1e-4  # of a number in float32
READY = "window.transduce && transduce.page.ready"
WRITTEN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
FINISH = """
function finish(generator) {
  for (;;) {
    const { done, value } = generator.next();
    if (done) return value;
  }
}
"""
TRACE = (
    FINISH
    + """
const [source, output, off] = arguments, { page, traceModel } = transduce;
const trace = finish(traceModel(page.result.model, source, output, new Set(off)));
const rows = (row) => Array.from(row, (x) => (Number.isFinite(x) ? x : null));
return Object.fromEntries(Object.entries(trace).map(([name, all]) => [name, all.map(rows)]));
"""
)
SEARCH = (
    FINISH
    + """
const [texts, changes, off] = arguments;
const { page, header, beamSearch, encodeSource } = transduce;
const settings = { ...header.search, ...changes }, silent = new Set(off);
return texts.map((text) => {
  const found = finish(beamSearch(page.result.model, encodeSource(text), settings, silent));
  return { ids: found.best.ids, score: found.best.score, steps: found.steps.map(one => one.live) };
});
"""
)


@functools.lru_cache(maxsize=4)
def build_page(translator: Translator, *texts: str, **settings) -> str:
    """Return the page of a translator; tests that follow each other open the same one."""
    return explain(translator, *texts, **settings).page


def open_explainer(browser: Browser, translator: Translator, *texts: str, **settings):
    """Open the page of a translator and wait until it has shown its example."""
    browser.open_text(build_page(translator, *texts, **settings))
    browser.wait(READY)


def change(browser: Browser, **parts):
    """Change parts of the page's state and wait until it is shown."""
    sent = json.dumps(parts)  # as text: the driver refuses lone surrogates in arguments
    browser.run("transduce.change(JSON.parse(arguments[0]))", sent)
    browser.wait(READY)


def text_of(browser: Browser, selector: str) -> str:
    """Return the text of the first element that a selector finds."""
    return browser.run("return document.querySelector(arguments[0]).textContent", selector)


def number_of(text: str) -> float:
    """Return the number that the page writes as a text such as "−3·10⁻⁴"."""
    return float(text.translate(WRITTEN).replace("·10", "e"))


def trace(browser: Browser, source, output, off=()):
    """Return all intermediates that the page computes: by name, a list of rows."""
    return browser.run(TRACE, source, output, list(off))


def as_array(rows):
    """Return rows as an array; the page hands over -Infinity as None."""
    return np.array([[-np.inf if x is None else x for x in row] for row in rows])


def assert_equal(found, expected):
    """Check that rows are equal, and -Infinity where they are expected to be."""
    assert found.shape == expected.shape
    assert np.array_equal(np.isinf(found), np.isinf(expected))
    finite = np.isfinite(expected)
    assert np.abs(found[finite] - expected[finite]).max() <= TOLERANCE


def search(browser: Browser, texts, off=(), **changes):
    """Return what the page's beam search finds for texts, with the live hypotheses of each step."""
    return browser.run(SEARCH, list(texts), changes, list(off))
