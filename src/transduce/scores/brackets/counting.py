"""Count one sentence's matching constituents, crossing constituents and correct tags."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from transduce.scores.brackets.parameters import BracketParameters, is_pair
from transduce.scores.brackets.quotes import restore_quotes
from transduce.scores.brackets.reading import BracketLine, Constituent, read_bracket_line

SCORED, FAILED, SKIPPED = 0, 1, 2  # EVALB's status of a sentence
FUNCTION_TAG = re.compile("[-=].*", re.DOTALL)


@final
@dataclass(frozen=True)
class SentenceCounts:
    """EVALB's counts for a sentence, and its status: scored, failed or skipped."""

    length: int  # number of words and punctuation marks
    status: int  # SCORED, FAILED or SKIPPED
    gold_constituents: int  # counted even if the sentence failed or was skipped
    matched: int = 0
    gold: int = 0  # number of gold constituents, or 0 if the words of the trees differ
    test: int = 0  # number of the output's constituents, or 0 if the words differ
    crossing: int = 0  # number of the output's constituents that cross a gold constituent
    words: int = 0
    correct_tags: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether the output tree and the gold tree have the same constituents."""
        return self.gold == self.test == self.matched


def count_sentence(
    gold_line: str, test_line: str, parameters: BracketParameters
) -> tuple[SentenceCounts, tuple[str, ...]]:
    """Compare an output (test) tree with its gold tree; return the counts and EVALB's messages."""
    gold, test = (read_bracket_line(line, parameters) for line in (gold_line, test_line))
    faults = gold.faults if gold.hangs_evalb else (*gold.faults, *test.faults)
    empty = SentenceCounts(gold.length, FAILED, len(select_constituents(gold, parameters)))
    if gold.hangs_evalb or test.hangs_evalb:
        return empty, faults
    if not test.words:
        return replace(empty, status=SKIPPED), faults
    if len(gold.words) != len(test.words):
        gold, test = restore_quotes(gold, test, parameters)
    if difference := describe_difference(gold, test, parameters):
        return empty, (*faults, difference)
    counts = count_aligned_trees(gold, test, parameters)
    return replace(counts, status=FAILED if faults else SCORED), faults


def describe_difference(gold: BracketLine, test: BracketLine, parameters: BracketParameters) -> str:
    """Return EVALB's message if the words of the gold and the output tree differ, else ""."""
    if len(gold.words) != len(test.words):
        return f"Length unmatch ({len(gold.words)}|{len(test.words)})"
    for ours, theirs in zip(gold.words, test.words, strict=True):
        if ours.word != theirs.word and not is_pair(ours.word, theirs.word, parameters.equal_words):
            return f"Words unmatch ({ours.word}|{theirs.word})"
    return ""


def count_aligned_trees(
    gold: BracketLine, test: BracketLine, parameters: BracketParameters
) -> SentenceCounts:
    """Return the counts for a gold and an output (test) tree over the same words."""
    ours, theirs = (select_constituents(line, parameters) for line in (gold, test))
    tags = [(a.tag, b.tag) for a, b in zip(gold.words, test.words, strict=True)]
    return SentenceCounts(
        gold.length,
        SCORED,
        gold_constituents=len(ours),
        matched=count_matches(ours, theirs, parameters),
        gold=len(ours),
        test=len(theirs),
        crossing=count_crossing(ours, theirs),
        words=len(tags),
        correct_tags=sum(a == b or is_pair(a, b, parameters.equal_labels) for a, b in tags),
    )


def select_constituents(line: BracketLine, parameters: BracketParameters) -> list[Constituent]:
    """Return a line's constituents that EVALB scores, without function tags (NP for NP-SBJ).

    Constituents with a deleted label, or without a remaining word, are not scored.
    """
    cut = [
        Constituent(FUNCTION_TAG.sub("", label), start, end)
        for label, start, end in line.constituents
        if start != end
    ]
    return [one for one in cut if one.label not in parameters.deleted_constituents]


def count_matches(
    gold: Sequence[Constituent], test: Sequence[Constituent], parameters: BracketParameters
) -> int:
    """Return how many gold constituents match a test constituent; each matches at most once.

    A gold constituent matches the first unmatched output (test) constituent with the same span and
    an equal label, or with any label if the parameters are unlabelled.
    """
    unmatched: defaultdict[tuple[int, int, str], deque[int]] = defaultdict(deque)
    for number, one in enumerate(test):
        label = one.label if parameters.labelled else ""
        unmatched[one.start, one.end, label].append(number)
    matched = 0
    for one in gold:
        labels = list_equal_labels(one.label, parameters) if parameters.labelled else [""]
        found = [numbers for label in labels if (numbers := unmatched.get((*one[1:], label)))]
        if found:
            min(found).popleft()  # of the first unmatched constituent
            matched += 1
    return matched


def list_equal_labels(label: str, parameters: BracketParameters) -> list[str]:
    """Return a label and all labels that the parameters count as equal to it."""
    pairs = (pair for pair in parameters.equal_labels if label in pair)
    return list(dict.fromkeys([label, *(one for pair in pairs for one in pair)]))


def count_crossing(gold: Sequence[Constituent], test: Sequence[Constituent]) -> int:
    """Return how many test constituents overlap a gold one, where neither contains the other."""
    latest, earliest = dict[int, int](), dict[int, int]()  # end by start, and start by end
    for _, start, end in gold:
        latest[start] = max(end, latest.get(start, end))
        earliest[end] = min(start, earliest.get(end, start))
    starts, ends = sorted(latest), sorted(earliest)
    reach = RangeMaximum([latest[start] for start in starts])
    depth = RangeMaximum([-earliest[end] for end in ends])
    count = 0
    for _, a, b in test:
        inner = slice(bisect_right(starts, a), bisect_left(starts, b))
        outer = slice(bisect_right(ends, a), bisect_left(ends, b))
        count += reach.exceeds(inner, b) or depth.exceeds(outer, -a)
    return count


@final
class RangeMaximum:
    """A table that gives the maximum of any range of a list in constant time."""

    def __init__(self, values: list[int]) -> None:
        # levels[k][i] is the maximum of the 2^k numbers from i on
        self.levels, width = [values], 1
        while 2 * width <= len(values):
            last = self.levels[-1]
            self.levels.append(list(map(max, last, last[width:])))
            width *= 2

    def exceeds(self, indices: slice, limit: int) -> bool:
        """Return whether any number of a range is above `limit`."""
        count = indices.stop - indices.start
        if count <= 0:
            return False
        level = self.levels[count.bit_length() - 1]
        return (
            max(level[indices.start], level[indices.stop - (1 << count.bit_length() - 1)]) > limit
        )
