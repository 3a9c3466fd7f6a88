"""Count one sentence as EVALB does: matching and crossing constituents, and correct tags.

EVALB accepts nearly everything in a line of brackets: several trees, or none, and any label or
none. A word whose tag is a DELETE_LABEL is left out; spans count the remaining words only. EVALB
limits the lengths of lines, sentences, labels and words; this reader does not.

EVALB deletes a punctuation mark by its tag. If all leaves of an output are tagged XX, EVALB keeps
the output's punctuation but not the gold tree's, and each sentence with a full stop fails. So gold
tags can be copied to outputs without tags.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, final

from transduce.errors import InputError
from transduce.scores.brackets.parameters import BracketParameters, is_pair
from transduce.scores.score import CountScorer, Metric, Result, Texts, percentage
from transduce.text.trees.tree import Constituent
from transduce.text.words import BLANKS
from transduce.version import __version__

SCORED, FAILED, SKIPPED = 0, 1, 2  # EVALB's status of a sentence

BLANK, OTHER = f"[{BLANKS}]", f"[^(){BLANKS}]"
TERMINAL = rf"\((?P<tag>{OTHER}*+){BLANK}++(?P<word>{OTHER}*+)\)"
TERMINALS = re.compile(TERMINAL)
TOKENS = re.compile(
    rf"(?P<terminal>{TERMINAL})|(?P<opening>\((?P<label>{OTHER}*+))|(?P<closing>\))"
    rf"|(?P<stray>{OTHER}++)"
)
WORD_AND_MORE = re.compile(rf"{BLANK}++{OTHER}*+(?:\Z|(?={BLANK}))")
QUOTES = ("'", '"', "/")
UNCLOSED = -1  # the end of a constituent without a closing bracket
TRACE = "-NONE-"
NO_TREE_HINT = "a leaf is (TAG word)"
FUNCTION_TAG = re.compile("[-=].*", re.DOTALL)

MORE_THAN_TWO = "More than two elements in a bracket"
STRAY_WORD = "Reading sentence"
TOO_MANY_OPEN = "Bracketing is unbalanced (too many open bracket)"
TOO_MANY_CLOSED = "Bracketing unbalance (too many close bracket)"


@final
@dataclass(frozen=True)
class SentenceCounts:
    """A sentence's status (scored, failed, skipped) and EVALB's counts of constituents and tags."""

    length: int  # number of words and punctuation marks of the gold tree
    status: int  # SCORED, FAILED or SKIPPED
    gold_constituents: int  # counted even if the sentence failed or was skipped
    matched: int = 0
    gold: int = 0  # gold constituents, or 0 if EVALB cannot compare the trees
    test: int = 0  # the output's constituents, or 0 if EVALB cannot compare the trees
    crossing: int = 0  # the output's constituents that cross a gold constituent
    words: int = 0  # words whose tag the parameters do not delete
    correct_tags: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether the output tree of a scored sentence has the constituents of the gold tree."""
        return self.gold == self.test == self.matched


class Terminal(NamedTuple):
    """A part-of-speech tag and its word."""

    tag: str
    word: str


class Quote(NamedTuple):
    """A quotation mark whose tag is one of EVALB's QUOTE_LABELs, and its position in the line."""

    terminal: Terminal
    position: int  # index of the mark among the words, or of the next word if the mark is deleted
    opened: int  # number of constituents that were opened before the mark
    enclosing: tuple[int, ...]  # indices of the constituents that are open at the mark


def count_sentence(
    gold_line: str, test_line: str, parameters: BracketParameters
) -> tuple[SentenceCounts, tuple[str, ...]]:
    """Return EVALB's counts for an output (test) tree and its gold tree, and EVALB's messages."""
    gold, test = (read_bracket_line(line, parameters) for line in (gold_line, test_line))
    faults = tuple(gold.faults if gold.hangs_evalb else gold.faults + test.faults)
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


