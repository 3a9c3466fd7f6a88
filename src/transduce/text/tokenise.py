"""Splitting raw English text into the words of a treebank, by rule.

The rules are those of the newer Penn treebanks: punctuation, brackets, hyphens and slashes are
words of their own, contractions are split (do n't, it 's), straight and curly double quotes become
`` and '' by the side on which they stand, and brackets become -LRB- and -RRB-. A full stop is split
off at the end of a line only, so that abbreviations stay whole.
"""

import re

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
    """Split a line of raw English text into words by the rules of the newer Penn treebanks."""
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
