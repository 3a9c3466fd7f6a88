"""A page whose model computes something else says so: its self-check sees each planted fault."""

import pytest
from tests.view.explainer.opened import READY, TOLERANCE
from tests.view.explainer.samples import ODD, TEXT, make_translator

from transduce.view.explainer import explain as explain_module
from transduce.view.page import document

pytestmark = pytest.mark.browser
# By name: a part of the page's script, and what stands there instead.
FAULTS = {
    "mask one later": ("(open || j <= position)", "(open || j <= position + 1)"),
    "mask one earlier": ("(open || j <= position)", "(open || j < Math.max(position, 1))"),
    "queries are keys": ("[q, keys, values] = projectSelf(", "[keys, q, values] = projectSelf("),
    "no scale of scores": ("scale = 1 / Math.sqrt(d_k)", "scale = 1"),
    "no scale of embeddings": ("scale = Math.sqrt(d_model)", "scale = 1"),
    "sine is cosine": ("return isCosine ? Math.cos", "return !isCosine ? Math.cos"),
    "positions from one": (
        "positionVector(model, side, first[i])",
        "positionVector(model, side, first[i] + 1)",
    ),
    "norm before the sum": (
        "normed = normalised(model, `${norm}.norm`, sums)",
        "normed = addRows(rows, normalised(model, `${norm}.norm`, found))",
    ),
    "no cut at zero": ("x > 0 ? x : 0", "x"),
    "values of another head": ("* value[k]", "* value[(k + d_v) % value.length]"),
}


@pytest.fixture(scope="module")
def contents():
    """What the page of a model is built from."""
    built = []

    def build_page(*given):
        built.append(given)
        return document.build_page(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explain_module, "build_page", build_page)
        explain_module.explain(make_translator(ODD), TEXT)
    (given,) = built
    return given


def open_and_check(browser, contents):
    """Build and open a page; return its largest difference from PyTorch's numbers."""
    browser.open_text(document.build_page(*contents))
    browser.wait(f"{READY} && transduce.page.checked !== undefined")
    return browser.run("const { checked } = transduce.page; return isNaN(checked) ? 1e9 : checked")


def test_a_page_without_a_fault_is_close_to_pytorch(browser, contents):
    assert open_and_check(browser, contents) <= TOLERANCE


@pytest.mark.parametrize("fault", FAULTS)
def test_the_self_check_sees_a_planted_fault(browser, contents, monkeypatch, fault):
    right, wrong = FAULTS[fault]
    read, planted = document.read_part, []

    def read_with_fault(path):
        text = read(path)
        if right in text:
            planted.append(path)
        return text.replace(right, wrong)

    monkeypatch.setattr(document, "read_part", read_with_fault)
    assert open_and_check(browser, contents) > 100 * TOLERANCE
    assert len(planted) == 1