@final
@dataclass
class BracketLine:
    """The tree of a line as EVALB reads it: words, constituents, quotation marks and messages."""

    words: list[Terminal] = field(default_factory=list)
    constituents: list[Constituent] = field(default_factory=list)  # by their opening brackets
    quotes: list[Quote] = field(default_factory=list)
    length: int = 0  # number of words and punctuation marks, compared with the cut-off
    faults: list[str] = field(default_factory=list)  # EVALB's messages about the line
    open_indices: list[int] = field(default_factory=list)  # of constituents without an end yet
    depth: int = 0  # negative after too many closing brackets

    @property
    def hangs_evalb(self) -> bool:
        """Whether EVALB would loop forever at this line, because a word is outside of a leaf."""
        return self.faults[-1:] == [STRAY_WORD]

    def add_terminal(self, terminal: Terminal, parameters: BracketParameters) -> None:
        """Add a leaf's word to the line, unless the parameters delete words with its tag.

        A deleted word may still count in the length. Quotation marks are also listed in `quotes`.
        """
        if terminal.tag not in parameters.labels_without_length:
            self.length += 1
        if terminal.word in QUOTES and terminal.tag in parameters.quote_labels:
            opened, enclosing = len(self.constituents), tuple(self.open_indices)
            self.quotes.append(Quote(terminal, len(self.words), opened, enclosing))
        if terminal.tag not in parameters.deleted_labels:
            self.words.append(terminal)

    def open(self, label: str) -> None:
        """Open a constituent with this label before the next word."""
        self.open_indices.append(len(self.constituents))
        self.constituents.append(Constituent(label, len(self.words), UNCLOSED))
        self.depth += 1

    def close(self) -> None:
        """Close the innermost open constituent, if any; add a fault if `depth` was negative."""
        if self.open_indices:
            index = self.open_indices.pop()
            self.constituents[index] = self.constituents[index]._replace(end=len(self.words))
        if self.depth < 0:
            self.faults.append(TOO_MANY_CLOSED)
        self.depth -= 1


def read_bracket_line(line: str, parameters: BracketParameters) -> BracketLine:
    """Read a line of brackets by EVALB's tolerant rules; `faults` lists what is malformed.

    A constituent without a closing bracket ends at -1.
    """
    line += "\n"  # EVALB reads the newline as part of the line
    found = BracketLine()
    for token in TOKENS.finditer(line):
        match token.lastgroup:
            case "terminal":
                found.add_terminal(Terminal(token["tag"], token["word"]), parameters)
            case "opening":
                if WORD_AND_MORE.match(line, token.end()):
                    found.faults.append(MORE_THAN_TWO)
                found.open(token["label"])
            case "closing":
                found.close()
            case _:
                found.faults.append(STRAY_WORD)
                return found
    if found.depth:
        found.faults.append(TOO_MANY_OPEN)
    return found


def restore_quotes(
    gold: BracketLine, test: BracketLine, parameters: BracketParameters
) -> tuple[BracketLine, BracketLine]:
    """Return both trees, with quotation marks restored where EVALB deleted only one tree's mark.

    If a tagger takes `'` for a possessive (tag POS), the mark is a word of the output, but EVALB
    deletes it from the gold tree. With QUOTE_LABEL, EVALB restores the mark in the gold tree.
    """
    deleted = parameters.deleted_labels
    for i in range(len(test.quotes)):
        position = test.quotes[i].position  # the mark's position before the test line changes below
        for j in range(len(gold.quotes)):
            gold_quote, test_quote = gold.quotes[j].terminal, test.quotes[i].terminal
            if gold.quotes[j].position != position or gold_quote.tag == test_quote.tag:
                continue
            gold_deletes = gold_quote.tag in deleted
            test_deletes = test_quote.tag in deleted
            if gold_deletes and not test_deletes:
                gold = insert_quote(gold, j)
            elif test_deletes and not gold_deletes:
                test = insert_quote(test, i)
    return gold, test


