"""Any sequence of symbols is repaired to a tree over the words, and a well-formed one is kept."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.trees.nested import brackets, is_well_formed, nested_trees

from transduce.errors import InputError
from transduce.text.trees.brackets import parse_tree
from transduce.text.trees.linearise import FORMS, linearise, repair_symbols

SYMBOLS = {
    "xx": ["XX", "(S", ")S", "(NP", ")NP", "</s>"],
    "numbered": ["XX1", "XX2", "(S", ")S", "(NP", ")NP", "XX"],
    "tags": ["NN", ".", "(S", ")S", "(NP", ")NP"],
    "t2t": ["NN", ".", "S", "/S", "NP", "/NP"],
}


@given(st.sampled_from(FORMS), st.data(), st.integers(1, 6))
def test_every_sequence_becomes_a_tree_over_the_words(form, data, count):
    symbols = data.draw(st.lists(st.sampled_from(SYMBOLS[form]), max_size=25))
    words, labels = [f"w{i}" for i in range(count)], {"S", "NP"}
    tree, repair = repair_symbols(symbols, words, ["XX"] * count, form, labels)
    assert tree.words == tuple(words)
    assert is_well_formed(linearise(tree, form), form, words)
    assert any(asdict(repair).values()) != is_well_formed(symbols, form, words)


@given(nested_trees())
def test_a_well_formed_sequence_is_the_tree_it_spells(nested):
    tree = parse_tree(brackets(nested))
    for form in ("xx", "tags"):
        repaired, repair = repair_symbols(linearise(tree, form), tree.words, tree.tags, form, ())
        assert repaired == tree
        assert not any(asdict(repair).values())


@pytest.mark.parametrize(
    ("symbols", "tree", "changed"),
    [
        ("XX )NP XX )S", "(S (NP (XX a)) (XX b))", {"openings_added": 2}),
        ("(S (NP XX XX", "(S (NP (XX a) (XX b)))", {"closings_added": 2}),
        ("(S (NP XX XX )VP )S", "(S (NP (XX a) (XX b)))", {"labels_ignored": 1}),
        ("(S XX XX XX XX )S", "(S (XX a) (XX b))", {"words_dropped": 2}),
        ("(S (NP XX )NP )S", "(S (NP (XX a)) (XX b))", {"words_added": 1}),
        ("(S (NP XX", "(S (NP (XX a)) (XX b))", {"words_added": 1, "closings_added": 2}),
        ("(S XX (NP )NP XX )S", "(S (XX a) (XX b))", {"constituents_dropped": 1}),
        ("(S XX )S XX", "(S (XX a) (XX b))", {"words_moved": 1}),
        ("XX (VP (NP XX )NP )VP", "(VP (XX a) (NP (XX b)))", {"words_moved": 1}),
        ("(NP XX )NP (VP XX )VP", "(S (NP (XX a)) (VP (XX b)))", {"roots_added": 1}),
        ("XX XX", "(S (XX a) (XX b))", {"roots_added": 1}),
        ("", "(S (XX a) (XX b))", {"roots_added": 1, "words_added": 2}),
        ("(S XX </s> XX )S", "(S (XX a) (XX b))", {"symbols_dropped": 1}),
    ],
)
def test_each_fault_is_repaired_by_its_rule_and_counted(symbols, tree, changed):
    repaired, repair = repair_symbols(symbols.split(), ["a", "b"], ["XX", "XX"], "xx", ())
    assert repaired == parse_tree(tree)
    assert {name: count for name, count in asdict(repair).items() if count} == changed


def test_words_that_the_symbols_lack_get_the_tags_that_are_given():
    symbols = ["S", "NN", "/S"]
    tree, _ = repair_symbols(symbols, ["a", "b"], ["X", "Y"], "t2t", {"S"})
    assert tree == parse_tree("(S (NN a) (Y b))")


def test_the_malformed_sequences_of_the_fixtures_are_counted(facts):
    text = (facts / "parsing/constraint.json").read_text(encoding="utf-8")
    for symbols, _ in json.loads(text)["malformed_for_one_word"]:
        tree, repair = repair_symbols(symbols.split(), ["a"], ["XX"], "xx", ())
        assert any(asdict(repair).values())
        assert tree.words == ("a",)


def test_a_sentence_without_words_has_no_tree():
    with pytest.raises(InputError, match="at least one word"):
        repair_symbols(["(S", ")S"], [], [], "xx", ())


def test_ten_thousand_open_brackets_are_closed():
    tree, repair = repair_symbols(["(S"] * 10_000 + ["XX"], ["a"], ["XX"], "xx", ())
    assert (tree.depth, repair.closings_added) == (10_000, 10_000)
