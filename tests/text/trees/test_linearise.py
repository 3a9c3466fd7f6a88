"""Trees become symbols and come back."""

import json
from dataclasses import asdict
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.trees.nested import brackets, linearised, nested_trees

from transduce.errors import InputError
from transduce.text.trees.brackets import parse_tree, read_trees
from transduce.text.trees.linearise import (
    FORMS,
    Form,
    classify_symbol,
    classify_symbols,
    find_closed_labels,
    linearise,
    repair_symbols,
)
from transduce.text.trees.tree import SymbolKind, clean_tree, flat_tree


def restored(symbols, words, form, tags=None, labels=None):
    """The tree that symbols spell, which needed no repair; words have the tag XX by default."""
    labels = find_closed_labels(symbols) if labels is None else labels
    tree, repair = repair_symbols(symbols, words, tags or ["XX"] * len(words), form, labels)
    assert not any(asdict(repair).values())
    return tree


GUM_SPLITS = ("dev", "test", "test2", "train")
FIELDS: dict[Form, str] = {"xx": "xx", "tags": "tagged", "t2t": "t2t"}
T2T_LABELS, T2T_TAGS = st.sampled_from(["S", "NP", "X"]), st.sampled_from(["NN", ".", "``"])


@given(st.sampled_from(["xx", "numbered", "tags"]), nested_trees())
def test_a_linearised_tree_is_what_recursion_gives_and_comes_back(form, nested):
    tree = parse_tree(brackets(nested))
    symbols = linearise(tree, form)
    assert symbols == linearised(nested, form)
    assert restored(symbols, tree.words, form, tree.tags) == tree


@given(nested_trees(T2T_LABELS, T2T_TAGS))
def test_the_form_of_tensor2tensor_comes_back_without_tags_given(nested):
    tree = parse_tree(brackets(nested))
    assert linearise(tree, "t2t") == linearised(nested, "t2t")
    assert restored(linearise(tree, "t2t"), tree.words, "t2t") == tree


def test_words_are_numbered_from_1_to_64_again_and_again():
    words = [f"w{index}" for index in range(130)]
    symbols = linearise(flat_tree(words, ["NN"] * 130), "numbered")
    assert [symbols[index] for index in (1, 64, 65, 128, 129)] == [
        "XX1",
        "XX64",
        "XX1",
        "XX64",
        "XX1",
    ]
    with pytest.raises(InputError, match="the form numbered has no symbol 'XX65'"):
        classify_symbol("XX65", "numbered")


def test_all_fixtures_are_linearised_as_expected(facts):
    rows = (facts / "parsing/linearise.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, rows):
        tree = parse_tree(row["clean"])
        for form, field in FIELDS.items():
            assert " ".join(linearise(tree, form)) == row[field]
            assert restored(row[field].split(" "), row["words"], form, row["tags"]) == tree


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("corpus", ["craft", "gum"])
def test_trees_of_a_treebank_come_back(shared, corpus, form):
    raw = read_trees(shared / f"data/{corpus}-treebank/dev.trees.gz")
    require_lossless(list(islice(raw, 60)), form)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "malformed"),
    # In five leaves of this copy of CRAFT, a no-break space has become a blank.
    [
        pytest.param("craft/train", 4, marks=pytest.mark.soak),
        ("craft/dev", 0),
        *((f"gum/{split}", 0) for split in GUM_SPLITS),
    ],
)
def test_every_tree_of_both_treebanks_comes_back(shared, file, malformed):
    corpus, split = file.split("/")
    errors: list[InputError] = []
    path = shared / f"data/{corpus}-treebank/{split}.trees.gz"
    raw = list(read_trees(path, on_malformed=errors.append))
    assert [e.fact.split(": ")[1] for e in errors] == ["several words in one leaf"] * malformed
    for form in FORMS:
        require_lossless(raw, form)


def require_lossless(raw, form):
    cleaned = (clean_tree(tree) for tree in raw)
    trees = [tree for tree in cleaned if tree is not None]
    assert len(trees) == len(raw)
    classified = classify_symbols(
        sorted({one for tree in trees for one in linearise(tree, form)}), form
    )
    labels = {symbol.label for symbol in classified if symbol.kind is SymbolKind.OPEN}
    for tree in trees:
        symbols = linearise(tree, form)
        assert restored(symbols, tree.words, form, tree.tags, labels) == tree


def test_constrained_sequences_of_the_fixtures_are_trees(facts):
    text = (facts / "parsing/constraint.json").read_text(encoding="utf-8")
    for case in json.loads(text)["cases"]:
        words = [f"w{i}" for i in range(case["words"])]
        tree = restored(case["symbols"], words, "xx")
        assert linearise(tree, "xx") == case["symbols"]


def test_symbols_have_a_kind_and_a_label():
    assert classify_symbol("(S", "xx") == (SymbolKind.OPEN, "S")
    assert classify_symbol(")PRT|ADVP", "tags") == (SymbolKind.CLOSE, "PRT|ADVP")
    assert classify_symbol("-LRB-", "tags") == (SymbolKind.WORD, "-LRB-")
    assert classify_symbol("S", "t2t", {"S"}) == (SymbolKind.OPEN, "S")
    assert classify_symbol("S", "t2t") == (SymbolKind.WORD, "S")
    assert classify_symbol("/S", "t2t") == (SymbolKind.CLOSE, "S")
    kinds = [kind.value for kind, _ in classify_symbols([".", "NN", "S", "/S"], "t2t")]
    assert kinds == ["word", "word", "open", "close"]


def test_a_tree_in_which_a_tag_equals_a_label_is_refused_by_t2t_alone():
    tree = parse_tree("(S (X (NN a)) (X b))")
    with pytest.raises(InputError, match="cannot tell these tags from brackets: X\nhint: the o"):
        linearise(tree, "t2t")
    assert linearise(tree, "tags") == ["(S", "(X", "NN", ")X", "X", ")S"]


def test_ten_thousand_levels_are_linearised_and_come_back():
    tree = parse_tree("(X " * 10_000 + "(NN a)" + ")" * 10_000)
    for form in FORMS:
        assert restored(linearise(tree, form), ["a"], form, ["NN"]) == tree
