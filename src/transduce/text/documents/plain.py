"""Plain text: each line is a paragraph, except where lines were broken to fit a width.

Lines with no blank line between them are one wrapped paragraph if the longest has 40 to 120
characters and no line had room for the first word of the next one. Sentences of the paragraph go
on across lines, and its translation is wrapped to the same width.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import final

from transduce.text.documents.document import Document, Joined, ParseOptions
from transduce.text.documents.wrapping import wrap
from transduce.text.inline import Links
from transduce.text.paragraphs import SplitText, split_text

NARROWEST, WIDEST = 40, 120
LINE = re.compile(r"[^\n]*\n|[^\n]+")
ITEM = re.compile(r"\s*(?:[-*+•–—>|#]|\d{1,3}[.)])\s")
INDENT = re.compile(r"[ \t]*")


@final
@dataclass(frozen=True)
class Block:
    """Lines of plain text with no blank line between them, and the width they were wrapped to."""

    raw: str
    split: SplitText
    width: int | None  # None: each line is a paragraph

    def join(self, translations: Sequence[str]) -> str:
        """Return the block's text with translations for its sentences, wrapped to its width."""
        if self.width is None or tuple(translations) == self.split.sentences:
            return self.split.join(translations)
        body = self.raw.rstrip()
        first, second = (INDENT.match(line)[0] for line in body.split("\n")[:2])  # type: ignore[index]
        words = self.split.join(translations).split()
        lines = wrap(words, self.width, indents=(len(first), len(second)))
        line_end = "\r\n" if "\r\n" in body else "\n"
        text = first + (line_end + second).join(lines)
        return text + self.raw[len(body) :]


def parse_text(text: str, _: ParseOptions) -> Document:
    """Parse plain text into sentences and a function that puts translations in their place."""
    parts = list(split_blocks(text))
    blocks = [part for part in parts if isinstance(part, Block)]
    ends = accumulate((len(block.split.sentences) for block in blocks), initial=0)
    spans = dict(zip(map(id, blocks), pairwise(list(ends)), strict=True))

    def join(translations: Sequence[str], _: Sequence[Links]) -> Joined:
        new = [
            part if isinstance(part, str) else part.join(translations[slice(*spans[id(part)])])
            for part in parts
        ]
        return Joined("".join(new))

    raws = [part if isinstance(part, str) else part.raw for part in parts]
    firsts = accumulate((raw.count("\n") for raw in raws), initial=1)
    lines = [
        line
        for part, first in zip(parts, firsts, strict=False)
        if isinstance(part, Block)
        for line in part.split.list_lines(first)
    ]
    return Document(
        tuple(one for block in blocks for one in block.split.sentences), join, lines=lines
    )


def split_blocks(text: str) -> Iterator[str | Block]:
    """Yield the blocks of a text, and the blank lines between them, in order."""
    for is_blank, lines in groupby(LINE.findall(text), key=lambda line: not line.strip()):
        raw = "".join(lines)
        if is_blank:
            yield raw
            continue
        width = find_width(raw.rstrip().split("\n"))
        yield Block(raw, split_text(raw, at_line_ends=width is None), width)


def find_width(lines: Sequence[str]) -> int | None:
    """Return the width that the lines of a paragraph were wrapped to, or None if they were not."""
    lines = [line.rstrip() for line in lines]
    width = max(map(len, lines))
    if len(lines) == 1 or not NARROWEST <= width <= WIDEST:
        return None
    had_no_room = all(
        len(line) + 1 + len(following.split()[0]) > width and not ITEM.match(following)
        for line, following in pairwise(lines)
    )
    return width if had_no_room else None