def insert_quote(line: BracketLine, index: int) -> BracketLine:
    """Return the line with the deleted mark `line.quotes[index]` as one of its words.

    Later words, marks and constituents move by 1. Constituents that are open at the mark become one
    word longer.
    """
    quote = line.quotes[index]
    later = [one._replace(position=one.position + 1) for one in line.quotes[index:]]
    return replace(
        line,
        words=[*line.words[: quote.position], quote.terminal, *line.words[quote.position :]],
        constituents=[
            one._replace(
                start=one.start + (k >= quote.opened),
                end=one.end + (k >= quote.opened or k in quote.enclosing),
            )
            for k, one in enumerate(line.constituents)
        ],
        quotes=[*line.quotes[:index], *later],
    )


def describe_difference(gold: BracketLine, test: BracketLine, parameters: BracketParameters) -> str:
    """Return EVALB's message if the words of the gold and the test tree differ, else ""."""
    if len(gold.words) != len(test.words):
        return f"Length unmatch ({len(gold.words)}|{len(test.words)})"
    for a, b in zip(gold.words, test.words, strict=True):
        if a.word != b.word and not is_pair(a.word, b.word, parameters.equal_words):
            return f"Words unmatch ({a.word}|{b.word})"
    return ""


def count_aligned_trees(
    gold: BracketLine, test: BracketLine, parameters: BracketParameters
) -> SentenceCounts:
    """Return EVALB's constituent and tag counts for a gold and a test tree over the same words."""
    in_gold, in_test = (select_constituents(line, parameters) for line in (gold, test))
    tags = [(a.tag, b.tag) for a, b in zip(gold.words, test.words, strict=True)]
    return SentenceCounts(
        gold.length,
        SCORED,
        gold_constituents=len(in_gold),
        matched=count_matches(in_gold, in_test, parameters),
        gold=len(in_gold),
        test=len(in_test),
        crossing=count_crossing(in_gold, in_test),
        words=len(tags),
        correct_tags=sum(a == b or is_pair(a, b, parameters.equal_labels) for a, b in tags),
    )


def select_constituents(line: BracketLine, parameters: BracketParameters) -> list[Constituent]:
    """Return a line's constituents that EVALB scores, without function tags (NP for NP-SBJ).

    Leaves out constituents whose label the parameters delete, and those without a remaining word.
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

    A gold constituent matches the first unmatched test constituent with the same span and an equal
    label, or with any label if the parameters are unlabelled.
    """
    unmatched: defaultdict[tuple[int, int, str], deque[int]] = defaultdict(deque)
    for number, one in enumerate(test):
        label = one.label if parameters.labelled else ""
        unmatched[one.start, one.end, label].append(number)
    matched = 0
    for one in gold:
        pairs = (pair for pair in parameters.equal_labels if one.label in pair)
        labels = {one.label: 0} | dict.fromkeys(label for pair in pairs for label in pair)
        keys = ((*one[1:], label) for label in (labels if parameters.labelled else [""]))
        found = [numbers for key in keys if (numbers := unmatched.get(key))]
        if found:
            min(found).popleft()  # the first test constituent that is left
            matched += 1
    return matched


def count_crossing(gold: Sequence[Constituent], test: Sequence[Constituent]) -> int:
    """Return how many test constituents overlap a gold one, where neither contains the other."""
    latest, earliest = dict[int, int](), dict[int, int]()  # end by start, start by end
    for _, start, end in gold:
        latest[start] = max(end, latest.get(start, end))
        earliest[end] = min(start, earliest.get(end, start))
    starts, ends = sorted(latest), sorted(earliest)
    latest_ends = RangeMaximum([latest[start] for start in starts])
    negated_starts = RangeMaximum([-earliest[end] for end in ends])
    count = 0
    for _, a, b in test:
        starts_inside = slice(bisect_right(starts, a), bisect_left(starts, b))
        ends_inside = slice(bisect_right(ends, a), bisect_left(ends, b))
        count += latest_ends.exceeds(starts_inside, b) or negated_starts.exceeds(ends_inside, -a)
    return count


