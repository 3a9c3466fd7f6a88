"""Plain text: each line is a paragraph, except where lines were broken to fit a width.

Lines with no blank line between them are one wrapped paragraph if the longest has 40 to 120
characters, no line had room for the first word of the next one, and no later line begins a list
item. Its sentences go on across lines, and its translation is wrapped to the same width.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from transduce.text.documents.document import Block, Document, ParseOptions, build_document
from transduce.text.markup import Links
from transduce.text.sentences import split_text

NARROWEST, WIDEST = 40, 120
LINE = re.compile(r"[^\n]*\n|[^\n]+")
WORD = re.compile(r"(?:\S|(?<=\S)[\xa0\u202f]+(?=\S))+")  # lines are not broken at no-break spaces
ITEM = re.compile(r"\s*(?:[-*+•–—>|#]|\d{1,3}[.)])\s")
INDENT = re.compile(r"[^\S\n]*")
Measure = Callable[[str], int]  # returns the number of characters that a word takes in a line


def parse_text(text: str, options: ParseOptions) -> Document:
    """Parse plain text into sentences and a function that puts translations in their place."""
    parts = list[str | Block]()
    for is_empty, lines in groupby(LINE.findall(text), key=lambda line: not line.strip()):
        raw = "".join(lines)
        parts.append(raw if is_empty else build_block(raw, options.source_language))
    return build_document(parts)


def build_block(raw: str, language: str) -> Block:
    """Build a block from non-blank lines; if they are wrapped, `join` wraps their translation."""
    width = find_width(raw.rstrip().split("\n"))
    split = split_text(raw, language, at_line_ends=width is None)

    def join(translations: Sequence[str], _: Sequence[Links]) -> str:
        if width is None or tuple(translations) == split.sentences:
            return split.join(translations)
        body = raw.rstrip()
        first, second = (INDENT.match(line)[0] for line in body.split("\n")[:2])  # type: ignore[index]
        words = WORD.findall(split.join(translations))
        lines = wrap(words, width, indents=(len(first), len(second)))
        line_end = "\r\n" if "\r\n" in body else "\n"
        return first + (line_end + second).join(lines) + raw[len(body) :]

    return Block(raw, split.sentences, split.list_lines(), join)


def find_width(lines: Sequence[str]) -> int | None:
    """Return the width that the lines of a paragraph were wrapped to, or None if they were not."""
    lines = [line.rstrip() for line in lines]
    width = max(map(len, lines))
    if len(lines) == 1 or not NARROWEST <= width <= WIDEST:
        return None
    had_no_room = all(
        # in Chinese a line is one "word", which shows nothing; a line of ASCII may be a URL
        (" " in line.strip() or line.isascii())
        and len(line) + 1 + len(WORD.findall(following)[0]) > width
        and not ITEM.match(following)
        for line, following in pairwise(lines)
    )
    return width if had_no_room else None


def wrap(
    words: Sequence[str], width: int, measure: Measure = len, indents: tuple[int, int] = (0, 0)
) -> list[str]:
    """Join words into lines of at most `width` characters, less the line's indent.

    `indents` are the indents of the first line and of all other lines; they are not written. Words
    longer than a line stay whole.
    """
    lines, room = list[list[str]](), 0
    for word in words:
        length = measure(word)
        if not lines or length + 1 > room:
            room = width + 1 - indents[bool(lines)]
            lines.append([])
        lines[-1].append(word)
        room -= length + 1
    return [" ".join(line) for line in lines]


def wrap_evenly(words: Sequence[str], count: int, measure: Measure = len) -> list[str]:
    """Join words into at most `count` lines so that the longest line is as short as possible."""
    widths = range(1, sum(map(measure, words)) + len(words))
    narrowest = bisect_left(widths, x=True, key=lambda n: len(wrap(words, n, measure)) <= count)
    return wrap(words, 1 + narrowest, measure)
