"""Cuts a text into sentences and what lies between them, and puts translations in their places."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from transduce.text.sentences import can_end_sentence, can_start_sentence

WORD = re.compile(r"\S+")


@final
@dataclass(frozen=True)
class SplitText:
    """A text as its sentences and the strings around them: one more than there are sentences."""

    sentences: tuple[str, ...]
    between: tuple[str, ...]

    def join(self, translations: Sequence[str]) -> str:
        """Return the text with a translation in the place of each sentence."""
        first, *others = self.between
        both = zip(translations, others, strict=True)
        return first + "".join(text + after for text, after in both)


def split_text(text: str) -> SplitText:
    """Cut plain text into sentences; line ends and all other white space stay between them."""
    spans = list(find_sentences(text))
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    gaps = zip([0, *ends], [*starts, len(text)], strict=True)
    return SplitText(
        tuple(text[start:end] for start, end in spans), tuple(text[i:j] for i, j in gaps)
    )


def find_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence of a text, without the white space around it.

    A line ends a sentence, and so does what `text.sentences` takes for its end.
    """
    for line in re.finditer(r"[^\n\r]+", text):
        words = [(one.start(), one.end(), one[0]) for one in WORD.finditer(line[0])]
        if not words:
            continue
        base, first = line.start(), words[0][0]
        for (_, end, word), (begin, _, following) in pairwise(words):
            if can_end_sentence(word) and can_start_sentence(following):
                yield base + first, base + end
                first = begin
        yield base + first, base + words[-1][1]
