"""Running text as sentences, and what stands between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.clean import normalise
from transduce.text.sentences import split_sentences, split_text

ANYTHING = st.text(st.characters(codec="utf-8") | st.sampled_from(" .\n\tAbß5?\u200b\xa0"))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Ja. Nein.\n\n  Mr. Smith\nwent on.", ["Ja.", "Nein.", "Mr. Smith", "went on."]),
        ("One line\r\nand another\u2028and more", ["One line", "and another", "and more"]),
        ("No end", ["No end"]),
        ("— « Oui. » dit-il.\n-- a - b", ["« Oui. » dit-il.", "a - b"]),
        ("***\n420. 3.5\t\n* One.", ["One."]),
        ("\u200b \u200b Ja.\u200b Nein.", ["Ja.\u200b", "Nein."]),
        ("  \n ", []),
        ("", []),
    ],
)
def test_what_is_no_sentence_stands_between_them(text, sentences):
    split = split_text(text)
    assert list(split.sentences) == sentences
    assert split.join(split.sentences) == text
    assert len(split.between) == len(sentences) + 1
    marked = split.join([f"<{sentence}>" for sentence in sentences])
    assert marked.count("<") == len(sentences)


def test_a_line_end_is_a_blank_on_request():
    split = split_text("Mr. Smith\nwent. He\n\ncame.", at_line_ends=False)
    assert split.sentences == ("Mr. Smith\nwent.", "He\n\ncame.")


@pytest.mark.parametrize("language", ["de", "zh"])
@given(ANYTHING)
def test_any_text_comes_back_from_its_sentences(language, text):
    split = split_text(text, language)
    assert split.join(split.sentences) == text


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("zh-Hans", "你好。今天好！\n3、好的。", ["你好。", "今天好！", "3、好的。"]),
        ("hi", "यह एक है। वह दो।", ["यह एक है।", "वह दो।"]),
        ("es", "El Sr. García. ¿Qué\ntal?", ["El Sr. García.", "¿Qué", "tal?"]),
    ],
)
def test_sentences_of_other_languages_have_their_own_ends(language, text, sentences):
    assert list(split_text(text, language).sentences) == sentences


def test_translations_of_sentences_without_blanks_between_get_them():
    split = split_text("你好。好！ 对。", "zh")
    assert split.join(["Hello.", "Good!", "Right."]) == "Hello. Good! Right."
    assert split.join(["今日は。", "良い！", "はい。"]) == "今日は。良い！ はい。"


@pytest.mark.parametrize("blank", ["\xa0", "\u2009", "\u202f"])
def test_a_wide_blank_before_a_stop_ends_no_sentence_in_an_error(blank):
    pytest.importorskip("sentencex")
    found = split_text(f"Plan B{blank}. Hola a ti.", "es")
    assert "".join(found.sentences).replace(" ", "") == f"PlanB{blank}.Holaati."


def test_without_sentencex_the_rules_are_ours(monkeypatch):
    monkeypatch.setattr("transduce.text.sentences.find_spec", lambda _: None)
    assert split_text("Sr. García. Bien.", "es").sentences == ("Sr.", "García.", "Bien.")


@given(st.text("aB.?! 5\xa0\u200b\t"))
def test_sentences_are_those_of_the_normalised_text(text):
    found = [normalise(one) for one in split_text(text, at_line_ends=False).sentences]
    wanted = split_sentences(normalise(text))
    assert found == [one for one in wanted if any(map(str.isalpha, one))]
