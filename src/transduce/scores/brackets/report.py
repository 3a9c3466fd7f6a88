"""The report of EVALB on two files of brackets, with its messages and exit status."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice, repeat
from typing import Any, final

from transduce.scores.brackets.counting import SentenceCounts, count_sentence
from transduce.scores.brackets.parameters import COLLINS, BracketParameters
from transduce.scores.brackets.reading import STRAY_WORD, read_bracket_line
from transduce.scores.brackets.summary import BracketSummary, summarise
from transduce.scores.brackets.table import format_report

UNLABELLED_ROOT = re.compile(r"\s*\(\s*\(")
Message = tuple[int, str]  # the number of a line, and EVALB's message about the line


@final
@dataclass(frozen=True)
class BracketReport:
    """EVALB's result for two files of trees: counts, summaries, messages and exit status."""

    parameters: BracketParameters
    pairs: tuple[SentenceCounts, ...] = field(repr=False)  # the counts of every pair of lines
    printed: int  # number of pairs that EVALB prints: all, or those before it gives up
    messages: tuple[str, ...]
    exit_status: int  # 1 if EVALB gave up at its error limit, else 0
    unlabelled_roots: tuple[int, int]  # gold and output lines whose outer bracket has no label

    @property
    def sentences(self) -> tuple[SentenceCounts, ...]:
        """The counts of the sentences that EVALB prints: all, or those before its error limit."""
        return self.pairs[: self.printed]

    @property
    def all(self) -> BracketSummary | None:
        """EVALB's summary of all sentences, or None if EVALB stopped at its error limit."""
        return None if self.exit_status else summarise(self.pairs)

    @property
    def cutoff(self) -> BracketSummary | None:
        """EVALB's summary of sentences up to the cut-off length, or None if it prints none."""
        return None if self.exit_status else self.short_sentences

    @property
    def every_sentence(self) -> BracketSummary:
        """The summary of all sentences, even if EVALB stopped at its error limit."""
        return summarise(self.pairs)

    @property
    def short_sentences(self) -> BracketSummary | None:
        """The summary of all sentences up to the cut-off length, or None without a cut-off.

        Unlike `cutoff`, this summary exists even if EVALB stopped at its error limit.
        """
        cutoff = self.parameters.cutoff
        if cutoff is None:
            return None
        return summarise(one for one in self.pairs if one.length <= cutoff)

    def as_json(self) -> dict[str, Any]:
        """Return parameters, summaries, messages and sentences as plain values for JSON."""
        short = self.short_sentences
        return {
            "parameters": asdict(self.parameters),
            "all": self.every_sentence.as_json(),
            "cutoff": short and short.as_json(),
            "sentences": [asdict(one) for one in self.sentences],
            "messages": list(self.messages),
            "evalb_exit_status": self.exit_status,
            "unlabelled_roots": list(self.unlabelled_roots),
        }

    def as_text(self) -> str:
        """Return the table and summaries in the form of EVALB's standard output."""
        cutoff = self.parameters.cutoff
        return format_report(self.sentences, self.all, self.cutoff, cutoff)


def score_brackets(
    gold_lines: Sequence[str], test_lines: Sequence[str], parameters: BracketParameters = COLLINS
) -> BracketReport:
    """Score output (test) trees against gold trees, one per line, as EVALB does.

    As in EVALB, sentences that fail or are skipped do not lower the F1 of the summaries; in
    `f1_of_all_sentences` they count as outputs without brackets. If one file has more lines, the
    report has a message about it, and no error is raised.
    """
    both = zip(gold_lines, test_lines, strict=False)
    counted = [count_sentence(gold, test, parameters) for gold, test in both]
    found = find_messages([faults for _, faults in counted], gold_lines, test_lines, parameters)
    messages = list(islice(found, parameters.max_errors + 2))
    gave_up = len(messages) == parameters.max_errors + 2
    return BracketReport(
        parameters,
        pairs=tuple(counts for counts, _ in counted),
        printed=messages[-1][0] - 1 if gave_up else len(counted),
        messages=tuple(f"{number} : {text}" for number, text in messages),
        exit_status=int(gave_up),
        unlabelled_roots=(count_unlabelled_roots(gold_lines), count_unlabelled_roots(test_lines)),
    )


def find_messages(
    faults: Sequence[tuple[str, ...]],
    gold_lines: Sequence[str],
    test_lines: Sequence[str],
    parameters: BracketParameters,
) -> Iterator[Message]:
    """Yield (line number, message of EVALB): `faults`, then one if the numbers of lines differ.

    At a word outside of a leaf EVALB repeats its message without end, and so does this function.
    """
    for number, texts in enumerate(faults, start=1):
        yield from ((number, text) for text in texts)
        if texts[-1:] == (STRAY_WORD,):
            yield from repeat((number, STRAY_WORD))
    next_number = len(faults) + 1
    if len(gold_lines) > len(test_lines):
        first_without = read_bracket_line(gold_lines[len(faults)], parameters)
        yield from ((next_number, text) for text in first_without.faults)
        yield next_number, "Number of lines unmatch (too many lines in gold file)"
    elif len(test_lines) > len(gold_lines):
        yield next_number, "Number of lines unmatch (too many lines in test file)"


def count_unlabelled_roots(lines: Sequence[str]) -> int:
    """Return the number of lines whose outermost bracket has no label, as in `( (S ...) )`."""
    return sum(UNLABELLED_ROOT.match(line) is not None for line in lines)
