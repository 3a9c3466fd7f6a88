"""The page cuts text into the pieces that Python cuts it into, and joins them the same way."""

import json
import random

import pytest
from tests.view.explainer.opened import open_explainer
from tests.view.explainer.samples import PAPERS, TEXT, make_translator
from tests.view.hostile import attacks

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PIECES = """
const { encodeSource, normalise, decodeIds, VOCABULARIES } = transduce;
const both = (text) => [encodeSource(text), decodeIds(VOCABULARIES.source, encodeSource(text))];
return JSON.parse(arguments[0]).map(both);
"""
LETTERS = [
    *("the ", "dog", "'s", "'re", " ", "  ", "\t", "\u00a0", "\u2028", "\u0085", "\u200b", "."),
    *("ä", "a\u0308", "ß", "é", "ﬁ", "\u0301", "中文", "日", "ا", "ب", "א", "😀", "👩‍👩‍👧", "½"),
    *("1", "23", "٣", "!", "?", "…", "</s>", "<s>", "_", "-", "\u202e", "\ufeff", "\ud800", "\x00"),
    *("ก", "ำ", "क", "्", "ष", "𝔘", "\U00010348", "Ⅷ", "²", "x" * 120),
]


def make_texts(count):
    draw = random.Random(5)
    return ["".join(draw.choices(LETTERS, k=draw.randint(1, 12))) for _ in range(count)]


@pytest.mark.parametrize("kind", ["byte-pair", "word-piece"])
def test_pieces_and_text_are_those_of_python(browser, kind):
    translator = make_translator(PAPERS, kind)
    open_explainer(browser, translator, TEXT)
    texts = [*attacks(), *make_texts(10_000)]
    task = translator.task
    encoded = task.encode_sources([task.normalise(text) for text in texts])
    expected = [[ids, task.decode(ids, "")] for ids in encoded]
    found = []
    for first in range(0, len(texts), 2_000):
        found += browser.run(PIECES, json.dumps(texts[first : first + 2_000]))
    different = [
        (text, one, other)
        for text, one, other in zip(texts, found, expected, strict=True)
        if one != other
    ]
    assert different[:3] == []
