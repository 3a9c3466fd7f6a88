"""What tests of the attention page do in a browser again and again."""

import numpy as np
from tests.view.browser import Browser

from transduce.view.attention.page import build_attention_page

LINES = """
const { page, state, eachLine, chosenNow } = transduce, found = [];
eachLine(page.shown, chosenNow(), state().threshold, 0, page.shown.rows.length,
  (h, row, column, _, opacity) => found.push([page.shown.heads[h].number, row, column, opacity]));
return found;
"""


AGAIN = """
const { page } = transduce, { body, documentElement, activeElement } = document;
Object.assign(page, { hover: null, before: undefined, active: { side: "", unit: 0 } });
delete documentElement.dataset.theme;
if (activeElement !== body) activeElement.blur();
scrollTo(0, 0);
const link = "#" + arguments[0];
try { history.replaceState(null, "", link); } catch { location.hash = link; }
dispatchEvent(new HashChangeEvent("hashchange"));
"""


def name_kind(link: str) -> str:
    """Return a link that names a kind of attention: the encoder's, unless it names another."""
    return link if "k=" in link else f"k=enc&{link}"


def load_view(browser: Browser, view, link="", encoding=None):
    """Load the page of a view afresh and wait until it is drawn."""
    browser.open_text(build_attention_page(view, encoding), name_kind(link))
    browser.shown = view, encoding
    settle(browser)


def open_view(browser: Browser, view, link="", encoding=None):
    """Show the page of a view as `load_view` does; if it is open already it follows the link."""
    shown, written = browser.shown or (None, None)
    if shown is not view or written != encoding:
        load_view(browser, view, link, encoding)
        return
    browser.forget()
    browser.run(AGAIN, name_kind(link))
    settle(browser)


def follow(browser: Browser, link: str):
    """Go to another state of the page that is open, as by a link on it."""
    browser.run("location.hash = '#' + arguments[0]", name_kind(link))
    browser.wait("transduce.page.followed === location.hash")
    settle(browser)


def settle(browser: Browser):
    """Wait until the page shows its state."""
    browser.wait("window.transduce && transduce.page.ready === transduce.page.turn")
    browser.next_frame()


def press(browser: Browser, *keys: str):
    """Press keys and wait until the page shows what they do."""
    for key in keys:
        browser.press(key)
        settle(browser)


def click(browser: Browser, selector: str, times=1):
    """Click and wait until the page shows what that does."""
    browser.click(selector, times)
    settle(browser)


def state(browser: Browser, name: str):
    """Return a part of the page's state."""
    return browser.run("return transduce.state()[arguments[0]]", name)


def list_lines(browser: Browser):
    """Return the opacity of each line that the page draws, by (head, reader, read), from 1."""
    return {
        (head, row + 1, column + 1): opacity for head, row, column, opacity in browser.run(LINES)
    }


def expected_lines(weights, heads, threshold=0.01, readers=None, parts=None):
    """Return the same from the weights [H Q K] themselves, without those near the threshold."""
    parts = parts or len(heads)
    return {
        (head, q + 1, k + 1): float(weights[head - 1, q, k]) / parts
        for head in heads
        for q, k in np.ndindex(*weights.shape[1:])
        if weights[head - 1, q, k] >= threshold and (readers is None or q + 1 in readers)
    }


def assert_lines(found, expected, threshold=0.01):
    """Compare lines; a stored weight may be 0.0004 off near the threshold, 0.004 elsewhere."""
    sure = {key for key, opacity in expected.items() if opacity >= threshold + 0.0005}
    assert sure <= found.keys()
    missing = [key for key in found.keys() - expected.keys() if found[key] > threshold + 0.0005]
    assert missing == []
    assert max(abs(found[key] - expected[key]) for key in sure) <= 0.004
