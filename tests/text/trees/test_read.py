"""Brackets become trees, whatever their layout, and malformed ones an error with its column."""

import gzip
import json
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.trees.nested import FULL_LABELS, brackets, constituents, leaves, nested_trees

from transduce.errors import InputError
from transduce.text.trees.brackets import parse_tree, parse_trees, read_trees

PRETTY = """\
( (S
    (NP-SBJ-1 (DT the)
        (NN dog))
\t(VP (VBZ
barks) (NP (-NONE- *-1)))
    (. .)))

(ROOT (NP (NN dog)))(TOP (X (Y(Z z))))
"""


@given(nested_trees(FULL_LABELS))
def test_a_tree_has_the_words_tags_and_spans_of_its_brackets(nested):
    tree = parse_tree(brackets(nested))
    assert list(zip(tree.tags, tree.words, strict=True)) == leaves(nested)
    assert tree.constituents == constituents(nested)


@given(st.lists(nested_trees(), max_size=4), st.data())
def test_layout_means_nothing(nested, data):
    blanks = st.text(" \t\n\r\v\f", max_size=3)
    text = data.draw(blanks)
    for one in nested:
        for piece in brackets(one).replace(")", " ) ").replace("(", " ( ").split(" "):
            text += piece + (data.draw(blanks) if piece in ("", "(", ")") else " ")
    expected = [parse_tree(brackets(one)) for one in nested]
    assert list(parse_trees(text.split("\n"))) == expected


def test_a_file_may_hold_trees_over_many_lines_and_several_in_one(tmp_path):
    for name, write in (("a.mrg", str.encode), ("a.mrg.gz", lambda t: gzip.compress(t.encode()))):
        (tmp_path / name).write_bytes(write(PRETTY))
        first, second, third = read_trees(tmp_path / name)
        assert first.words == ("the", "dog", "barks", "*-1", ".")
        assert first.labels == ("", "S", "NP-SBJ-1", "VP", "NP")
        assert second.constituents == [("ROOT", 0, 1), ("NP", 0, 1)]
        assert third.labels == ("TOP", "X", "Y")


def test_trees_are_read_one_by_one():
    def lines():
        yield "(S (NN a))"
        raise AssertionError("read too far")

    assert next(parse_trees(lines())).words == ("a",)


def test_only_ascii_blanks_separate():
    tree = parse_tree("(NP (NN a\u00a0b) (NN c\u2009d\u2028e))")
    assert tree.words == ("a\u00a0b", "c\u2009d\u2028e")


@pytest.mark.parametrize(
    ("text", "line", "column", "fact"),
    [
        ("(S (NN a)))", 1, 11, "closes no bracket"),
        ("(S (NN a))\n\n  )", 3, 3, "closes no bracket"),
        ("(S (NN a)", 1, 1, "this bracket is not closed"),
        ("(S (NN a))\n (S (NP\n (NN b)", 2, 2, "not closed, nor 1 inside it"),
        ("(S (NN a)) b", 1, 12, "text outside of brackets: b"),
        ("hello", 1, 1, "text outside of brackets"),
        ("(S (NP) (NN a))", 1, 4, "an empty constituent"),
        ("()", 1, 1, "an empty constituent"),
        ("(S (\n))", 1, 4, "an empty constituent"),
        ("(S ((NP (NN a))))", 1, 5, "no label"),
        ("(S ((NN a)))", 1, 5, "no label"),
        ("(S (NN a) b)", 1, 11, "side by side"),
        ("(S (NN a (NP (NN b))))", 1, 10, "side by side"),
        ("(S (NN a (NN b)))", 1, 10, "side by side"),
        ("(S (NN a b))", 1, 10, "several words"),
        ("(S\u00a0 (NN\u00a0a b c))", 1, 13, "several words"),
        ("(NN a)", 1, 1, "in no constituent"),
        ("(NN\na)", 2, 2, "in no constituent"),
    ],
)
def test_malformed_brackets_are_one_sentence_with_line_and_column(text, line, column, fact):
    with pytest.raises(InputError) as error:
        list(parse_trees(text.split("\n"), file="x.mrg"))
    assert error.value.fact.startswith(f"x.mrg, line {line}, column {column}: ")
    assert fact in error.value.fact
    assert "\n" not in error.value.fact
    assert error.value.hint


