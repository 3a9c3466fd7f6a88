"""The baseline parsers by name, each built from training trees to parse tagged sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from transduce.errors import InputError, suggest_names
from transduce.reproduce.tree_baselines.grammar import learn_grammar
from transduce.reproduce.tree_baselines.parser import parse_by_grammar
from transduce.reproduce.tree_baselines.rules import (
    build_flat_tree,
    build_noun_chunk_tree,
    build_right_branching_tree,
)
from transduce.text.tags import TaggedSentence
from transduce.text.trees.tree import Tree

Parser = Callable[[TaggedSentence], Tree]


def build_grammar_parser(trees: Iterable[Tree]) -> Parser:
    """Learn a probabilistic grammar from trees; return the function that parses with it."""
    grammar = learn_grammar(trees)
    return lambda sentence: parse_by_grammar(sentence, grammar)


BASELINES: Mapping[str, Callable[[Iterable[Tree]], Parser]] = MappingProxyType(
    {
        "baseline-flat": lambda _: build_flat_tree,
        "baseline-right-branching": lambda _: build_right_branching_tree,
        "baseline-noun-chunks": lambda _: build_noun_chunk_tree,
        "baseline-pcfg": build_grammar_parser,
    }
)


def parse_with_baseline(
    name: str, train_trees: Iterable[Tree], test_sentences: Iterable[TaggedSentence]
) -> Iterator[Tree]:
    """Parse tagged test sentences with the baseline parser of this name; yield the trees.

    The labels of a `TaggedSentence` are the part-of-speech tags. Only `baseline-pcfg` reads the
    training trees, which must be cleaned.
    """
    if name not in BASELINES:
        raise InputError(f"unknown baseline {name!r}", suggest_names(name, BASELINES))
    parse = BASELINES[name](train_trees)
    return (parse(sentence) for sentence in test_sentences)
