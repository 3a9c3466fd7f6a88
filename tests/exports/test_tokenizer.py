"""The exported tokenizer reads any text as the model does, cleaning included."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.exports.random_members import PIECES, WORDS
from tokenizers import Tokenizer

import transduce
from transduce.exports.tokenizer import build_tokenizer_json
from transduce.inference.load import load_task_model
from transduce.text.clean import normalise
from transduce.vocabulary import END

GOLDEN = Path(__file__).parents[1] / "golden/imported-1"
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


@given(text=st.text("thedogrunsﬁA %\u00a0\u200b日", max_size=30))
def test_the_exported_tokenizer_of_an_imported_vocabulary_gives_its_ids(text):
    vocabulary = load_imported()
    for one in (text, f"{text}</s>{text} <unk>"):
        assert load(vocabulary).encode(one).ids == vocabulary.encode(normalise(one))


def test_the_unknown_symbol_of_an_imported_vocabulary_has_no_text():
    vocabulary = load_imported()
    ids = vocabulary.encode("the dog ☃ runs")
    assert "<unk>" in map(vocabulary.piece, ids)
    assert load(vocabulary).decode(ids) == vocabulary.decode(ids).strip()


@cache
def load_imported():
    return load_task_model(GOLDEN / "imported").task.source


def test_an_imported_model_is_written_with_both_of_its_vocabularies(tmp_path):
    transduce.export(GOLDEN / "imported", to="ctranslate2", output=tmp_path / "out")
    assert (tmp_path / "out/source.tokenizer.json").is_file()
    transduce.export(GOLDEN / "imported", to="huggingface", output=tmp_path / "hf")
    imported = load_task_model(GOLDEN / "imported").task
    for name, vocabulary in (("tokenizer", imported.source), ("target.tokenizer", imported.target)):
        tokenizer = Tokenizer.from_file(str(tmp_path / f"hf/{name}.json"))
        assert tokenizer.encode("the dog").ids == [*vocabulary.encode("the dog"), END]