@final
class RangeMaximum:
    """A table that tells in constant time whether a range of a list has a value above a limit.

    Without it, an output that opens brackets without end takes minutes to score.
    """

    def __init__(self, values: list[int]) -> None:
        # levels[k][i] is the maximum of the 2^k numbers from i on
        self.levels, width = [values], 1
        while 2 * width <= len(values):
            last = self.levels[-1]
            self.levels.append(list(map(max, last, last[width:])))
            width *= 2

    def exceeds(self, indices: slice, limit: int) -> bool:
        """Return whether any value in the slice `indices` is above `limit`."""
        count = indices.stop - indices.start
        if count <= 0:
            return False
        level, width = self.levels[count.bit_length() - 1], 1 << count.bit_length() - 1
        return max(level[indices.start], level[indices.stop - width]) > limit


# --- F1 as a metric -------------------------------------------------------------------------------


def build_bracket_metric(parameters: BracketParameters, *, gold_tags: bool = False) -> Metric:
    """Build the labelled bracket F1 metric, computed over all sentences with EVALB's parameters.

    With `gold_tags` the leaves of the outputs get the tags of the reference before they are scored.
    """
    tags = "reference" if gold_tags else "output"
    return Metric(
        "bracket F1",
        "trees, one a line: EVALB's labelled F1, failed sentences counted; tags of the leaves are "
        + ("those of the reference" if gold_tags else "the output's own"),
        CountScorer(
            f"params:{parameters.name}|failed:no match|version:{__version__}|tags:{tags}",
            partial(count_brackets, parameters=parameters, gold_tags=gold_tags),
            total_brackets,
        ),
        require_trees,
    )


def require_trees(texts: Texts) -> tuple[Texts, str]:
    """Return the texts and "", no signature suffix; InputError if a non-empty text has no tree."""
    for number, text in enumerate(texts):
        if any(text) and not any(map(TERMINALS.search, text)):
            name = "the reference" if number else "the output"
            raise InputError(f"{name}: no line holds a tree", NO_TREE_HINT)
    return texts, ""


def total_brackets(matched: int, gold: int, test: int, failed: int, skipped: int) -> Result:
    """Return F1 in percent; its details are recall and precision in percent, and the five sums."""
    rates = {"recall": percentage(matched, gold), "precision": percentage(matched, test)}
    sums = {"matched": matched, "gold": gold, "test": test, "failed": failed, "skipped": skipped}
    return Result(percentage(2 * matched, gold + test), rates | sums)


def count_brackets(
    texts: Texts, *, parameters: BracketParameters, gold_tags: bool
) -> list[tuple[int, int, int, int, int]]:
    """Return each pair's matching, gold and output constituents, and if it failed or was skipped.

    `texts` are the output and the gold trees. `failed` and `skipped` are 0 or 1; if one is 1,
    there are 0 matching and output constituents.
    """
    if len(texts) != 2:
        raise InputError("brackets are scored against one reference", "name one gold file")
    outputs, gold = texts
    if gold_tags:
        outputs = list(map(copy_tags, outputs, gold))
    rows = []
    for gold_line, output_line in zip(gold, outputs, strict=True):
        counts, _ = count_sentence(gold_line, output_line, parameters)
        matched, test = (counts.matched, counts.test) if counts.status == SCORED else (0, 0)
        failed, skipped = int(counts.status == FAILED), int(counts.status == SKIPPED)
        rows.append((matched, counts.gold_constituents, test, failed, skipped))
    return rows


def copy_tags(output_line: str, gold_line: str) -> str:
    """Return the output tree with the gold tree's tags on its leaves; unchanged if words differ.

    Traces of the gold tree (-NONE-) are not words.
    """
    gold = [leaf for leaf in TERMINALS.finditer(gold_line) if leaf["tag"] != TRACE]
    words = [leaf["word"] for leaf in TERMINALS.finditer(output_line)]
    if words != [leaf["word"] for leaf in gold]:
        return output_line
    tags = iter(gold)
    return TERMINALS.sub(lambda leaf: f"({next(tags)['tag']} {leaf['word']})", output_line)
