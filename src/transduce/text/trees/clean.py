"""Cleaning of a treebank's trees: removal of wrappers, traces and function tags.

A wrapper is an outer bracket that only marks a tree, such as TOP. It is removed first, then traces
and the constituents that hold only traces, then function tags: the label NP-SBJ becomes NP. Words
and their tags are never changed. If removing a trace leaves a constituent X directly over another
X, both are kept, because EVALB counts both brackets.
"""

import re
import sys
from itertools import accumulate

from transduce.text.trees.tree import Constituent, Tree

WRAPPERS = frozenset({"", "TOP", "ROOT", "S1"})
TRACE = "-NONE-"
CUT = re.compile("[-=]")


def clean_tree(tree: Tree) -> Tree | None:
    """Return a tree without outer TOP, traces and function tags; None if no words are left."""
    is_word = [tag != TRACE for tag in tree.tags]
    if not any(is_word):
        return None
    constituents = map(cut_label, remove_traces(remove_wrapper(tree), is_word))
    labels, starts, ends = zip(*constituents, strict=True)
    kept = [index for index, kept in enumerate(is_word) if kept]
    return Tree(
        tuple(tree.words[index] for index in kept),
        tuple(tree.tags[index] for index in kept),
        labels,
        starts,
        ends,
    )


def remove_wrapper(tree: Tree) -> list[Constituent]:
    """Return a tree's constituents, except a root that is labelled "", TOP, ROOT or S1.

    The root stays if no other constituent spans all its words; its label "" then becomes TOP,
    which EVALB does not count.
    """
    root, *inner = tree.constituents
    if root.label not in WRAPPERS:
        return [root, *inner]
    if inner and inner[0].end - inner[0].start == len(tree.words):
        return inner
    return [root._replace(label=root.label or "TOP"), *inner]


def remove_traces(constituents: list[Constituent], is_word: list[bool]) -> list[Constituent]:
    """Return the constituents that still have words, with spans renumbered without the traces."""
    new_index = [0, *accumulate(is_word)]
    moved = [Constituent(label, new_index[i], new_index[j]) for label, i, j in constituents]
    return [one for one in moved if one.start < one.end]


def cut_label(constituent: Constituent) -> Constituent:
    """Return a constituent with its label cut before the first - or =, such as NP for NP-SBJ-1.

    A label that starts with - or =, such as -LRB-, stays whole.
    """
    label = constituent.label
    cut = CUT.search(label)
    if cut is None or cut.start() == 0:
        return constituent
    return constituent._replace(label=sys.intern(label[: cut.start()]))
