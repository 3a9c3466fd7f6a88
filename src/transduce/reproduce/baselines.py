"""The baseline parsers of Table 4 by name, built from training trees to parse tagged sentences.

Three parse by rule: a flat tree, a right-branching tree, and noun phrases found by tags. The fourth
uses a probabilistic grammar over part-of-speech tags, which is learned by counting and
used by the CKY algorithm.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import final

import numpy as np
from jaxtyping import Float32, Int64
from numpy import ndarray

from transduce.errors import InputError
from transduce.text.tags import TaggedSentence
from transduce.text.trees.tree import Constituent, SymbolKind, Tree, flat_tree

Parser = Callable[[TaggedSentence], Tree]  # the sentence's labels are part-of-speech tags
SENTENCE, NOUN_PHRASE = "S", "NP"
FINAL_PUNCTUATION = frozenset({".", "''", ":"})
DETERMINERS, ADJECTIVES = {"DT", "PDT", "PRP$"}, {"JJ", "JJR", "JJS", "CD", "HYPH", "AFX"}
NOUNS = {"NN", "NNS", "NNP", "NNPS", "PRP"}
NOMINAL = frozenset(DETERMINERS | ADJECTIVES | NOUNS)
JOIN, TAG, SPLIT = " ", "(", ")"
Rule = tuple[str, ...]  # the children of a symbol: two symbols, one tag, or the root's symbol
ROOT = "("  # the symbol above the root of every tree


def build_right_branching_tree(sentence: TaggedSentence) -> Tree:
    """Return a tree with an S over all words, and an NP from each word but the last to the end.

    Final punctuation marks are directly under S, and the NPs end before them.
    """
    end = len(sentence.tokens)
    while end > 1 and sentence.labels[end - 1] in FINAL_PUNCTUATION:
        end -= 1
    inner = [Constituent(NOUN_PHRASE, start, end) for start in range(end - 1)]
    return build_tree(sentence, inner)


def build_noun_chunk_tree(sentence: TaggedSentence) -> Tree:
    """Return a tree with an S over all words, and an NP over each run of nominal tags."""
    chunks, start = list[Constituent](), 0
    for is_nominal, run in groupby(sentence.labels, key=NOMINAL.__contains__):
        end = start + len(list(run))
        chunks += [Constituent(NOUN_PHRASE, start, end)] * is_nominal
        start = end
    return build_tree(sentence, chunks)


def build_tree(sentence: TaggedSentence, inner: Sequence[Constituent]) -> Tree:
    """Return a tree with an S over all words, above the constituents `inner`, in preorder."""
    root = Constituent(SENTENCE, 0, len(sentence.tokens))
    labels, starts, ends = zip(root, *inner, strict=True)
    return Tree(sentence.tokens, sentence.labels, labels, starts, ends)


# functions from cleaned training trees to a parser; only the grammar reads the trees
BASELINES: Mapping[str, Callable[[Iterable[Tree]], Parser]] = {
    "baseline-flat": lambda _: lambda sentence: build_tree(sentence, []),
    "baseline-right-branching": lambda _: build_right_branching_tree,
    "baseline-noun-chunks": lambda _: build_noun_chunk_tree,
    "baseline-pcfg": lambda trees: partial(parse_by_grammar, grammar=learn_grammar(trees)),
}


# --- A probabilistic grammar ----------------------------------------------------------------------

# Constituents over the same words are joined to one symbol (S over VP: "S VP"), and rules with more
# than two children are split from the left, so that no rule has more:
#
#     A -> B C D E    becomes    A -> B )A)B    )A)B -> C )A)C    )A)C -> D E
#
# The split symbol `)A)B` is named after the parent A and one sibling, B. A tag such as NN is the
# symbol "(NN". As labels hold neither spaces nor brackets, no label equals a symbol of these kinds.


@final
@dataclass(frozen=True)
class Grammar:
    """The log-probabilities of a grammar's root symbols, rules with one tag, and binary rules.

    Rule r has the parent `parents[r]` and the children `left[r]`, `right[r]`; parents ascend.
    """

    symbols: list[str]
    roots: Float32[ndarray, " n_symbols"]
    tag_symbols: dict[str, dict[int, float]]  # tag -> {symbol: log-prob}
    parents: Int64[ndarray, " n_rules"]
    left: Int64[ndarray, " n_rules"]
    right: Int64[ndarray, " n_rules"]
    weights: Float32[ndarray, " n_rules"]


def learn_grammar(trees: Iterable[Tree]) -> Grammar:
    """Estimate a grammar from trees by relative frequencies; raise InputError without trees."""
    counts = Counter(rule for tree in trees for rule in find_rules(tree))
    if not counts:
        raise InputError("there are no trees to learn a grammar from", "name the training trees")
    totals = Counter[str]()
    for (parent, _), count in counts.items():
        totals[parent] += count
    symbols = sorted({*totals, *(child for _, children in counts for child in children)} - {ROOT})
    ids = {symbol: number for number, symbol in enumerate(symbols)}
    roots = np.full(len(symbols), -np.inf, np.float32)
    tag_symbols = {name[1:]: {ids[name]: 0.0} for name in symbols if name.startswith(TAG)}
    binary = list[tuple[int, int, int, float]]()
    for (parent, children), count in counts.items():
        weight = math.log(count / totals[parent])
        if parent == ROOT:
            roots[ids[children[0]]] = weight
        elif len(children) == 1:
            tag_symbols[children[0][1:]][ids[parent]] = weight
        else:
            binary.append((ids[parent], ids[children[0]], ids[children[1]], weight))
    binary.sort()
    rule_ids = np.array([rule[:3] for rule in binary], np.int64).reshape(-1, 3)
    parents, left, right = rule_ids.T
    weights = np.array([rule[3] for rule in binary], np.float32)
    return Grammar(symbols, roots, tag_symbols, parents, left, right, weights)


def find_rules(tree: Tree) -> Iterator[tuple[str, Rule]]:
    """Yield a tree's rules as (parent, children), the root's first; long rules are made binary."""
    joined = join_unary_chains(tree)
    children: list[list[str]] = [[] for _ in joined.labels]
    enclosing = list[int]()
    for kind, number in joined.walk():
        if kind is SymbolKind.CLOSE:
            enclosing.pop()
            continue
        is_word = kind is SymbolKind.WORD
        symbol = TAG + joined.tags[number] if is_word else joined.labels[number]
        if enclosing:
            children[enclosing[-1]].append(symbol)
        if not is_word:
            enclosing.append(number)
    yield ROOT, (joined.labels[0],)
    for label, symbols in zip(joined.labels, children, strict=True):
        yield from split_rule(label, symbols)


def join_unary_chains(tree: Tree) -> Tree:
    """Return a tree in which constituents over the same words are one, with a joined label."""
    chains = groupby(tree.constituents, key=lambda one: one[1:])
    nodes = [(JOIN.join(one.label for one in chain), *span) for span, chain in chains]
    labels, starts, ends = zip(*nodes, strict=True)
    return Tree(tree.words, tree.tags, labels, starts, ends)


def split_rule(parent: str, children: list[str]) -> Iterator[tuple[str, Rule]]:
    """Split a rule into rules with at most two children; yield each (parent, children)."""
    left = parent
    for child in children[:-2]:
        right = SPLIT + parent + SPLIT + child
        yield left, (child, right)
        left = right
    yield left, tuple(children[-2:])


# --- The most probable tree -----------------------------------------------------------------------

# n words · S symbols of the grammar · r chosen binary rules · m split points of a span

# Chart[i, j, s] is the log-probability of the best subtree of symbol s over words i to j - 1.
Chart = Float32[ndarray, "n n+1 S"]


def parse_by_grammar(sentence: TaggedSentence, grammar: Grammar) -> Tree:
    """Return the most probable tree for a sentence's tags, or a flat S if the grammar has none."""
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
