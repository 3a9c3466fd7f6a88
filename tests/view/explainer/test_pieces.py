"""The page cuts text into the pieces that Python cuts it into, and joins them the same way."""

import base64
import json
import random

import pytest
from tests.runs.marian_checkpoints import compile_charsmap
from tests.view.explainer.opened import open_explainer
from tests.view.explainer.samples import PAPERS, TEXT, make_translator
from tests.view.hostile import attacks

from transduce.vocabulary import Vocabulary
from transduce.vocabulary.sentencepiece import build_sentencepiece, write_runs

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
    *("＜/s＞", "＜", "x\u0301", "ﬁ\u0301", "क्ष", "ß\u200d", "<unk>", "▁", "ab", "é"),
    *("ก", "ำ", "क", "्", "ष", "𝔘", "\U00010348", "Ⅷ", "²", "x" * 120),
]


def make_texts(count):
    draw = random.Random(5)
    return ["".join(draw.choices(LETTERS, k=draw.randint(1, 12))) for _ in range(count)]


def make_unigram():
    """A vocabulary of random pieces, many of them with equal scores, and a table with odd rules.

    Most letters are known only as parts of pieces, so that unknown ones compete with these.
    """
    draw, text = random.Random(7), "▁the▁dog's▁xxxx▁größer▁١٢1234ab中文日😀é..."
    starts = [draw.randrange(len(text)) for _ in range(250)]
    pieces = dict.fromkeys(text[at : at + draw.randint(2, 5)] for at in starts)
    known = [*"▁hgx12", *(piece for piece in pieces if len(piece) > 1 and "▁" not in piece[1:])]
    scores = [(piece, -float(draw.randint(2, 12))) for piece in known]
    rules = {
        "ﬁ": "fi",
        "½": " 1/2",
        "…": "...",
        "ß": "ss",
        "ä": "",
        "＜": "<",
        "ก": " ",
        "日": "中",
    }
    table = compile_charsmap({**rules, "क": "ka", "Ⅷ": "VIII"})
    scores += [(letter, -1_000.0) for letter in "öрж٢"]
    runs = write_runs(set("".join(known)) - set("рж"))
    return Vocabulary(build_sentencepiece(scores, base64.b64encode(table).decode(), runs))


@pytest.mark.parametrize("kind", ["byte-pair", "word-piece", "sentencepiece"])
def test_pieces_and_text_are_those_of_python(browser, kind):
    source = make_unigram() if kind == "sentencepiece" else None
    translator = make_translator(PAPERS, kind, source=source)
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
