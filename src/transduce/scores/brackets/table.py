"""EVALB's table of sentences and its summaries, formatted exactly as EVALB prints them."""

from collections.abc import Iterator, Sequence

from transduce.scores.brackets.counting import SentenceCounts
from transduce.scores.brackets.summary import BracketSummary, percentage

HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag",
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
)
RULE = 76 * "="


def format_sentences(sentences: Sequence[SentenceCounts]) -> str:
    """Return EVALB's table of sentences: its header, a rule, and one line per sentence."""
    return "\n".join([*HEAD, RULE, *(format_sentence(n, s) for n, s in enumerate(sentences, 1))])


def format_report(
    sentences: Sequence[SentenceCounts],
    every: BracketSummary | None,
    short: BracketSummary | None,
    cutoff: int | None,
) -> str:
    """Return what EVALB prints: the table of sentences, a line of totals, and the summaries.

    `every` summarises all sentences, `short` the sentences of up to `cutoff` words. If EVALB gave
    up, `every` is None, and only the table is returned.
    """
    table = format_sentences(sentences)
    if every is None:
        return table
    summaries = ["\n-- All --", *format_summary(every)]
    if short is not None:
        summaries += [f"\n-- len<={cutoff} --", *format_summary(short)]
    return "\n".join([table, RULE, format_total(every), "=== Summary ===", *summaries])


def format_sentence(number: int, one: SentenceCounts) -> str:
    """Return the line of one sentence in EVALB's table."""
    recall, precision = percentage(one.matched, one.gold), percentage(one.matched, one.test)
    return (
        f"{number:4}  {one.length:3}    {one.status}  {recall:6.2f} {precision:6.2f}"
        f"   {one.matched:3}    {one.gold:3}  {one.test:3}    {one.crossing:3}"
        f"   {one.words:4}  {one.correct_tags:4}"
        f"   {percentage(one.correct_tags, one.words):6.2f}"
    )


def format_total(every: BracketSummary) -> str:
    """Return the totals below EVALB's table; of brackets only if gold and output have some."""
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