@given(st.text(st.sampled_from("()ab \n"), max_size=30))
def test_every_text_gives_trees_or_an_error_with_its_column(text):
    if is_well_formed(text):
        trees = list(parse_trees(text.split("\n")))
        assert " ".join(text.split()) == "" or trees
    else:
        with pytest.raises(InputError, match=r"^line \d+, column \d+: "):
            list(parse_trees(text.split("\n")))


def is_well_formed(text):
    """Whether leaves, then constituents, can be folded until nothing but trees is left."""
    text = re.sub(r"\( *[ab]+ +[ab]+ *\)", "L", text.replace("\n", " "))
    while text != (text := re.sub(r"\( *[ab]+ *([LC] *)+\)", "C", text)):
        pass
    text = re.sub(r"\( *([LC] *)+\)", "C", text)
    return not text.strip("C ")


def test_a_missing_bracket_is_suspected_before_the_line_where_the_next_tree_starts():
    lines = ["(S (NN a))", "(S (NP (NN b))", "(S (NN c))", "(S (NN d))"]
    with pytest.raises(InputError, match=r"line 2, column 1: .*\nhint: .*before line 3"):
        list(parse_trees(lines))


def test_malformed_trees_can_be_left_out_and_the_others_are_read():
    lines = [
        "(S (NN a))",
        "(S (NN b c))",
        "(S",
        "  (NN d e)",
        "  (NN f))",
        "(S (NN g))) x",
        "(S (",
        "NN h))",
        "(S (",
        "",
        "))",
        "(S (NN i)))",
    ]
    errors: list[InputError] = []
    trees = list(parse_trees(lines, on_malformed=errors.append))
    assert [tree.words for tree in trees] == [("a",), ("g",), ("h",), ("i",)]
    places = ["line 2, column 10", "line 4, column 9", "line 6, column 11"]
    places += ["line 9, column 4", "line 12, column 11"]
    assert [str(error).split(":")[0] for error in errors] == places


def test_a_missing_bracket_is_raised_even_if_malformed_trees_are_left_out():
    errors: list[InputError] = []
    with pytest.raises(InputError, match="line 1, column 1: this bracket is not closed"):
        list(parse_trees(["(S (NN a)"], on_malformed=errors.append))


def test_a_file_is_not_read_to_its_end_if_a_bracket_is_missing_early():
    lines = iter(["(S (NN a)", *["(S (NN a))"] * 1000])
    with pytest.raises(InputError, match="line 1, column 1"):
        list(parse_trees(lines, max_size=100))
    assert len(list(lines)) > 900


def test_one_tree_is_asked_for_and_one_is_given():
    with pytest.raises(InputError, match="no trees"):
        parse_tree(" ")
    with pytest.raises(InputError, match="2 trees"):
        parse_tree("(S (NN a)) (S (NN a))")


def test_ten_thousand_nested_brackets_compare_copy_and_print():
    text = "(X " * 10_000 + "(NN a)" + ")" * 10_000
    tree = parse_tree(text)
    assert tree.depth == 10_000
    assert tree == pickle.loads(pickle.dumps(tree))
    assert len({tree, parse_tree(text)}) == 1
    assert repr(tree)


@pytest.mark.slow
def test_the_treebanks_have_the_counts_that_were_measured_before(shared):
    craft = list(read_trees(shared / "data/craft-treebank/dev.trees.gz"))
    assert len(craft) == 2_780
    assert sum(tag != "-NONE-" for tree in craft for tag in tree.tags) == 67_652
    assert sum(tag == "-NONE-" for tree in craft for tag in tree.tags) == 2_968
    gum = list(read_trees(shared / "data/gum-treebank/dev.trees.gz"))
    assert len(gum) == 1_575
    assert sum(len(tree.words) for tree in gum) == 28_119


def test_raw_trees_of_the_fixtures_are_read(facts):
    rows = (facts / "parsing/linearise.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, rows):
        tree = parse_tree(row["raw"])
        squeezed = "".join(row["raw"].split())
        leaves = "".join(tag + word for tag, word in zip(tree.tags, tree.words, strict=True))
        assert sorted("".join(tree.labels) + leaves) == sorted(re.sub("[()]", "", squeezed))
