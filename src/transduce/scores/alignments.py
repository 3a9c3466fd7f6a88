"""Alignment error rate (Och and Ney 2000): word alignments against gold links, sure and possible.

A line holds the links of a sentence pair, separated by blanks: `i-j` joins word i of the source to
word j of the target, both counted from 0. In a gold file `ipj` is a possible link, `i-j` a sure
one. With A the links of the output, S the sure and P all links of the gold file,

    AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from transduce.errors import InputError
from transduce.scores.bootstrap import SAMPLES, SEED, Comparison, compare_outputs
from transduce.scores.brackets.summary import percentage
from transduce.scores.metrics import Metric
from transduce.scores.score import Score
from transduce.scores.scoring import compute_score
from transduce.text.arguments import Text, read_text
from transduce.version import __version__

LINK = re.compile(r"(\d{1,9})([-p])(\d{1,9})", re.ASCII)
FORM = "a line has links such as 0-0 1-2, and a gold file possible ones such as 2p1"
Links = frozenset[tuple[int, int]]


@final
@dataclass(frozen=True)
class GoldLinks:
    """The gold links of a sentence pair: the sure ones, and all, possible ones included."""

    sure: Links
    all: Links


@final
@dataclass(frozen=True)
class AlignmentResult:
    """The numbers of links that an alignment error rate is computed from, summed over lines."""

    links: int  # |A|
    in_sure: int  # |A ∩ S|
    in_all: int  # |A ∩ P|
    sure: int  # |S|
    gold: int  # |P|

    @property
    def score(self) -> float:
        """AER in percent; 0 if neither the output nor the gold file has a sure link."""
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


def parse_gold_links(line: str) -> GoldLinks:
    """Return the sure links and all links of a line of a gold file."""
    found = [parse_link(text) for text in line.split()]
    sure = frozenset((i, j) for i, kind, j in found if kind == "-")
    return GoldLinks(sure, frozenset((i, j) for i, _, j in found))


def parse_links(line: str) -> Links:
    """Return the links of a line of an output; refuse possible links."""
    found = [parse_link(text) for text in line.split()]
    for i, kind, j in found:
        if kind != "-":
            raise InputError(f"{i}p{j} is a possible link, which only a gold file has", FORM)
    return frozenset((i, j) for i, _, j in found)


def parse_link(text: str) -> tuple[int, str, int]:
    """Return the source word, the kind ("-" or "p") and the target word of a link."""
    match = LINK.fullmatch(text)
    if match is None:
        raise InputError(f"{text[:40]!r} is no link", FORM)
    return int(match[1]), match[2], int(match[3])


def count_links(gold: GoldLinks, links: Links) -> AlignmentResult:
    """Count the links of one sentence pair, and those of them in the gold links."""
    in_sure, in_all = len(links & gold.sure), len(links & gold.all)
    return AlignmentResult(len(links), in_sure, in_all, len(gold.sure), len(gold.all))


def count_lines(outputs: Sequence[str], gold: Sequence[str]) -> list[AlignmentResult]:
    """Count the links of each line of an output, and those of them in the gold links."""
    both = zip(gold, outputs, strict=True)
    return [count_links(parse_gold_links(ours), parse_links(theirs)) for ours, theirs in both]


def sum_counts(counts: Iterable[AlignmentResult]) -> AlignmentResult:
    """Return the sums of the numbers of links over sentence pairs."""
    columns = zip(*(tuple(asdict(one).values()) for one in counts), strict=True)
    return AlignmentResult(*map(sum, columns))


@final
class AlignmentErrorRate:
    """The alignment error rate, with the methods of sacreBLEU's metric classes."""

    def corpus_score(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> AlignmentResult:
        """Score the links of each line against the one gold text in `references`."""
        return sum_counts(count_lines(outputs, references[0]))

    def get_signature(self) -> str:
        """Return the signature in sacreBLEU's notation: kinds of links, version."""
        return f"links:sure+possible|version:{__version__}"

    def _extract_corpus_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[tuple[int, ...]]:
        """Return the counts of each line, in the order of the fields of `AlignmentResult`."""
        return [tuple(asdict(one).values()) for one in count_lines(outputs, references[0])]

    def _compute_score_from_stats(self, statistics: Iterable[Any]) -> AlignmentResult:
        """Return the result for the summed counts of lines, which may be numpy numbers."""
        return AlignmentResult(*map(int, statistics))


def extract_link_counts(result: AlignmentResult) -> dict[str, Any]:
    """Return precision and recall in percent, and the numbers of links."""
    return {"precision": result.precision, "recall": result.recall, **asdict(result)}


AER = Metric(
    "AER",
    "word alignments, the links of a pair a line: alignment error rate, lower is better",
    AlignmentErrorRate,
    extract_link_counts,
    higher_is_better=False,
)


def score_alignments(gold: Text, output: Text) -> Score:
    """Compute the alignment error rate of word alignments, with precision and recall.

        score = transduce.score_alignments(["0-0 1p1"], ["0-0 1-1"])
        print(score.value, score.details["precision"], score.details["recall"])

    Texts are files or lists of lines, each with the links of a sentence pair: `i-j`, words counted
    from 0. In the gold text `i-j` is a sure link and `ipj` a possible one.
    """
    lines = read_alignments("gold", gold, parse_gold_links)
    return compute_score(AER, read_alignments("output", output, parse_links), lines)


def compare_alignments(
    gold: Text, outputs: tuple[Text, Text], *, samples: int = SAMPLES, seed: int = SEED
) -> Comparison:
    """Compare two alignments of the same sentence pairs by their alignment error rate.

    The test of the difference is paired bootstrap resampling.
    """
    ours, theirs = (read_alignments("outputs", one, parse_links) for one in outputs)
    lines = read_alignments("gold", gold, parse_gold_links)
    return compare_outputs(AER, (ours, theirs), lines, samples=samples, seed=seed)


def read_alignments(name: str, text: Text, parse: Callable[[str], object]) -> list[str]:
    """Return the lines of a text; raise InputError with file and line if `parse` refuses one."""
    lines = read_text(name, text)
    file = text if isinstance(text, str | Path) else name
    for number, line in enumerate(lines, start=1):
        try:
            parse(line)
        except InputError as error:
            raise InputError(error.fact, error.hint, file=file, line=number) from None
    return lines
