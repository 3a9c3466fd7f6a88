"""Plain text: lines, paragraphs, and lines that were broken to fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.documents.mock_translators import repeat, swap_case

from transduce.text.documents.document import ParseOptions
from transduce.text.documents.plain import parse_text, wrap

WRAPPED = """  The committee met on Monday. It had been asked
to look at the plan that was made in the year
before, and it said yes. Nobody was surprised.
"""


def parse(text):
    return parse_text(text, ParseOptions())


def test_each_line_is_for_itself():
    letter = "Dear John,\n\nI came. I saw.\nYours\n\t* Jane\n"
    assert list(parse(letter).sentences) == ["Dear John,", "I came.", "I saw.", "Yours", "Jane"]
    assert swap_case(parse(letter)).text == letter.swapcase()


def test_sentences_go_on_where_lines_were_broken_to_fit():
    document = parse(f"A title\n\n{WRAPPED}\nThe end")
    assert [" ".join(one.split()) for one in document.sentences] == [
        "A title",
        "The committee met on Monday.",
        "It had been asked to look at the plan that was made in the year before, and it said yes.",
        "Nobody was surprised.",
        "The end",
    ]
    assert repeat(document).text == f"A title\n\n{WRAPPED}\nThe end"
    assert swap_case(document).text == f"A title\n\n{WRAPPED}\nThe end".swapcase()


@pytest.mark.parametrize("indent", ["\f", "\f  ", "\u3000", "\xa0\t"])
def test_a_wrapped_paragraph_keeps_every_blank_before_it(indent):
    text = indent + WRAPPED.lstrip()
    assert len(parse(text).sentences) == 3
    assert swap_case(parse(text)).text == text.swapcase()


def test_a_longer_translation_is_wrapped_to_the_same_width():
    document = parse(WRAPPED.replace("\n", "\r\n"))
    text = document.join([f"{one} {one}" for one in document.sentences], []).text
    assert text.startswith("  The committee met on Monday. The committee met\r\non Monday.")
    assert max(map(len, text.split("\r\n"))) <= len(
        "  The committee met on Monday. It had been asked"
    )
    assert text.split() == [
        word for one in document.sentences for word in [*one.split(), *one.split()]
    ]


def test_no_line_is_broken_at_a_no_break_space():
    for shift in range(48):
        first = "x" * shift + " Où\xa0vas-tu\u202f?"
        lines = parse(WRAPPED).join([first, "a", "b"], []).text.split("\n")
        assert any("Où\xa0vas-tu\u202f?" in line for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "The first of these lines is rather long, you see\nshort\nand one more line here, not long",
        "- one item in this list that is rather long\n- two is another item that is rather long",
        "short lines\nthat are\nno paragraph",
        "x" * 130 + "\n" + "y" * 130,
        f"{'我昨天在市场上看见了一只狗' * 4}\n{'这是第一个句子' * 6}\n{'短句子在这里' * 7}",
    ],
)
def test_other_lines_are_not_joined(text):
    assert len(parse(text).sentences) == text.count("\n") + 1


@given(st.text("aB. \n\r\t-1\u2028"))
def test_any_text_comes_back(text):
    assert repeat(parse(text)).text == text


@given(st.lists(st.text("abc", min_size=1, max_size=9)), st.integers(1, 30))
def test_wrapped_lines_hold_all_words_and_fit(words, width):
    lines = wrap(words, width)
    assert " ".join(lines).split() == words
    assert all(len(line) <= width or " " not in line for line in lines)
    firsts = [line.split()[0] for line in lines[1:]]
    assert all(
        len(line) + 1 + len(first) > width for line, first in zip(lines, firsts, strict=False)
    )


def test_very_many_blanks_take_no_quadratic_time():
    text = " " * 300_000 + "\n" + " " * 300_000 + "One."
    assert parse(text).sentences == ("One.",)
