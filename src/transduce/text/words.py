"""Words of tokenised text, split at ASCII whitespace, and how treebanks write ( and ) in words.

Unicode's other spaces stay inside of words: a treebank has words with a no-break space.
"""

import re

from transduce.text.clean import normalise

BLANKS = r" \t\n\v\f\r"  # ASCII whitespace, for use inside [] of a regular expression
WORD = re.compile(f"[^{BLANKS}]+")
ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
UNREADABLE = "\ufffd"  # replaces a word without any visible character


def split_words(line: str) -> list[str]:
    """Return the words of a line, split at ASCII whitespace."""
    return WORD.findall(line)


def normalise_blanks(line: str) -> str:
    """Return a line with exactly one space between words and none at the ends."""
    return " ".join(split_words(line))


def escape_brackets(text: str) -> str:
    """Return text with ( and ) as -LRB- and -RRB-, as treebanks write them in leaves."""
    return text.translate(ESCAPES)


def to_source_text(line: str) -> str:
    """Return a line of words as input for a model, in NFC and with ( and ) as -LRB- and -RRB-.

    Spaces inside of a word, such as U+00A0, are removed.
    """
    words = map(escape_brackets, split_words(line))
    return " ".join(normalise(word).replace(" ", "") or UNREADABLE for word in words)
