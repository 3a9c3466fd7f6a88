"""Three parsers by rule: a flat tree, a right-branching tree, and noun phrases found by tags."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from transduce.text.tags import TaggedSentence
from transduce.text.trees.tree import Constituent, Tree, flat_tree

SENTENCE, NOUN_PHRASE = "S", "NP"
FINAL_PUNCTUATION = frozenset({".", "''", ":"})
DETERMINERS, ADJECTIVES = {"DT", "PDT", "PRP$"}, {"JJ", "JJR", "JJS", "CD", "HYPH", "AFX"}
NOUNS = {"NN", "NNS", "NNP", "NNPS", "PRP"}
NOMINAL = frozenset(DETERMINERS | ADJECTIVES | NOUNS)


def build_flat_tree(sentence: TaggedSentence) -> Tree:
    """Return the tree whose only constituent is an S over all words of a sentence."""
    return flat_tree(sentence.tokens, sentence.labels, SENTENCE)


def build_right_branching_tree(sentence: TaggedSentence) -> Tree:
    """Return a tree with an S over all words, and an NP from each word but the last to the end.

    A final punctuation mark is directly under S.
    """
    end = len(sentence.tokens)
    while end > 1 and sentence.labels[end - 1] in FINAL_PUNCTUATION:
        end -= 1
    inner = [Constituent(NOUN_PHRASE, start, end) for start in range(end - 1)]
    return build_tree(sentence, inner)


def build_noun_chunk_tree(sentence: TaggedSentence) -> Tree:
    """Return a tree with an S over all words, and an NP over each run of nominal tags."""
    return build_tree(sentence, list(find_noun_chunks(sentence.labels)))


def find_noun_chunks(tags: Sequence[str]) -> Iterator[Constituent]:
    """Yield an NP over each longest run of determiner, adjective and noun tags."""
    place = 0
    for is_nominal, run in groupby(tags, key=NOMINAL.__contains__):
        end = place + len(list(run))
        if is_nominal:
            yield Constituent(NOUN_PHRASE, place, end)
        place = end


def build_tree(sentence: TaggedSentence, inner: Sequence[Constituent]) -> Tree:
    """Return a tree with an S over all words of a sentence, above the given constituents."""
    root = Constituent(SENTENCE, 0, len(sentence.tokens))
    labels, starts, ends = zip(root, *inner, strict=True)
    return Tree(sentence.tokens, sentence.labels, labels, starts, ends)
