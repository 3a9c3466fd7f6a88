"""Ten thousand made-up hostile words in attention pages: each is shown as it is, none runs."""

import random

import pytest
from tests.view.attention.opened import open_view
from tests.view.attention.samples import make_view
from tests.view.hostile import HANDLERS, MARK, TAGS, attacks

pytestmark = [pytest.mark.browser, pytest.mark.soak]
TEXTS = "return [...document.querySelectorAll('#readers .unit')].map((one) => one.textContent);"


def make_words(rng, count):
    """Return words joined from parts of attacks, markup and any characters."""
    whole = [one for one in attacks() if one.isprintable() and len(one) < 200]
    marks = ["<", ">", "</", "/>", '"', "'", "`", "=", "&", ";", "\\", "script", "<!--", "-->"]
    parts = [*whole, *marks, *TAGS, *HANDLERS, f'"{MARK}"', "{{", "}}", "${", "\u05d0", "\u0639"]
    return ["".join(rng.choices(parts, k=rng.randint(1, 6))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_words_are_shown_as_they_are_and_none_runs(browser, seed):
    words = make_words(random.Random(seed), 1000)
    open_view(browser, make_view(words, words[:3], layers=1, heads=1), f"v=lines&q={seed + 1}")
    assert browser.run(TEXTS) == words
    browser.run("transduce.buildSvg(); transduce.buildCsv();")
    assert browser.run("return window.stolen || 0") == 0
    assert browser.requests() == []
    assert browser.console() == []
