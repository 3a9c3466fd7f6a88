"""Words of tokenised text, split at ASCII whitespace, and of raw English text, split by rules.

Unicode's other spaces stay inside of tokenised words: a treebank has words with a no-break space.
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

    Spaces inside of a word, such as U+00A0, are removed. A word without any visible character
    becomes U+FFFD.
    """
    words = map(escape_brackets, split_words(line))
    return " ".join(normalise(word).replace(" ", "") or UNREADABLE for word in words)


OPENING_QUOTE = re.compile(r'(^|[\s(\[{<])["“]')
CLOSING_QUOTE = re.compile(r'["”]')
ELLIPSIS = re.compile(r"\.\.\.|…")
# A comma or colon between digits (1,000; 12:30) stays inside the number.
PUNCTUATION = re.compile(r"([,:])(?!\d)|(?<!\d)([,:])|([;?!@#$%&()\[\]{}<>/–—])|(--+)")
HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
FINAL_STOP = re.compile(r"""([^.\s])(\.)((?:\s|''|[\])}>])*)$""")
NEGATION = re.compile(r"(?i)([a-z])(n['’]t)\b")
CLITIC = re.compile(r"(?i)([^\s'’])(['’](?:s|re|ve|ll|d|m))\b")
PLURAL_POSSESSIVE = re.compile(r"(?i)(s)(['’])(?=\s|$)")
BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}


def tokenise(line: str) -> list[str]:
    """Split a line of raw English text into words by the rules of the newer Penn treebanks.

    Punctuation, brackets, hyphens and slashes are words of their own, contractions are split (do
    n't, it 's), straight and curly double quotes become `` and '' by the side on which they stand,
    and brackets become -LRB- and -RRB-. A full stop is split off at the end of a line only, so that
    abbreviations stay whole.
    """
    text = OPENING_QUOTE.sub(r"\1 `` ", line)
    text = CLOSING_QUOTE.sub(" '' ", text)
    text = ELLIPSIS.sub(" ... ", text)
    text = PUNCTUATION.sub(lambda found: f" {found.group()} ", text)
    text = HYPHEN.sub(" - ", text)
    text = FINAL_STOP.sub(r"\1 \2 \3", text)
    text = NEGATION.sub(r"\1 \2", text)
    text = CLITIC.sub(r"\1 \2", text)
    text = PLURAL_POSSESSIVE.sub(r"\1 \2", text)
    return [BRACKETS.get(word, word) for word in text.split()]
