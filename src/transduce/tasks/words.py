"""The source side of tasks over tokenised sentences (parsing, tagging): one word for each token.

Words are separated by ASCII blanks only: a treebank has words with a no-break space inside. The
vocabulary encodes a form of each word without any character that it would take for a blank.
"""

import re
from collections.abc import Sequence

from transduce.tasks.text import encode_lines
from transduce.text.clean import normalise
from transduce.vocabulary import Vocabulary

WORD = re.compile("[^ \t\r\n\v\f]+")
ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
UNREADABLE = "\ufffd"  # stands for a word without any visible character


def split_words(line: str) -> list[str]:
    """Return the words of a line, split at ASCII blanks."""
    return WORD.findall(line)


def join_words(line: str) -> str:
    """Return a line with exactly one blank between words and none at the ends."""
    return " ".join(split_words(line))


def escape_brackets(words: Sequence[str]) -> list[str]:
    """Return words with ( and ) as -LRB- and -RRB-, as treebanks write them in leaves."""
    return [word.translate(ESCAPES) for word in words]


def to_source_text(line: str) -> str:
    """Return the text of a line to encode: its words in NFC, without blanks inside of words."""
    words = (
        normalise(word).replace(" ", "") or UNREADABLE
        for word in escape_brackets(split_words(line))
    )
    return " ".join(words)


def encode_words(vocabulary: Vocabulary, lines: Sequence[str]) -> list[list[int]]:
    """Return the source token ids of lines of words, each list closed by END."""
    return encode_lines(vocabulary, [to_source_text(line) for line in lines])
