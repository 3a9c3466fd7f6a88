"""EVALB's correction for quotation marks that are tagged as punctuation in one tree only.

If a tagger takes `'` for a possessive (tag POS), the mark stays a word of the output, but EVALB
deletes it from the gold tree. With QUOTE_LABEL, EVALB restores the mark in the gold tree.
"""

from dataclasses import replace

from transduce.scores.brackets.parameters import BracketParameters
from transduce.scores.brackets.reading import BracketLine, Constituent, Quote


def restore_quotes(
    gold: BracketLine, test: BracketLine, parameters: BracketParameters
) -> tuple[BracketLine, BracketLine]:
    """Return both trees with each quotation mark restored that EVALB deleted from only one."""
    deleted = parameters.deleted_labels
    for i in range(len(test.quotes)):
        position = test.quotes[i].position  # the mark's position before the test line changes below
        for j in range(len(gold.quotes)):
            theirs, ours = gold.quotes[j], test.quotes[i]
            if theirs.position != position or theirs.terminal.tag == ours.terminal.tag:
                continue
            gold_deletes = theirs.terminal.tag in deleted
            test_deletes = ours.terminal.tag in deleted
            if gold_deletes and not test_deletes:
                gold = insert_quote(gold, j)
            elif test_deletes and not gold_deletes:
                test = insert_quote(test, i)
    return gold, test


def insert_quote(line: BracketLine, number: int) -> BracketLine:
    """Insert a tree's quotation mark (index `number` in its `quotes`) into the tree's words.

    Later words and marks move by 1. Constituents that are open at the mark become one word longer;
    later constituents move by 1.
    """
    quote = line.quotes[number]
    later = tuple(one._replace(position=one.position + 1) for one in line.quotes[number:])
    return replace(
        line,
        words=(*line.words[: quote.position], quote.terminal, *line.words[quote.position :]),
        constituents=tuple(
            shift_constituent(one, k, quote) for k, one in enumerate(line.constituents)
        ),
        quotes=(*line.quotes[:number], *later),
    )


def shift_constituent(constituent: Constituent, number: int, quote: Quote) -> Constituent:
    """Return constituent `number` of a line, its span adjusted to an inserted quotation mark."""
    opens_later = number >= quote.opened
    return constituent._replace(
        start=constituent.start + opens_later,
        end=constituent.end + (opens_later or number in quote.enclosing),
    )
