"""Cleaning of a treebank's trees: removal of wrappers, traces and function tags.

A wrapper is an outer bracket that only marks a tree, such as TOP. It is removed first, then traces
and the constituents that hold only traces, then function tags: the label NP-SBJ becomes NP. Words
and their tags are never changed. If removing a trace leaves a constituent X directly over another
X, both are kept, because EVALB counts both brackets.
"""

import re
import sys
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any, final

from transduce.text.trees.tree import Constituent, Tree

WRAPPERS = frozenset({"", "TOP", "ROOT", "S1"})
TRACE = "-NONE-"
CUT = re.compile("[-=]")


@final
@dataclass
class TreeReport:
    """Counts of the trees that were cleaned and of the wrappers, traces and other parts removed."""

    trees: int = 0
    trees_without_words: int = 0
    wrappers: int = 0
    traces: int = 0
    empty_constituents: int = 0
    labels_cut: int = 0
    unary_collapsed: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the counts as JSON values, for the manifest of a prepared folder."""
        return asdict(self)


def clean_tree(tree: Tree, report: TreeReport, *, collapse_unary: bool = False) -> Tree | None:
    """Return a tree without outer TOP, traces and function tags; None if no words are left.

    The report counts all that is removed. `collapse_unary` also merges a constituent X directly
    over another X into one; EVALB's scores against such trees are not comparable.
    """
    report.trees += 1
    constituents = remove_wrapper(tree, report)
    is_word = [tag != TRACE for tag in tree.tags]
    constituents = remove_traces(constituents, is_word, report)
    if not any(is_word):
        report.trees_without_words += 1
        return None
    constituents = [cut_label(one, report) for one in constituents]
    if collapse_unary:
        constituents = collapse_unary_chains(constituents, report)
    labels, starts, ends = zip(*constituents, strict=True)
    kept = [index for index, kept in enumerate(is_word) if kept]
    return Tree(
        tuple(tree.words[index] for index in kept),
        tuple(tree.tags[index] for index in kept),
        labels,
        starts,
        ends,
    )


def remove_wrapper(tree: Tree, report: TreeReport) -> list[Constituent]:
    """Return a tree's constituents, except a root that is labelled "", TOP, ROOT or S1.

    The root stays if no other constituent spans all its words; its label "" then becomes TOP,
    which EVALB does not count.
    """
    root, *inner = tree.constituents
    if root.label not in WRAPPERS:
        return [root, *inner]
    if inner and inner[0].end - inner[0].start == len(tree.words):
        report.wrappers += 1
        return inner
    return [root._replace(label=root.label or "TOP"), *inner]


def remove_traces(
    constituents: list[Constituent], is_word: list[bool], report: TreeReport
) -> list[Constituent]:
    """Renumber all spans without traces (`is_word` False); leave out constituents without words."""
    new_index = [0, *accumulate(is_word)]
    moved = [Constituent(label, new_index[i], new_index[j]) for label, i, j in constituents]
    kept = [one for one in moved if one.start < one.end]
    report.traces += len(is_word) - new_index[-1]
    report.empty_constituents += len(moved) - len(kept)
    return kept


def cut_label(constituent: Constituent, report: TreeReport) -> Constituent:
    """Return a constituent with its label cut before the first - or =, such as NP for NP-SBJ-1.

    A label that starts with - or =, such as -LRB-, stays whole.
    """
    label = constituent.label
    cut = CUT.search(label)
    if cut is None or cut.start() == 0:
        return constituent
    report.labels_cut += 1
    return constituent._replace(label=sys.intern(label[: cut.start()]))


def collapse_unary_chains(constituents: list[Constituent], report: TreeReport) -> list[Constituent]:
    """Return all constituents except each that has the same label and span as its parent."""
    # A parent over the same words has no other child, and so directly precedes it in the list.
    pairs = zip([None, *constituents], constituents, strict=False)
    kept = [one for before, one in pairs if one != before]
    report.unary_collapsed += len(constituents) - len(kept)
    return kept
