"""Inline tags find their words again in a translation, and none is lost or crosses another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.documents.html import split_html

OPEN = [f"<{name}>" for name in ("b", "i", "a")]
CLOSE = [f"</{name}>" for name in ("b", "i", "a")]
TOKENS = st.sampled_from(
    [*OPEN, *CLOSE, "<img>", "<code>x</code>", "one", "two,", "a</b><i>b", " ", "(", "!"]
)


def translate(fragment, translation, *links):
    """Return a fragment of one sentence with its translation, linked word by word."""
    split = split_html(fragment, inline=True)
    assert len(split.sentences) == 1
    return split.join([translation], [links])


@pytest.mark.parametrize(
    ("fragment", "sentences"),
    [
        ("<p>Go <b>home</b> now. <i>Run.</i>", ["Go home now.", "Run."]),
        ("A <b>dog. Two</b> cats.", ["A", "dog.", "Two", "cats."]),
        ("A <b>dog</i> runs.</b>", ["A", "dog", "runs."]),
        ("A<div>b</div>c <br> d", ["A", "b", "c", "d"]),
        ("see <code>it <b>all</b></code>, do", ["see , do"]),
        ("<b>a <i>b</i></b>", ["a b"]),
        ("a <!-- b --> c", ["a  c"]),
        ("a <b>b", ["a", "b"]),
    ],
)
def test_a_sentence_goes_on_across_tags_that_pair_inside_of_it(fragment, sentences):
    split = split_html(fragment, inline=True)
    assert list(split.sentences) == sentences
    assert split.join(split.sentences) == fragment


def test_a_pair_of_tags_goes_to_the_words_that_are_linked_to_its_words():
    moved = translate("The <b>red</b> dog.", "Le chien rouge.", (0, 0), (2, 1), (1, 2))
    assert moved == "Le chien <b>rouge.</b>"
    several = translate("He <b>gave up</b> now.", "Er gab nun auf.", (0, 0), (1, 1), (3, 2), (2, 3))
    assert several == "Er <b>gab</b> nun auf."


def test_the_surest_link_of_a_word_counts():
    assert translate("a <b>b</b>", "x y", (1, 1), (0, 0), (0, 1), (1, 0)) == "x <b>y</b>"


@pytest.mark.parametrize(
    ("fragment", "translation", "links", "expected"),
    [
        (
            "opens <code>x</code>.",
            "öffnet drei Dateien.",
            [(0, 0), (1, 2)],
            "drei <code>x</code> D",
        ),
        ("see <code>x</code>.", "die Katze.", [(0, 1)], "die Katze <code>x</code>."),
        (
            "Press <kbd>A</kbd>, <kbd>B</kbd>.",
            "drei Hunde",
            [],
            "drei <kbd>A</kbd> Hunde <kbd>B</kbd>",
        ),
        (
            "opens (<code>x</code>) the file.",
            "öffnet die Datei.",
            [(0, 0)],
            "Datei <code>x</code>.",
        ),
        ('a <img> "b" c', 'x "y" z', [], 'x <img> "y" z'),
        ('a "b" <img> c', 'x "y" z', [], 'x "y" <img> z'),
    ],
)
def test_an_untranslated_word_is_not_glued_to_a_word(fragment, translation, links, expected):
    assert expected in translate(fragment, translation, *links)


def test_nested_pairs_stay_nested():
    fragment = '<a href="x?a&amp;b">the <b>red</b> dog</a> runs'
    links = (0, 0), (2, 1), (1, 2), (3, 3)
    assert translate(fragment, "le chien rouge court", *links) == (
        '<a href="x?a&amp;b">le chien <b>rouge</b></a> court'
    )


def test_a_pair_never_leaves_the_pair_around_it():
    fragment, links = "<a>p <b>q</b> r</a> s", ((1, 0), (3, 1), (0, 2), (2, 3))
    assert translate(fragment + " t", "Q S P R", *links) == "Q S <a><b></b>P R</a>"


def test_a_pair_around_a_whole_sentence_stays_around_it():
    assert translate("<b>p <i>q</i></b>", "P Q", (1, 0)) == "<b><i>P</i> Q</b>"


def test_tags_stay_inside_of_punctuation_that_they_were_inside_of():
    links = (0, 0), (1, 1), (2, 2)
    assert translate("go (<b>home</b>), now", "geh (heim), nun", *links) == (
        "geh (<b>heim</b>), nun"
    )
    assert translate("go (<b>home)</b>, now", "geh (heim), nun", *links) == (
        "geh (<b>heim</b>), nun"
    )


def test_markup_that_is_no_pair_stays_beside_its_words():
    links = (0, 1), (1, 0), (2, 2)
    assert translate("go <img> home now", "home go now", *links) == "<img> home go now"
    assert translate("go<img> home now", "home go now", *links) == "home go<img> now"


def test_words_without_links_are_taken_in_order():
    assert translate("a <b>b</b> c d", "v w x y") == "v <b>w</b> x y"


def test_a_pair_whose_words_have_no_link_takes_a_word():
    assert translate("a <b>b</b> c", "x y z", (0, 0), (0, 1), (2, 2)) == "x <b>y</b> z"


def test_an_empty_translation_keeps_the_tags():
    assert translate("a <b>b</b> c", "") == "<b></b>"


def test_a_translation_is_escaped_beside_tags():
    assert translate("a <b>b</b>", "<x> &y") == "&lt;x&gt; <b>&amp;y</b>"


def test_pairs_that_touch_one_word_do_not_cross():
    links = (0, 0), (1, 1), (2, 2)
    moved = translate("The <b>student</b><i>'s</i> dog runs.", "Der Student ist alt.", *links)
    assert moved == "Der <b>Student</b><i></i> ist alt."
    within = translate("a <a><b>dog</b><i>1</i></a> c", "x y z", *links)
    assert within == "x <a><b>y</b><i></i></a> z"


@given(st.lists(TOKENS, max_size=30).map("".join), st.data())
def test_every_tag_comes_back_once_and_pairs_never_cross(fragment, data):
    split = split_html(fragment, inline=True)
    assert split.join(split.sentences) == fragment
    words = data.draw(
        st.lists(st.lists(st.sampled_from(["x", "(y", "z,"]), max_size=4), min_size=1)
    )
    new = [" ".join(words[n % len(words)]) for n in range(len(split.sentences))]
    number = st.integers(0, 5)
    links = [data.draw(st.lists(st.tuples(number, number), max_size=6)) for _ in new]
    joined = split.join(new, links)
    assert sorted(re.findall("<[^>]*>", joined)) == sorted(re.findall("<[^>]*>", fragment))
    assert is_nested(joined) or not is_nested(fragment)


def is_nested(fragment):
    """Return whether every closing tag closes the tag that was opened last."""
    pending = []
    for slash, name in re.findall("<(/?)(a|b|i|code)>", fragment):
        if not slash:
            pending.append(name)
        elif not pending or pending.pop() != name:
            return False
    return not pending


def test_a_sentence_with_very_many_tags_is_translated_in_parts():
    fragment = "<b>x</b> y " * 51
    assert len(split_html(fragment, inline=True).sentences) == 102
    assert len(split_html(fragment[: 11 * 50], inline=True).sentences) == 1
