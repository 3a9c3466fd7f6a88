"""The baseline parsers by name, each built from training trees to parse tagged sentences.

Three parse by rule: a flat tree, a right-branching tree, and noun phrases found by tags.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby

from transduce.reproduce.tree_baselines.grammar import learn_grammar, parse_by_grammar
from transduce.text.tags import TaggedSentence
from transduce.text.trees.tree import Constituent, Tree

Parser = Callable[[TaggedSentence], Tree]  # the sentence's labels are part-of-speech tags
SENTENCE, NOUN_PHRASE = "S", "NP"
FINAL_PUNCTUATION = frozenset({".", "''", ":"})
DETERMINERS, ADJECTIVES = {"DT", "PDT", "PRP$"}, {"JJ", "JJR", "JJS", "CD", "HYPH", "AFX"}
NOUNS = {"NN", "NNS", "NNP", "NNPS", "PRP"}
NOMINAL = frozenset(DETERMINERS | ADJECTIVES | NOUNS)


def build_right_branching_tree(sentence: TaggedSentence) -> Tree:
    """Return a tree with an S over all words, and from each word but the last an NP to the end.

    A final punctuation mark is directly under S.
    """
    end = len(sentence.tokens)
    while end > 1 and sentence.labels[end - 1] in FINAL_PUNCTUATION:
        end -= 1
    inner = [Constituent(NOUN_PHRASE, start, end) for start in range(end - 1)]
    return build_tree(sentence, inner)


def build_noun_chunk_tree(sentence: TaggedSentence) -> Tree:
    """Return a tree with an S over all words, and an NP over each run of nominal tags."""
    chunks, place = list[Constituent](), 0
    for is_nominal, run in groupby(sentence.labels, key=NOMINAL.__contains__):
        end = place + len(list(run))
        chunks += [Constituent(NOUN_PHRASE, place, end)] * is_nominal
        place = end
    return build_tree(sentence, chunks)


def build_tree(sentence: TaggedSentence, inner: Sequence[Constituent]) -> Tree:
    """Return a tree with an S over all words of a sentence, above the given constituents."""
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
