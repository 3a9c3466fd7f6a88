"""Parts of speech and base noun phrases of trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.datasets.made_trees import base_noun_phrases, one_line

from transduce.text.tags import tag_base_noun_phrases, tag_parts_of_speech
from transduce.text.trees.brackets import parse_tree

ROLE = "(NP (NP (DT the) (NN role)) (PP (IN of) (NP (NN BRCA2))))"


def test_parts_of_speech_are_the_tags_of_the_leaves():
    sentence = tag_parts_of_speech(parse_tree(ROLE))
    assert sentence.tokens == ("the", "role", "of", "BRCA2")
    assert sentence.labels == ("DT", "NN", "IN", "NN")


@pytest.mark.parametrize(
    ("tree", "labels"),
    [
        (ROLE, "B-NP I-NP O B-NP"),
        ("(S (NP (NP (NN dogs))) (VP (VBP bark)))", "B-NP O"),
        ("(S (NP (NN a)) (NP (NN b)) (NP (NN c) (NN d)))", "B-NP B-NP B-NP I-NP"),
        ("(S (NP (NML (NN a) (NN b)) (NN c)) (WHNP (WP who)))", "B-NP I-NP I-NP O"),
        ("(VP (VB go))", "O"),
    ],
)
def test_a_base_noun_phrase_is_one_without_another_inside(tree, labels):
    assert " ".join(tag_base_noun_phrases(parse_tree(tree)).labels) == labels


LEAVES = st.tuples(st.sampled_from("AB"), st.sampled_from("ab")).map(list)
NODES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda label, children: [label, *children],
        st.sampled_from(["NP", "NP", "S", "NPX"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=20,
)


@given(NODES)
def test_base_noun_phrases_are_those_of_a_search_of_every_branch(node):
    tree = ["S", node]
    labels = tag_base_noun_phrases(parse_tree(one_line(tree))).labels
    assert list(labels) == base_noun_phrases(tree)
