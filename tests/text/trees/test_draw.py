"""Trees in plain text: drawn where they fit, brackets where they do not."""

from hypothesis import given
from tests.text.trees.nested import brackets, nested_trees

from transduce.text.trees.draw import count_columns, draw_text
from transduce.text.trees.read import parse_tree
from transduce.text.trees.write import format_indented

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
    assert draw_text(tree, max_width=20) == format_indented(tree, outer="")
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
