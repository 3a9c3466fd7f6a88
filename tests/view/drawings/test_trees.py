"""Drawings show every text of a tree, none over another; SVG also what differs from gold."""

import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font
from tests.text.trees.nested import WORDS, brackets, nested_trees

from transduce.errors import InputError
from transduce.text.trees.brackets import format_indented, parse_tree
from transduce.text.trees.tree import flat_tree
from transduce.view.drawings.trees import RIGHT, WRONG, count_columns, draw_svg, draw_text, lay_out

SVG = "{http://www.w3.org/2000/svg}"
LABELS = st.sampled_from(["S", "NP", "WHADVP", "PRT|ADVP"])


@cache
def wide_font():
    """DejaVu Sans Bold, one of the widest that browsers take for sans-serif."""
    return FT2Font(findfont("DejaVu Sans:bold"))


def text_box(element):
    """Left, top, right and bottom of a text whose middle stands at x."""
    font = wide_font()
    font.set_size(14, 72)
    font.set_text(element.text)
    width = font.get_width_height()[0] / 64
    x, y = float(element.get("x")), float(element.get("y"))
    return x - width / 2, y - 11, x + width / 2, y + 4


def centred_texts(svg):
    return ET.fromstring(svg).findall(f".//{SVG}g[@text-anchor='middle']/{SVG}text")


@limits(max_examples=40)
@given(nested_trees(LABELS, st.sampled_from(["DT", ".", "-LRB-", "WWWW"])))
def test_no_text_lies_over_another_or_outside_of_the_drawing(nested):
    svg = draw_svg(parse_tree(brackets(nested)))
    boxes = [text_box(element) for element in centred_texts(svg)]
    for (l1, t1, r1, b1), (l2, t2, r2, b2) in combinations(boxes, 2):
        assert r1 <= l2 or r2 <= l1 or b1 <= t2 or b2 <= t1
    width, height = (float(ET.fromstring(svg).attrib[name]) for name in ("width", "height"))
    assert all(box[0] >= 0 and box[2] <= width and box[3] <= height for box in boxes)


@limits(max_examples=40)
@given(nested_trees())
def test_a_drawing_holds_every_label_tag_and_word_and_a_line_to_each_child(nested):
    tree = parse_tree(brackets(nested))
    root = ET.fromstring(draw_svg(tree))
    expected = [*tree.labels, *tree.tags, *("(" if w == "-LRB-" else w for w in tree.words)]
    assert sorted(e.text or "" for e in root.iter(f"{SVG}text")) == sorted(expected)
    assert len(list(root.iter(f"{SVG}line"))) == len(tree.labels) + len(tree.words) - 1
    title = root.findtext(f"{SVG}title")
    assert title == " ".join(tree.words) or len(tree.words) > 20


@limits(max_examples=40)
@given(nested_trees(st.just("X"), st.just("TAG")))
def test_a_parent_stands_at_the_mean_of_its_children_and_words_from_left_to_right(nested):
    layout = lay_out(parse_tree(brackets(nested)), len, 2.0)
    children: dict[int, list[float]] = {}
    for parent, child in layout.edges():
        children.setdefault(parent, []).append(layout.middles[child])
    for parent, middles in children.items():
        assert layout.middles[parent] == pytest.approx(sum(middles) / len(middles))
    leaves = [m for n, m in zip(layout.nodes, layout.middles, strict=True) if n.word is not None]
    assert leaves == sorted(leaves)


def test_a_label_wider_than_its_children_allow_there_is_moved_into_its_strip():
    words = ["a", "a", "a", "w" * 100]
    layout = lay_out(flat_tree(words, ["X"] * 4, "L" * 60), len, 2.0)
    assert sum(layout.middles[1:]) / 4 < 30
    assert layout.middles[0] == 30


def test_markup_and_control_characters_in_words_are_drawn_as_text():
    svg = draw_svg(flat_tree(["<b>&", "a\x01\ud800", '"'], ["&", "X", "Y"], "<S>"))
    texts = [element.text for element in centred_texts(svg)]
    assert texts == ["<S>", "&", "<b>&", "X", "a\ufffd\ufffd", "Y", '"']


