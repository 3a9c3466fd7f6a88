"""Split running text into sentences, and keep everything that stands between them.

Unlike `text.sentences`, which splits one normalised line, this module keeps the text as it is:
what is not a sentence (whitespace, invisible characters, list dashes, numbers without words)
keeps its place when the translated sentences are joined. Sentences of languages for which
`text.sentences` has no rules are found by sentencex, if it is installed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate, chain, pairwise, zip_longest
from operator import add
from typing import final

from transduce.settings.data import UNNAMED
from transduce.text.clean import INVISIBLE
from transduce.text.languages import read_primary_code
from transduce.text.sentences import can_end_sentence, can_start_sentence

WORD = re.compile(r"\S+")
BULLETS = "-–—*•·●▪■►▶#>|_~=+"  # a word of these characters does not start a sentence
OUR_LANGUAGES = ("", UNNAMED[0], "en", "de", "fr")  # their sentences are found by `text.sentences`
WIDE_BLANK = re.compile(r"[^\S\x00-\x7f]")  # sentencex 1.0 panics at these
LINE_END = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@final
@dataclass(frozen=True)
class SplitText:
    """The sentences of a text, and the strings before, between and after them."""

    sentences: tuple[str, ...]
    between: tuple[str, ...]  # the strings before, between and after the sentences

    def join(self, translations: Sequence[str]) -> str:
        """Return the text with each sentence replaced by its translation.

        Where nothing stood between two sentences, as in Chinese, a space follows a translation that
        ends in ASCII, unless the translation equals the sentence.
        """
        old = zip(self.between[1:-1], self.sentences, translations, strict=False)
        inner = [gap or " " * (new != one and new[-1:].isascii()) for gap, one, new in old]
        gaps = [self.between[0], *inner, *self.between[1:][-1:]]
        return "".join(chain(*zip_longest(gaps, translations, fillvalue="")))

    def list_lines(self) -> list[int]:
        """Return, for each sentence, the number of the line where it begins, from 1."""
        before = (a.count("\n") for a in self.between[:-1])
        inside = (one.count("\n") for one in ("", *self.sentences[:-1]))
        return list(accumulate(map(add, before, inside), initial=1))[1:]


def split_text(text: str, language: str = "", *, at_line_ends: bool = True) -> SplitText:
    """Split a text into its sentences; a line's end also ends a sentence if `at_line_ends`."""
    line_end = LINE_END if at_line_ends else None
    return cut_at_spans(text, find_sentences(text, WORD, line_end, language=language))


def cut_at_spans(text: str, spans: Iterator[tuple[int, int]]) -> SplitText:
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
    unescape: Callable[[str], str] = str,
    language: str = "",
) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence that has a letter; the pattern `word` matches a word.

    A match of `line_end` between two words ends a sentence, too. `unescape` resolves the escapes
    in a word, such as `Caf&eacute;.`.
    """
    if line_end is not None and not line_end.search(text):
        line_end = None
    code = read_primary_code(language)
    if code in OUR_LANGUAGES or find_spec("sentencex") is None:
        yield from find_sentences_in(
            text, (0, len(text)), word, line_end, unescape, by_punctuation=True
        )
        return
    from sentencex import segment

    ends = [0, *accumulate(map(len, segment(code, WIDE_BLANK.sub(" ", text))))]
    for span in pairwise(ends):
        yield from find_sentences_in(text, span, word, line_end, unescape, by_punctuation=False)


def find_sentences_in(
    text: str,
    span: tuple[int, int],
    word: re.Pattern[str],
    line_end: re.Pattern[str] | None,
    unescape: Callable[[str], str],
    *,
    by_punctuation: bool,
) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of a span's sentences; if `by_punctuation`, punctuation also ends one."""
    start, end, before, has_letter = span[0], span[0], "", False
    for match in word.finditer(text, *span):
        here = INVISIBLE.sub("", unescape(match.group())).strip()
        if not here:
            continue
        line_ends = line_end is not None and line_end.search(text, end, match.start())
        if line_ends or (by_punctuation and can_end_sentence(before) and can_start_sentence(here)):
            if has_letter:
                yield start, end
            before, has_letter = "", False
        if not before and not here.strip(BULLETS):
            end = match.end()
            continue
        start = start if before else match.start()
        end, before = match.end(), here
        has_letter = has_letter or any(map(str.isalpha, here))
    if has_letter:
        yield start, end
