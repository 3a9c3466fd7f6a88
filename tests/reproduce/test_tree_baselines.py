"""The baselines of parsing: by hand, by properties, and the best tree by trying all of them."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transduce.errors import InputError
from transduce.reproduce.baselines import (
    BASELINES,
    fill_chart,
    find_rules,
    learn_grammar,
    parse_by_grammar,
)
from transduce.scores.scoring import compute_score
from transduce.text.tags import TaggedSentence
from transduce.text.trees.brackets import format_tree, parse_tree, read_trees
from transduce.text.trees.tree import clean_tree

JOHN = "(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (JJ big) (JJ old) (NN dog))) (. .))"
TRAIN = [
    JOHN,
    "(S (NP (DT a) (NN dog)) (VP (VBZ runs)) (. .))",
    "(S (NP (NP (DT a) (NN dog)) (PP (IN in) (NP (DT a) (NN park)))) (VP (VBZ runs)))",
    "(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog)) (PP (IN in) (NP (DT a) (NN park)))))",
    "(S (VP (VB run)))",
    "(NP (DT a) (NN dog))",
]


def read(lines):
    return [parse_tree(line) for line in lines]


TREES = read(TRAIN)


def tagged(tree):
    return TaggedSentence(tree.words, tree.tags)


def parse(name, line, train=()):
    """The tree of a baseline for the sentence of a tree, as one line."""
    return format_tree(BASELINES[name](read(train))(tagged(parse_tree(line))), outer="")


def test_a_flat_tree():
    flat = "(S (NNP John) (VBZ has) (DT a) (JJ big) (JJ old) (NN dog) (. .))"
    assert parse("baseline-flat", JOHN) == flat


def test_right_branching_leaves_the_full_stop_outside():
    assert parse("baseline-right-branching", "(X (A a) (B b) (C c) (. .))") == (
        "(S (NP (A a) (NP (B b) (C c))) (. .))"
    )
    assert parse("baseline-right-branching", "(X (. .))") == "(S (. .))"


def test_noun_chunks_are_runs_of_nominal_tags():
    assert parse("baseline-noun-chunks", JOHN) == (
        "(S (NP (NNP John)) (VBZ has) (NP (DT a) (JJ big) (JJ old) (NN dog)) (. .))"
    )
    assert parse("baseline-noun-chunks", "(X (VB run))") == "(S (VB run))"


def test_rules_remember_one_sibling_and_join_chains():
    (tree,) = read(["(S (VP (VB go) (NP (DT a) (JJ b) (NN c))))"])
    assert list(find_rules(tree)) == [
        ("(", ("S VP",)),
        ("S VP", ("(VB", "NP")),
        ("NP", ("(DT", ")NP)(DT")),
        (")NP)(DT", ("(JJ", "(NN")),
    ]
    (single,) = read(["(S (VP (VB go)))"])
    assert list(find_rules(single)) == [("(", ("S VP",)), ("S VP", ("(VB",))]


def test_probabilities_of_each_parent_sum_to_1():
    grammar = learn_grammar(read(TRAIN))
    sums = defaultdict[int, float](float)
    for parent, weight in zip(grammar.parents, grammar.weights, strict=True):
        sums[int(parent)] += math.exp(weight)
    for tag, parents in grammar.tag_symbols.items():
        for symbol, weight in parents.items():
            if grammar.symbols[symbol] != f"({tag}":
                sums[symbol] += math.exp(weight)
    assert list(sums.values()) == pytest.approx([1.0] * len(sums))
    assert np.exp(grammar.roots).sum() == pytest.approx(1.0)


def test_a_training_tree_without_rivals_is_found_again():
    for line in TRAIN:
        assert parse("baseline-pcfg", line, [line]) == line
    assert parse("baseline-pcfg", TRAIN[1], TRAIN) == TRAIN[1]


def test_one_sibling_is_remembered_and_so_four_adjectives_follow_from_three():
    three, four = (f"(NP (DT a) {'(JJ b) ' * count}(NN dog))" for count in (3, 4))
    assert parse("baseline-pcfg", four, [three]) == four


def test_tags_that_no_rule_covers_give_a_flat_tree():
    assert parse("baseline-pcfg", "(X (UH oh) (UH no))", TRAIN) == "(S (UH oh) (UH no))"
    with pytest.raises(InputError, match="there are no trees to learn a grammar from"):
        parse("baseline-pcfg", JOHN)


def find_best(symbol, tags, grammar):
    """The log-probability of the best derivation of tags from a symbol, trying all of them."""
    if len(tags) == 1:
        return grammar.tag_symbols.get(tags[0], {}).get(symbol, -math.inf)
    rules = [r for r in range(len(grammar.left)) if grammar.parents[r] == symbol]
    return max(
        (
            float(grammar.weights[r])
            + find_best(int(grammar.left[r]), tags[:k], grammar)
            + find_best(int(grammar.right[r]), tags[k:], grammar)
            for r, k in itertools.product(rules, range(1, len(tags)))
        ),
        default=-math.inf,
    )


def score_tree(tree, grammar):
    """The log-probability of a tree by the rules in it."""
    ids = {symbol: number for number, symbol in enumerate(grammar.symbols)}
    binary = {
        rule: float(weight)
        for *rule_, weight in zip(
            grammar.parents, grammar.left, grammar.right, grammar.weights, strict=True
        )
        for rule in [tuple(map(int, rule_))]
    }
    total = 0.0
    for parent, children in find_rules(tree):
        if parent == "(":
            total += float(grammar.roots[ids[children[0]]])
        elif len(children) == 1:
            total += grammar.tag_symbols[children[0][1:]][ids[parent]]
        else:
            total += binary[tuple(ids[symbol] for symbol in (parent, *children))]
    return total


NOUN_PHRASES = ["NNP", "DT NN", "VB"]
REST = ["VBZ", "VBZ DT NN", "VBZ DT NN IN DT NN", "VBZ DT NN IN DT NN IN DT NN", ". ."]


@pytest.mark.parametrize("tags", [f"{a} {b}" for a in NOUN_PHRASES for b in REST])
def test_the_tree_is_the_best_of_all(tags):
    grammar = learn_grammar(read(TRAIN))
    tags = tuple(tags.split())
    every = [find_best(symbol, tags, grammar) for symbol in range(len(grammar.symbols))]
    assert fill_chart(tags, grammar)[0, -1] == pytest.approx(every, abs=1e-5)
    best = max(a + b for a, b in zip(every, grammar.roots, strict=True))
    tree = parse_by_grammar(TaggedSentence(tags, tags), grammar)
    if best == -math.inf:
        assert tree.labels == ("S",)
    else:
        assert score_tree(tree, grammar) == pytest.approx(best, abs=1e-5)
        assert len(tree.labels) > 2


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["DT", "NN", "VBZ", "IN", ".", "JJ"]), min_size=1, max_size=8))
def test_every_baseline_gives_a_tree_over_the_same_words(tags):
    words = tuple(f"w{place}" for place in range(len(tags)))
    for name in BASELINES:
        tree = BASELINES[name](TREES)(TaggedSentence(words, tuple(tags)))
        assert (tree.words, tree.tags) == (words, tuple(tags))
        assert parse_tree(format_tree(tree, outer="")) == tree


def test_the_grammar_of_few_trees_beats_the_rules_on_craft(shared):
    def load(split, count):
        trees = read_trees(shared / f"data/craft-treebank/{split}.trees.gz")
        return [clean_tree(tree) for tree in itertools.islice(trees, count)]

    train = load("train", 400)
    dev = [tree for tree in load("dev", 60) if tree and len(tree.words) <= 20]
    gold = [format_tree(tree) for tree in dev]
    found = {}
    for name in BASELINES:
        trees = map(BASELINES[name](train), map(tagged, dev))
        found[name] = compute_score(
            "brackets-own-tags", [format_tree(tree) for tree in trees], gold
        ).value
    assert found["baseline-pcfg"] > 55 > found["baseline-noun-chunks"] > 25
    assert found["baseline-noun-chunks"] > found["baseline-right-branching"]
