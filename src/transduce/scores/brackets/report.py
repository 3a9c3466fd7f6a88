"""EVALB's report on two files of brackets: its table, summaries, messages and exit status."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice, repeat
from typing import Any, final

from transduce.scores.brackets.counting import (
    FAILED,
    SCORED,
    SKIPPED,
    STRAY_WORD,
    SentenceCounts,
    count_sentence,
    read_bracket_line,
)
from transduce.scores.brackets.parameters import COLLINS, BracketParameters
from transduce.scores.score import percentage

UNLABELLED_ROOT = re.compile(r"\s*\(\s*\(")
HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag",
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
)
RULE = 76 * "="
MOST_REPEATS = 1_000  # of the message on a stray word
Message = tuple[int, str]  # the number of a line, and EVALB's message about the line


@final
@dataclass(frozen=True)
class BracketSummary:
    """Sums over sentences, with EVALB's scores and an F1 that counts failed and skipped ones."""

    sentences: int
    errors: int
    skipped: int
    matched: int
    gold: int
    test: int
    crossing: int
    words: int
    correct_tags: int
    complete: int  # sentences whose constituents all match
    without_crossing: int  # sentences without a crossing constituent
    up_to_two_crossing: int  # sentences with at most two crossing constituents
    gold_constituents: int  # gold constituents of all sentences, failed and skipped ones too

    @property
    def valid(self) -> int:
        """The number of sentences that EVALB scores."""
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        """The percentage of the gold constituents that match, over the sentences EVALB scores."""
        return percentage(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """The percentage of output constituents that match, over the sentences EVALB scores."""
        return percentage(self.matched, self.test)

    @property
    def f1(self) -> float:
        """EVALB's F1 in percent, over the sentences EVALB scores; nan if nothing matches."""
        both = self.recall + self.precision
        return 2 * self.precision * self.recall / both if both else math.nan

    @property
    def f1_of_all_sentences(self) -> float:
        """F1 in percent where failed and skipped sentences count as outputs without brackets."""
        return percentage(2 * self.matched, self.gold_constituents + self.test)

    @property
    def complete_match(self) -> float:
        """The percentage of the sentences EVALB scores in which all constituents match."""
        return percentage(self.complete, self.valid)

    @property
    def tag_accuracy(self) -> float:
        """The percentage of words with the gold part-of-speech tag, in sentences EVALB scores."""
        return percentage(self.correct_tags, self.words)

    def as_json(self) -> dict[str, Any]:
        """Return the counts and scores as plain values for JSON, with None for nan."""
        figures = ("recall", "precision", "f1", "f1_of_all_sentences", "complete_match")
        values = {name: getattr(self, name) for name in (*figures, "tag_accuracy")}
        values["f1"] = None if math.isnan(self.f1) else self.f1
        return {**asdict(self), "valid": self.valid, **values}


def summarise(sentences: Iterable[SentenceCounts]) -> BracketSummary:
    """Return sums over scored sentences, numbers of the others, and gold constituents of all."""
    every = list(sentences)
    valid = [one for one in every if one.status == SCORED]
    names = ("matched", "gold", "test", "crossing", "words", "correct_tags")
    return BracketSummary(
        sentences=len(every),
        errors=sum(one.status == FAILED for one in every),
        skipped=sum(one.status == SKIPPED for one in every),
        **{name: sum(getattr(one, name) for one in valid) for name in names},
        complete=sum(one.is_complete for one in valid),
        without_crossing=sum(one.crossing == 0 for one in valid),
        up_to_two_crossing=sum(one.crossing <= 2 for one in valid),
        gold_constituents=sum(one.gold_constituents for one in every),
    )


@final
@dataclass(frozen=True)
class BracketReport:
    """The counts, summaries, messages and exit status that EVALB has for two files of trees."""

    parameters: BracketParameters
    pairs: tuple[SentenceCounts, ...] = field(repr=False)  # the counts of each pair of lines
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
        """Return what EVALB prints: a table with a line per sentence, totals, and the summaries.

        If EVALB gave up, it prints the table only.
        """
        table = [format_sentence(n, one) for n, one in enumerate(self.sentences, start=1)]
        lines = [*HEAD, RULE, *table]
        if every := self.all:
            lines += [RULE, format_total(every), "=== Summary ===", "\n-- All --"]
            lines += format_summary(every)
        if short := self.cutoff:
            lines += [f"\n-- len<={self.parameters.cutoff} --", *format_summary(short)]
        return "\n".join(lines)


def score_brackets(
    gold_lines: Sequence[str], test_lines: Sequence[str], parameters: BracketParameters = COLLINS
) -> BracketReport:
    """Score output (test) trees against gold trees, one per line, as EVALB does.

    As in EVALB, sentences that fail or are skipped do not lower the F1 of the summaries; in
    `f1_of_all_sentences` they count as outputs without brackets. If one file has more lines, the
    report has a message about it; no error is raised.
    """
    both = zip(gold_lines, test_lines, strict=False)
    counted = [count_sentence(gold, test, parameters) for gold, test in both]
    found = find_messages([faults for _, faults in counted], gold_lines, test_lines, parameters)
    messages = list(islice(found, parameters.max_errors + 2))
    loops = any(faults[-1:] == (STRAY_WORD,) for _, faults in counted)
    gave_up = loops or len(messages) == parameters.max_errors + 2
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
    """Yield (line number, message) for each fault; the message on a stray word comes many times.

    A stray word stands outside of a leaf, and there EVALB loops until it gives up. If one file
    has more lines, a message about this comes last.
    """
    for number, texts in enumerate(faults, start=1):
        yield from ((number, text) for text in texts)
        if texts[-1:] == (STRAY_WORD,):
            yield from repeat((number, STRAY_WORD), MOST_REPEATS)
            return
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


def format_sentence(sentence_number: int, one: SentenceCounts) -> str:
    """Return the line of sentence `sentence_number` in EVALB's table."""
    recall, precision = percentage(one.matched, one.gold), percentage(one.matched, one.test)
    return (
        f"{sentence_number:4}  {one.length:3}    {one.status}  {recall:6.2f} {precision:6.2f}"
        f"   {one.matched:3}    {one.gold:3}  {one.test:3}    {one.crossing:3}"
        f"   {one.words:4}  {one.correct_tags:4}"
        f"   {percentage(one.correct_tags, one.words):6.2f}"
    )


def format_total(every: BracketSummary) -> str:
    """Return EVALB's totals line, without bracket figures if gold or output has no brackets."""
    brackets = (
        f"                {every.recall:6.2f} {every.precision:6.2f} {every.matched:6}"
        f" {every.gold:5} {every.test:5}  {every.crossing:5}"
    )
    shown = brackets if every.gold and every.test else ""
    return f"{shown}  {every.words:5} {every.correct_tags:5}   {every.tag_accuracy:6.2f}"


def format_summary(one: BracketSummary) -> Iterator[str]:
    """Yield the lines of one summary as EVALB prints them."""
    counts = {
        "Number of sentence": one.sentences,
        "Number of Error sentence": one.errors,
        "Number of Skip  sentence": one.skipped,
        "Number of Valid sentence": one.valid,
    }
    figures = {
        "Bracketing Recall": one.recall,
        "Bracketing Precision": one.precision,
        "Bracketing FMeasure": one.f1,
        "Complete match": one.complete_match,
        "Average crossing": percentage(one.crossing, one.valid) / 100,
        "No crossing": percentage(one.without_crossing, one.valid),
        "2 or less crossing": percentage(one.up_to_two_crossing, one.valid),
        "Tagging accuracy": one.tag_accuracy,
    }
    yield from (f"{name:25} = {count:6}" for name, count in counts.items())
    yield from (f"{name:25} = {figure:6.2f}" for name, figure in figures.items())
