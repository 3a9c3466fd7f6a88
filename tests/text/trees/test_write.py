"""Trees are written so that they read back as they were."""

import pytest
from hypothesis import given
from tests.text.trees.nested import FULL_LABELS, brackets, nested_trees

from transduce.errors import InputError
from transduce.text.trees.brackets import format_indented, format_tree, parse_tree
from transduce.text.trees.tree import flat_tree

INDENTED = """\
(S
  (NP (DT The) (NN dog))
  (VP (VBZ has)
    (NP (DT a) (NN bone)))
  (. .))"""


@given(nested_trees(FULL_LABELS))
def test_a_line_reads_back_as_it_was(nested):
    tree = parse_tree(brackets(nested))
    assert format_tree(tree, outer="") == brackets(nested)
    assert parse_tree(format_indented(tree)) == tree


@given(nested_trees())
def test_a_line_has_the_tree_inside_of_top(nested):
    assert format_tree(parse_tree(brackets(nested))) == f"(TOP {brackets(nested)})"


def test_top_is_written_once():
    assert format_tree(parse_tree("(TOP (NN dog))")) == "(TOP (NN dog))"
    assert format_tree(parse_tree("( (S (NN a)))"), outer="") == "( (S (NN a)))"


def test_constituents_are_indented_and_leaves_side_by_side():
    text = "(S (NP (DT The) (NN dog)) (VP (VBZ has) (NP (DT a) (NN bone))) (. .))"
    assert format_indented(parse_tree(text)) == INDENTED


def test_brackets_in_words_are_escaped_and_blanks_refused():
    tree = flat_tree(["f(x)", "("], ["NN", "("])
    assert format_tree(tree) == "(TOP (S (NN f-LRB-x-RRB-) (-LRB- -LRB-)))"
    with pytest.raises(InputError, match="holds whitespace: 'a b'"):
        format_tree(flat_tree(["a b"], ["NN"]))
    with pytest.raises(InputError, match="word 2 of a tree"):
        format_tree(flat_tree(["a", ""], ["NN", "NN"]))


def test_a_flat_tree_has_one_constituent_over_all_words():
    assert flat_tree(["a", "b"], ["X", "Y"], "FRAG") == parse_tree("(FRAG (X a) (Y b))")
    with pytest.raises(InputError, match="at least one word"):
        flat_tree([], [])
    with pytest.raises(InputError, match="1 tags for a tree of 2 words"):
        flat_tree(["a", "b"], ["X"])


def test_tags_are_replaced_one_for_one():
    tree = parse_tree("(S (NN a) (VP (VB b)))")
    assert tree.with_tags(["X", "Y"]) == parse_tree("(S (X a) (VP (Y b)))")
    with pytest.raises(InputError, match="3 tags for a tree of 2 words"):
        tree.with_tags(["X", "Y", "Z"])


def test_ten_thousand_levels_are_written_in_a_megabyte():
    tree = parse_tree("(X " * 10_000 + "(NN a)" + ")" * 10_000)
    assert parse_tree(format_tree(tree, outer="")) == tree
    indented = format_indented(tree)
    assert parse_tree(indented) == tree
    assert len(indented) < 1_000_000
