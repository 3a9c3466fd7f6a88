"""German text cut into the words that the paper's BLEU counts."""

import json
import sys

import pytest

from transduce.errors import InputError
from transduce.scores.paper_bleu import (
    build_moses_tokenizer,
    is_tokenised,
    replace_unicode_punctuation,
    split_compounds,
)

# where the library differs from the programs of 2017: docs/internals/deviations.md names them
DIFFERENT = {
    "   ",
    "中文，标点。“引号”！？",
    "日本語「括弧」、テスト：（全角）１２３％",
    "हिन्दी पाठ।",
    "DOTDOTMULTI.",
}


def rows(facts, language):
    text = (facts / f"mt/tokenize.{language}.jsonl").read_text("utf-8")
    found = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    assert len(found) == 286
    return found


def test_german_words_are_those_of_moses_of_2017_but_for_odd_lines(facts):
    words = build_moses_tokenizer()
    differ = {row["in"] for row in rows(facts, "de") if words(row["in"]) != row["tok_2017"]}
    assert differ <= DIFFERENT


@pytest.mark.parametrize("language", ["de", "en"])
def test_unicode_punctuation_is_replaced_as_in_2017(facts, language):
    for row in rows(facts, language):
        assert replace_unicode_punctuation(row["in"]) == row["replace_2017"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_compounds_are_split_as_the_script_splits_them(facts, language):
    for row in rows(facts, language):
        assert split_compounds(row["replace_tok_2017"]) == row["replace_tok_atat_2017"]


def test_all_steps_together_are_those_of_the_script(facts):
    words = build_moses_tokenizer()
    differ = {
        row["in"]
        for row in rows(facts, "de")
        if split_compounds(words(replace_unicode_punctuation(row["in"])))
        != row["replace_tok_atat_2017"]
    }
    assert differ <= DIFFERENT


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("a-b-c", "a ##AT##-##AT## b-c"),  # a letter between two hyphens is used up
        ("ab-cd-ef", "ab ##AT##-##AT## cd ##AT##-##AT## ef"),
        ("x--y", "x ##AT##-##AT## -y"),
        ("Ein- und Ausfuhr - ja", "Ein- und Ausfuhr - ja"),
        ("a\u00a0-b", "a\u00a0 ##AT##-##AT## b"),  # no blank in bytes
    ],
)
def test_a_hyphen_between_two_characters_splits(line, split):
    assert split_compounds(line) == split


def test_a_quote_that_nobody_thought_of_stays():
    assert replace_unicode_punctuation("„Haus“, ‚Hut‘, er’s…") == "„Haus\", ‚Hut‘, er's..."


def test_wide_punctuation_becomes_ascii_the_one_wrongly():
    assert replace_unicode_punctuation("（１２）：。  ．  x，") == '("2):. . x,'


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["Er kam .", "Wer ?", "usw."], True),
        (["Er kam.", "Wer?", "Ja !"], False),
        (["Er kam", "", "...", "Nein ..."], None),
        ([], None),
    ],
)
def test_text_shows_at_its_ends_whether_it_is_tokenised(lines, answer):
    assert is_tokenised(lines) is answer


def test_a_missing_library_is_reported_with_its_installation(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(InputError) as error:
        build_moses_tokenizer()
    assert "needs the package sacremoses" in str(error.value)
    assert "hint: pip install sacremoses" in str(error.value)
