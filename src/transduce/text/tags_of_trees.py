"""Tagged sentences derived from trees: part-of-speech tags, or base noun phrases as BIO labels.

A base noun phrase is a constituent NP that contains no other NP. Its first word has the label
B-NP and its other words I-NP; every word outside of all base noun phrases has O. In
(NP (NP the role) (PP of (NP BRCA2))), "the role" and "BRCA2" are base noun phrases.
"""

from transduce.text.tags import TaggedSentence
from transduce.text.trees.tree import Constituent, SymbolKind, Tree

NOUN_PHRASE = "NP"


def tag_parts_of_speech(tree: Tree) -> TaggedSentence:
    """Return the words of a cleaned tree, each labelled with its part-of-speech tag."""
    return TaggedSentence(tree.words, tree.tags)


def tag_base_noun_phrases(tree: Tree) -> TaggedSentence:
    """Return the words of a cleaned tree, labelled B-NP or I-NP in base noun phrases, else O."""
    labels = ["O"] * len(tree.words)
    for _, start, end in find_base_noun_phrases(tree):
        labels[start:end] = [f"B-{NOUN_PHRASE}", *[f"I-{NOUN_PHRASE}"] * (end - start - 1)]
    return TaggedSentence(tree.words, tuple(labels))


def find_base_noun_phrases(tree: Tree) -> list[Constituent]:
    """Return the NP constituents that contain no other NP, from left to right."""
    found, latest = list[Constituent](), -1
    constituents = tree.constituents
    for kind, index in tree.walk():
        if kind is SymbolKind.WORD or constituents[index].label != NOUN_PHRASE:
            continue
        if kind is SymbolKind.OPEN:
            latest = index
        elif index == latest:  # the closed NP contains no other NP
            found.append(constituents[index])
    return found
