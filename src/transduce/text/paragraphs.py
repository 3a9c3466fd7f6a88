"""Splitting of running text into sentences, with everything that stands between them.

Unlike `text.sentences`, which splits one normalised line, this module keeps the text as it is:
what is no sentence (whitespace, invisible characters, the dash of a list, numbers without a word)
stays where it was when the translated sentences are joined.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import final

from transduce.text.clean import INVISIBLE
from transduce.text.sentences import can_end_sentence, can_start_sentence

WORD = re.compile(r"\S+")
BULLETS = "-–—*•·●▪■►▶#>|_~=+"  # a word of these characters does not start a sentence
LINE_END = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@final
@dataclass(frozen=True)
class SplitText:
    """The sentences of a text, and the strings before, between and after them."""

    sentences: tuple[str, ...]
    between: tuple[str, ...]  # the strings before, between and after the sentences

    def join(self, translations: Sequence[str]) -> str:
        """Return the text with each sentence replaced by its translation."""
        pairs = zip(self.between, translations, strict=False)
        return "".join([part for pair in pairs for part in pair] + [self.between[-1]])

    def list_lines(self) -> list[int]:
        """Return the number of each sentence's first line, from 1."""
        before = (a.count("\n") for a in self.between[:-1])
        inside = (one.count("\n") for one in ("", *self.sentences[:-1]))
        return list(accumulate(map(add, before, inside), initial=1))[1:]


def split_text(text: str, *, at_line_ends: bool = True) -> SplitText:
    """Split a text into its sentences; a line's end also ends a sentence if `at_line_ends`."""
    return cut(text, find_sentences(text, WORD, LINE_END if at_line_ends else None))


def cut(text: str, spans: Iterator[tuple[int, int]]) -> SplitText:
    """Cut a text into the sentences at these (start, end) spans and the strings between them."""
    sentences, between, end = list[str](), list[str](), 0
    for start, stop in spans:
        between.append(text[end:start])
        sentences.append(text[start:stop])
        end = stop
    return SplitText(tuple(sentences), (*between, text[end:]))


def find_sentences(
    text: str,
    word: re.Pattern[str] = WORD,
    line_end: re.Pattern[str] | None = None,
    read: Callable[[str], str] = str,
) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence that has a letter; `word` matches one word of a text.

    A match of `line_end` between two words ends a sentence, too. `read` resolves the escapes
    in a word, such as `Caf&eacute;.`.
    """
    start, end, before, has_letter = 0, 0, "", False
    if line_end is not None and not line_end.search(text):
        line_end = None
    for match in word.finditer(text):
        here = INVISIBLE.sub("", read(match.group())).strip()
        if not here:
            continue
        line_ends = line_end is not None and line_end.search(text, end, match.start())
        if line_ends or (can_end_sentence(before) and can_start_sentence(here)):
            if has_letter:
                yield start, end
            before, has_letter = "", False
        if not before and not here.strip(BULLETS):
            continue
        start = start if before else match.start()
        end, before = match.end(), here
        has_letter = has_letter or any(map(str.isalpha, here))
    if has_letter:
        yield start, end