GOLD = "(S (NP (DT a) (NN b)) (VP (VB c) (NP (NN d))))"
GUESS = "(S (NP (DT a) (NN b)) (NP (VB c)) (NP (NP (NN d))))"


def test_brackets_are_coloured_by_a_gold_tree_and_the_missing_ones_listed():
    svg = draw_svg(parse_tree(GUESS), parse_tree(GOLD))
    colours = [(e.text, e.get("fill")) for e in centred_texts(svg) if e.get("font-weight")]
    # NP over d is doubled, and only one of the two is in the gold tree.
    assert colours == [("S", RIGHT), ("NP", RIGHT), ("NP", WRONG), ("NP", RIGHT), ("NP", WRONG)]
    texts = [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]
    assert texts[-3:] == ["right: 3 of 5", "wrong: 2, underlined", "missing: 1  VP “c d”"]
    underlined = ET.fromstring(svg).findall(f".//{SVG}text[@text-decoration='underline']")
    assert len(underlined) == 3
    with pytest.raises(InputError, match="other words"):
        draw_svg(parse_tree(GUESS), parse_tree("(S (NN a))"))


def luminance(colour):
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_colour_of_a_text_has_the_contrast_that_is_asked_for_small_text():
    svg = draw_svg(parse_tree(GUESS), parse_tree(GOLD))
    colours = {element.get("fill") for element in ET.fromstring(svg).iter(f"{SVG}text")}
    assert len(colours) == 4
    assert all(1.05 / (luminance(colour) + 0.05) >= 4.5 for colour in colours)


def test_ten_thousand_levels_are_drawn():
    tree = parse_tree("(X " * 10_000 + "(NN a)" + ")" * 10_000)
    assert draw_svg(tree).count("<text") == 10_002


def test_a_notebook_gets_the_drawing():
    html = parse_tree(GOLD)._repr_html_()
    assert html.startswith("<div")
    assert "<svg" in html


@given(st.lists(WORDS, min_size=1, max_size=60))
def test_a_long_sentence_has_a_title_of_160_characters_at_most(words):
    svg = draw_svg(flat_tree(words, ["X"] * len(words)))
    assert len(ET.fromstring(svg).findtext(f"{SVG}title", "")) <= 160


PICTURE = """\
         S
    ┌────┴─────┐
   NP         VP
 ┌──┴─┐    ┌───┴──┐
DT   NN   VBZ    NP
The  dog  has   ┌─┴──┐
               DT   NN
                a  bone"""
TEXT = "(S (NP (DT The) (NN dog)) (VP (VBZ has) (NP (DT a) (NN bone))))"


def test_a_small_tree_is_drawn_with_lines():
    assert draw_text(parse_tree(TEXT)) == PICTURE


def test_a_tree_that_is_too_wide_or_too_deep_becomes_indented_brackets():
    tree = parse_tree(TEXT)
    assert draw_text(tree, max_width=20) == format_indented(tree)
    deep = parse_tree("(X " * 10_000 + "(NN a)" + ")" * 10_000)
    assert draw_text(deep).count("(X") == 10_000


def test_wide_characters_take_two_columns_and_marks_none():
    assert count_columns("日本e\u0301\x01") == 5
    lines = draw_text(parse_tree("(S (NN 日本) (NN e\u0301))")).split("\n")
    assert lines[-1].split() == ["日本", "e\u0301"]


@given(nested_trees())
def test_a_drawing_is_no_wider_than_allowed_and_has_all_words_in_order(nested):
    tree = parse_tree(brackets(nested))
    text = draw_text(tree, max_width=80)
    assert "(" in text or max(map(count_columns, text.split("\n"))) <= 80
    for label in {*tree.labels, *tree.tags}:
        assert text.count(label) >= (*tree.labels, *tree.tags).count(label)


@given(nested_trees())
def test_each_child_hangs_on_a_line(nested):
    tree = parse_tree(brackets(nested))
    text = draw_text(tree, max_width=1000)
    ends = sum(text.count(character) for character in "│┌┐┬├┤┼")
    assert ends == len(tree.labels) + len(tree.words) - 1
