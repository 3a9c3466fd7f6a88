"""Ten thousand made-up hostile words in attention pages: each is shown as it is, none runs."""

import json
import random

import pytest
from tests.view.attention.opened import open_view
from tests.view.attention.samples import make_view
from tests.view.hostile import MARK, make_words

from transduce.view.attention.page import WeightEncoding, build_attention_page
from transduce.view.page import document

pytestmark = pytest.mark.browser
TEXTS = "return [...document.querySelectorAll('#readers .unit')].map((one) => one.textContent);"


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_words_are_shown_as_they_are_and_none_runs(browser, seed, record):
    words = make_words(random.Random(seed), 1000)
    open_view(browser, make_view(words, words[:3], layers=1, heads=1), f"v=lines&q={seed + 1}")
    assert browser.run(TEXTS) == words
    browser.run("transduce.buildSvg(); transduce.buildCsv();")
    assert browser.run("return window.stolen || 0") == 0
    assert browser.requests() == []
    assert browser.console() == []
    record(strings=len(words))


def test_the_control_with_plain_json_runs_a_word(browser, monkeypatch):
    """Without escapes, without the check of a block and without the policy, a word is code."""
    written = '<script type="application/json" id="{}">{}</script>'.format
    allowed = "default-src * data: 'unsafe-inline'"
    monkeypatch.setattr(document, "encode_json", json.dumps)
    monkeypatch.setattr(document, "build_policy", lambda *_: allowed)
    monkeypatch.setattr(
        document.DataBlock, "to_html", lambda one: written(one.identifier, one.text)
    )
    word = f"</script><img src=x onerror='{MARK}'>"
    view = make_view([word], ["a"], layers=1, heads=1)
    browser.open_text(build_attention_page(view, WeightEncoding(compression="none")))
    browser.wait("window.stolen > 0")
