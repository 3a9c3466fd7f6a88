"""Cleaning removes wrappers, traces and function tags."""

import json

import pytest
from hypothesis import given
from tests.text.trees.nested import FULL_LABELS, TAGS, brackets, nested_trees

from transduce.text.trees.brackets import parse_tree, read_trees
from transduce.text.trees.tree import clean_tree


def cleaned(text):
    return clean_tree(parse_tree(text))


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("( (S (NN a)))", "(S (NN a))"),
        ("(ROOT (TOP (S (NN a))))", "(TOP (S (NN a)))"),
        ("(ROOT (NN a))", "(ROOT (NN a))"),
        ("( (NN a))", "(TOP (NN a))"),
        ("( (S (NN a)) (S (NN b)))", "(TOP (S (NN a)) (S (NN b)))"),
        ("(TOP (S (NN a)) (. .))", "(TOP (S (NN a)) (. .))"),
        ("(TOP (S (NN a)) (-NONE- *))", "(TOP (S (NN a)))"),
        ("(S (NP (X (-NONE- *)) (Y (-NONE- 0))) (NN a))", "(S (NN a))"),
        ("(NP (NP-1 (NN a)) (S (-NONE- *T*-1)))", "(NP (NP (NN a)))"),
        ("(S=2 (NP-SBJ=1 (NN a)) (-LRB- (NN b)))", "(S (NP (NN a)) (-LRB- (NN b)))"),
        (
            "(PRT|ADVP-X (=1 (NN a-b)) (-SBJ (-LRB- -LRB-)))",
            "(PRT|ADVP (=1 (NN a-b)) (-SBJ (-LRB- -LRB-)))",
        ),
    ],
)
def test_wrappers_go_then_traces_then_function_tags(raw, clean):
    assert cleaned(raw) == parse_tree(clean)


def test_x_over_x_stays_and_a_tree_of_traces_alone_is_none():
    raw = "(NP (NP-1 (NP (NN a))) (S (-NONE- *)))"
    assert cleaned(raw) == parse_tree("(NP (NP (NP (NN a))))")
    assert cleaned("(TOP (S (NP (-NONE- *)) (-NONE- 0)))") is None


@given(nested_trees(FULL_LABELS, TAGS.map(lambda tag: "-NONE-" if tag == "DT" else tag)))
def test_the_words_are_those_that_are_no_traces_and_nothing_else_changes_them(nested):
    raw = parse_tree(brackets(nested))
    clean = clean_tree(raw)
    kept = [pair for pair in zip(raw.tags, raw.words, strict=True) if pair[0] != "-NONE-"]
    assert kept == ([] if clean is None else list(zip(clean.tags, clean.words, strict=True)))
    assert clean is None or clean == parse_tree(brackets(nested_of(clean)))


def nested_of(tree):
    """The nested tuples of a tree: only what is well formed comes back from brackets."""
    stack: list[tuple[str, list[object]]] = [("", [])]
    for kind, index in tree.walk():
        if kind.value == "open":
            stack.append((tree.labels[index], []))
        elif kind.value == "word":
            stack[-1][1].append((tree.tags[index], tree.words[index]))
        else:
            node = stack.pop()
            stack[-1][1].append(node)
    (root,) = stack[0][1]
    return root


def test_all_fixtures_are_cleaned_as_expected(facts):
    rows = (facts / "parsing/linearise.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 200
    for row in map(json.loads, rows):
        tree = cleaned(row["raw"])
        assert tree == parse_tree(row["clean"])
        assert (list(tree.words), list(tree.tags)) == (row["words"], row["tags"])


@pytest.mark.slow
def test_cleaned_gum_has_its_27_labels_and_no_traces(shared):
    trees, labels = 0, set[str]()
    for split in ("dev", "test", "test2", "train"):
        for raw in read_trees(shared / f"data/gum-treebank/{split}.trees.gz"):
            tree = clean_tree(raw)
            assert tree
            assert tree.words == raw.words
            trees += 1
            labels.update(tree.labels)
    assert (len(labels), trees) == (27, 14_597)


def test_spans_are_numbers_in_json():
    tree = cleaned("(S (NP (NN a)) (VP (VB b)))")
    assert json.dumps(tree.constituents) == '[["S", 0, 2], ["NP", 0, 1], ["VP", 1, 2]]'
