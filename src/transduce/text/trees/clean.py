"""Cleaning of trees as treebanks hold them: no outer wrapper, no traces, no function tags.

Wrappers are removed first, then traces and the constituents that have no words without them; then
labels are cut. Words and tags are never changed. If removing a trace leaves a constituent X
directly over another X, both are kept, because EVALB counts both brackets.
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
    """The numbers of trees that were cleaned and of what was removed from them."""

    trees: int = 0
    trees_without_words: int = 0
    wrappers: int = 0
    traces: int = 0
    empty_constituents: int = 0
    labels_cut: int = 0
    unary_collapsed: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the counts as plain values for a manifest."""
        return asdict(self)


def clean_tree(tree: Tree, report: TreeReport, *, collapse_unary: bool = False) -> Tree | None:
    """Return a tree without wrapper, traces and function tags, or None if it has no words.

    The counts of all that is removed are added to the report. `collapse_unary` also joins a
    constituent X directly over another X; EVALB's score against such trees is not comparable.
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
    """Return a tree's constituents without the wrapper "", TOP, ROOT or S1 around one constituent.

    An outer label "" around several constituents, or around a leaf, becomes TOP, which EVALB does
    not count.
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
    """Return the constituents that have words other than traces, with spans over these words."""
    new_index = [0, *accumulate(is_word)]
    moved = [Constituent(label, new_index[i], new_index[j]) for label, i, j in constituents]
    kept = [one for one in moved if one.start < one.end]
    report.traces += len(is_word) - new_index[-1]
    report.empty_constituents += len(moved) - len(kept)
    return kept


def cut_label(constituent: Constituent, report: TreeReport) -> Constituent:
    """Return the constituent with its label cut before the first - or =, as NP-SBJ-1 to NP.

    A label that starts with - or =, such as -LRB-, stays whole.
    """
    label = constituent.label
    cut = CUT.search(label)
    if cut is None or cut.start() == 0:
        return constituent
    report.labels_cut += 1
    return constituent._replace(label=sys.intern(label[: cut.start()]))


def collapse_unary_chains(constituents: list[Constituent], report: TreeReport) -> list[Constituent]:
    """Return the constituents without those that equal their parent in label and span."""
    # A parent over the same words has no other child, and so it stands directly before.
    pairs = zip([None, *constituents], constituents, strict=False)
    kept = [one for before, one in pairs if one != before]
    report.unary_collapsed += len(constituents) - len(kept)
    return kept
