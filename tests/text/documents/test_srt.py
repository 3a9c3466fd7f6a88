"""SubRip: times and numbers stay, and text is wrapped."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.documents.mock_translators import repeat, swap_case

from transduce.errors import InputError
from transduce.text.documents.document import ParseOptions
from transduce.text.documents.srt import parse_srt, split_cues

FILM = """1
00:00:01,000 --> 00:00:02,500
{\\an8}The dog that we saw
<i>yesterday</i> is back.

2
00:00:03,000 --> 00:00:04,500 X1:100 X2:200
- Where is it?
- <i>Over there.</i>

3
00:00:05.000 --> 00:00:06.500
♪ ♪


4
00:00:07,000 --> 00:00:08,500
"""
SENTENCES = ["The dog that we saw\nyesterday is back.", "Where is it?", "Over there."]


def parse_cues(text):
    blocks = split_cues(text, ParseOptions(inline=True))
    return [one for one in blocks if not isinstance(one, str)]


def parse(text, *, inline=True):
    return parse_srt(text, ParseOptions(inline=inline, name="film.srt"))


def test_subtitles_that_end_before_they_begin_are_told_once():
    turned = FILM.replace("--> 00:00:04,500", "--> 00:00:02,999").replace(",500\n", ",100\n")
    assert parse(FILM).warnings == ()
    found = parse(turned.replace("00:00:07,000", "00:00:08.2"))
    assert found.warnings == ["subtitles that end before they begin: 2, the first at line 7"]
    assert repeat(found).text == turned.replace("00:00:07,000", "00:00:08.2")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_only_the_text_of_cues_is_changed(line_end):
    film = FILM.replace("\n", line_end)
    document = parse(film)
    assert [one.replace("\r", "") for one in document.sentences] == SENTENCES
    assert repeat(document).text == film
    wanted = film
    for word in ("The dog that we saw", "yesterday", " is back", "Where is it", "Over there"):
        wanted = wanted.replace(word, word.swapcase())
    assert swap_case(document).text == wanted


def test_a_line_that_is_wrapped_has_the_line_end_of_the_file():
    film = "1\r\n00:00:01,000 --> 00:00:02,500\r\nHello you.\r\n\r\n"
    found = parse(film).join(["Hello to you, whom we have not seen for so long."], [[]]).text
    assert found.count("\n") == found.count("\r\n") == 5


def test_without_links_the_texts_between_tags_are_sentences():
    document = parse(FILM, inline=False)
    assert list(document.sentences) == [
        "The dog that we saw", "yesterday", "is back.", "Where is it?", "Over there.",
    ]  # fmt: skip
    assert repeat(document).text == FILM


def test_a_line_that_ends_a_sentence_is_not_joined_to_the_next():
    cue = "1\n00:00:01,000 --> 00:00:02,500\n{}\n"
    document = parse(cue.format("Where are you\ngoing?\nI am <i>tired</i>."))
    assert document.sentences == ("Where are you\ngoing?", "I am tired.")
    found = document.join(["Wohin gehst du denn?", "Ich bin müde."], [[], [(2, 2)]]).text
    assert found == cue.format("Wohin gehst\ndu denn?\nIch bin <i>müde</i>.")
    for other in ("<i>It is he.\nHe is here.</i>", "It is Mr.\nSmith."):
        assert len(parse_cues(cue.format(other))) == 1


def test_a_long_translation_gets_more_lines_and_a_short_one_no_more():
    def translate(text):
        split = parse(FILM).join([text, "x", "y"], [[(4, 4)]] * 3).text.split("\n\n")
        return split[0].split("\n")[2:]

    assert translate("a b") == ["{\\an8}a", "<i>b</i>"]
    lines = translate("wort " * 20)
    assert len(lines) == 3
    assert all(len(re.sub("<.*?>|{.*?}", "", line)) <= 42 for line in lines)
    assert len(translate("wort " * 8)) == 2


def test_no_line_is_broken_at_a_no_break_space():
    cue = "1\n00:00:01,000 --> 00:00:02,500\n{}\n"
    found = parse(cue.format("Where\nis it?")).join(["Où\u202f?"], [[]]).text
    assert found == cue.format("Où\u202f?")


@pytest.mark.parametrize(
    ("text", "line", "fact"),
    [
        ("Hello\n", 1, "neither the number nor the times"),
        ("1\n00:00:01,000 --> soon\nHello", 2, "neither the number nor the times"),
        (FILM.replace("\n\n2", "\n2"), 6, "times where a cue's text goes on"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_line(text, line, fact):
    with pytest.raises(InputError, match=f"film.srt, line {line}: {fact}"):
        parse(text)


@given(st.lists(st.text("aB.<i>/{}\\ \r-", max_size=20).filter(str.strip), max_size=6))
def test_any_text_of_cues_comes_back(lines):
    text = "1\n00:00:01,000 --> 00:00:02,500\n" + "\n".join(lines) + "\n\n"
    assert repeat(parse(text)).text == text


def test_very_many_blanks_take_no_quadratic_time():
    film = FILM.replace("yesterday", " " * 300_000 + "yesterday")
    assert list(parse(film).sentences)[1:] == SENTENCES[1:]
