"""Alignment error rate (Och and Ney 2000): word alignments against gold links, sure and possible.

A line holds the links of a sentence pair, separated by spaces: `i-j` joins word i of the source to
word j of the target, both counted from 0. In a gold file `ipj` is a possible link, `i-j` a sure
one. A is the set of the output's links, S of the gold file's sure links, and P of all its links:

    AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
"""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

from transduce.errors import InputError
from transduce.scores.score import CountScorer, Metric, Result, Texts, percentage
from transduce.text.arguments import Text, read_text
from transduce.version import __version__

LINK = re.compile(r"(\d{1,9})([-p])(\d{1,9})", re.ASCII)
FORM = "a line has links such as 0-0 1-2, and a gold file possible ones such as 1p2"
Links = frozenset[tuple[int, int]]


@final
@dataclass(frozen=True)
class GoldLinks:
    """The gold links of a sentence pair: the sure links, and all links (sure and possible)."""

    sure: Links
    all: Links


@final
@dataclass(frozen=True)
class AlignmentResult:
    """The counts of links over all lines from which an alignment error rate is computed."""

    links: int  # |A|
    in_sure: int  # |A ∩ S|
    in_all: int  # |A ∩ P|
    sure: int  # |S|
    gold: int  # |P|

    @property
    def score(self) -> float:
        """AER in percent; 0 if the output has no links and the gold file has no sure links."""
        right, total = self.in_sure + self.in_all, self.links + self.sure
        return percentage(total - right, total)

    @property
    def precision(self) -> float:
        """The percentage of the output's links that are sure or possible."""
        return percentage(self.in_all, self.links)

    @property
    def recall(self) -> float:
        """The percentage of the sure links that the output has."""
        return percentage(self.in_sure, self.sure)

    @property
    def details(self) -> dict[str, float]:
        """`precision` and `recall` in percent, and each count of links under its field name."""
        return {"precision": self.precision, "recall": self.recall, **asdict(self)}


def parse_gold_links(line: str) -> GoldLinks:
    """Return the sure links and all links of a gold line; raise InputError if it is malformed."""
    found = [parse_link(text) for text in line.split()]
    sure = frozenset((i, j) for i, kind, j in found if kind == "-")
    return GoldLinks(sure, frozenset((i, j) for i, _, j in found))


def parse_links(line: str) -> Links:
    """Return an output line's links; raise InputError for a malformed or possible one (0p2)."""
    found = [parse_link(text) for text in line.split()]
    for i, kind, j in found:
        if kind != "-":
            raise InputError(f"{i}p{j} is a possible link, which only a gold file has", FORM)
    return frozenset((i, j) for i, _, j in found)


def parse_link(text: str) -> tuple[int, str, int]:
    """Return a link's source index, its kind ("-" if sure, "p" if possible) and target index.

    Raise InputError if the link is malformed.
    """
    match = LINK.fullmatch(text)
    if match is None:
        raise InputError(f"{text[:40]!r} is no link", FORM)
    return int(match[1]), match[2], int(match[3])


def count_links(texts: Texts) -> list[tuple[int, int, int, int, int]]:
    """Return |A|, |A ∩ S|, |A ∩ P|, |S| and |P| for each pair of lines (output, gold)."""
    rows = []
    for output_line, gold_line in zip(*texts, strict=True):
        links, gold = parse_links(output_line), parse_gold_links(gold_line)
        in_sure, in_all = len(links & gold.sure), len(links & gold.all)
        rows.append((len(links), in_sure, in_all, len(gold.sure), len(gold.all)))
    return rows


def total_links(*counts: int) -> Result:
    """Return AER in percent; its details are precision and recall in percent, and the counts."""
    found = AlignmentResult(*counts)
    return Result(found.score, found.details)


AER = Metric(
    "AER",
    "word alignments, one sentence pair a line: alignment error rate, lower is better",
    CountScorer(f"links:sure+possible|version:{__version__}", count_links, total_links),
    higher_is_better=False,
)


def read_alignments(name: str, text: Text, parse: Callable[[str], object]) -> list[str]:
    """Return a text's lines unparsed; InputError with file and line where `parse` refuses one."""
    lines = read_text(name, text)
    file = text if isinstance(text, Path | str) else name
    for number, line in enumerate(lines, start=1):
        try:
            parse(line)
        except InputError as error:
            raise InputError(error.fact, error.hint, file=file, line=number) from None
    return lines
