"""The most probable tree of a grammar over a sentence's tags, by the CKY algorithm.

Shapes: n words, S symbols of the grammar, r chosen binary rules, m split points of a span.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float32, Int64
from numpy import ndarray

from transduce.reproduce.tree_baselines.grammar import JOIN, SPLIT, TAG, Grammar
from transduce.text.tags import TaggedSentence
from transduce.text.trees.tree import Constituent, Tree, flat_tree

# Chart[i, j, s] is the log-probability of the best subtree of symbol s over words i to j - 1.
Chart = Float32[ndarray, "n n+1 S"]


def parse_by_grammar(sentence: TaggedSentence, grammar: Grammar) -> Tree:
    """Return the most probable tree over a sentence's tags, or a flat S if the grammar has none."""
    chart = fill_chart(sentence.labels, grammar)
    whole = chart[0, -1] + grammar.roots
    root = int(whole.argmax())
    if np.isneginf(whole[root]):
        return flat_tree(sentence.tokens, sentence.labels)
    labels, starts, ends = zip(*find_constituents(root, chart, grammar), strict=True)
    return Tree(sentence.tokens, sentence.labels, labels, starts, ends)


def fill_chart(tags: tuple[str, ...], grammar: Grammar) -> Chart:
    """Return the log-probability of the best subtree for each span of tags and each symbol."""
    n = len(tags)
    chart = np.full((n, n + 1, len(grammar.symbols)), -np.inf, np.float32)
    for start, tag in enumerate(tags):
        for symbol, weight in grammar.tag_symbols.get(tag, {}).items():
            chart[start, start + 1, symbol] = weight
    for length in range(2, n + 1):
        for start in range(n - length + 1):
            fill_cell(start, start + length, chart, grammar)
    return chart


def fill_cell(start: int, end: int, chart: Chart, grammar: Grammar) -> None:
    """Write each symbol's best log-probability over a span (two or more words) into the chart."""
    lefts = np.isfinite(chart[start, start + 1 : end]).any(axis=0)  # [S]
    rights = np.isfinite(chart[start + 1 : end, end]).any(axis=0)
    rules = np.flatnonzero(lefts[grammar.left] & rights[grammar.right])
    if len(rules):
        best = score_splits(start, end, chart, grammar, rules).max(axis=0) + grammar.weights[rules]
        parents, first_rules = np.unique(grammar.parents[rules], return_index=True)
        chart[start, end, parents] = np.maximum.reduceat(best, first_rules)


def score_splits(
    start: int, end: int, chart: Chart, grammar: Grammar, rules: Int64[ndarray, " r"]
) -> Float32[ndarray, "m r"]:
    """Return the sum of both children's log-probabilities for m split points and r rules."""
    left = chart[start, start + 1 : end].take(grammar.left[rules], axis=1)
    right = chart[start + 1 : end, end].take(grammar.right[rules], axis=1)
    left += right
    return left


def find_constituents(root: int, chart: Chart, grammar: Grammar) -> Iterator[Constituent]:
    """Yield the constituents of the most probable tree with the given root symbol, in preorder."""
    waiting = [(root, 0, len(chart))]
    while waiting:
        symbol, start, end = waiting.pop()
        name = grammar.symbols[symbol]
        if not name.startswith((TAG, SPLIT)):
            yield from (Constituent(label, start, end) for label in name.split(JOIN))
        if end - start > 1:
            rules = np.flatnonzero(grammar.parents == symbol)
            splits = score_splits(start, end, chart, grammar, rules) + grammar.weights[rules]
            place, number = divmod(int(splits.argmax()), len(rules))
            middle, rule = start + 1 + place, rules[number]
            waiting.append((int(grammar.right[rule]), middle, end))
            waiting.append((int(grammar.left[rule]), start, middle))
