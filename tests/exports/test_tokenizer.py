"""The exported tokenizer reads any text as the model does, cleaning included."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.exports.random_members import PIECES, WORDS
from tokenizers import Tokenizer

from transduce.exports.tokenizer import build_tokenizer_json
from transduce.text.clean import normalise

ODD = "a\u0301\u00a0 \u2028\x1c\x85\t\u200b\ufeffé x\x00y İ \u1100\u1161 ▁ Ġ </s> "


@cache
def load(vocabulary):
    tokenizer = Tokenizer.from_str(build_tokenizer_json(vocabulary).decode())
    tokenizer.encode_special_tokens = True
    return tokenizer


@pytest.mark.parametrize("vocabulary", [WORDS, PIECES], ids=["byte-pair", "word-piece"])
@given(text=st.text(max_size=40))
def test_the_exported_tokenizer_gives_the_models_ids_of_any_text(vocabulary, text):
    for one in (text, ODD, f"{text}{ODD}{text}"):
        assert load(vocabulary).encode(one).ids == vocabulary.encode(normalise(one))


def test_every_character_is_cleaned_as_the_model_cleans_it():
    tokenizer = load(WORDS)
    for start in range(0, 0x30000, 0x40):
        block = [chr(c) for c in range(start, start + 0x40) if not 0xD800 <= c < 0xE000]
        text = "x".join(block)
        assert tokenizer.normalizer.normalize_str(text) == normalise(text)
