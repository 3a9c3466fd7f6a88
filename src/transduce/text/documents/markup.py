"""Text with markup, split into sentences that carry the inline markup inside of them.

For the split each piece of markup is replaced by one character that the text does not contain, so
that sentences are found as in plain text. A boundary, such as a paragraph's tag, ends a sentence.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import final

from transduce.errors import InputError
from transduce.text.inline import PRIVATE, Links, Piece, insert_markup, pair_tags
from transduce.text.paragraphs import SplitText, cut_at_spans, find_sentences

MAX_MARKS = 100  # pieces of markup in a sentence; the time to insert them is quadratic


@final
@dataclass(frozen=True)
class SplitMarkup:
    """The sentences of a text with markup, and the unchanged text and markup between them."""

    sentences: tuple[str, ...]  # without markup and character references
    written: SplitText  # the sentences, with markup, and the strings between them, all unchanged
    pieces: tuple[tuple[Piece, ...], ...]  # the texts and markup of each sentence
    escape: Callable[[str], str]

    @property
    def has_inline_markup(self) -> bool:
        """Return whether any sentence contains inline markup, such as <b>."""
        return any(len(pieces) > 1 for pieces in self.pieces)

    def join(self, translations: Sequence[str], links: Sequence[Links] = ()) -> str:
        """Return the text with its sentences translated; word alignments place their markup.

        A sentence equal to its translation is left as it is. Markup inside of a sentence is
        placed by the sentence's links, pairs of a source and a target word, surest first.
        """
        links = links or [()] * len(translations)
        old = zip(self.sentences, self.written.sentences, self.pieces, strict=True)
        return self.written.join(
            [
                raw if new == sentence else insert_markup(pieces, new, linked, self.escape)
                for (sentence, raw, pieces), new, linked in zip(
                    old, translations, links, strict=True
                )
            ]
        )


@final
@dataclass(frozen=True)
class Template:
    """A text with markup as one string, with one character for each piece of markup."""

    flat: str
    markup: list[Piece]
    positions: list[int]  # the index in `flat` of each piece of markup
    word: re.Pattern[str]  # matches a word, or a run of spaces, in `flat`
    boundary: re.Pattern[str]  # matches the character for markup that ends a sentence
    mark: str  # the character for all other markup
    unescape: Callable[[str], str]  # resolves character references, such as &amp;


def split_markup(
    pieces: Sequence[Piece],
    unescape: Callable[[str], str],
    escape: Callable[[str], str],
    space: str = r"\s",
    language: str = "",
) -> SplitMarkup:
    """Join pieces of text and markup, and split them into sentences by the rules of `language`.

    `unescape` resolves the escapes of a text, such as &amp;, and `escape` writes them. `space` is a
    regular expression that matches one space; in HTML a space may be written &nbsp;.
    """
    template = build_template(pieces, unescape, space)

    def read_word(text: str) -> str:  # without inline markup
        return unescape(text.replace(template.mark, ""))

    found = find_sentences(template.flat, template.word, template.boundary, read_word, language)
    split = cut_at_spans(
        template.flat,
        chain.from_iterable(split_balanced(template, span, language) for span in found),
    )
    parts = expand_parts(  # in turn a string between sentences and a sentence; the last is empty
        template, chain.from_iterable(zip(split.between, (*split.sentences, ""), strict=True))
    )
    raws = ["".join(piece.raw for piece in part) for part in parts]
    inner = [
        tuple(
            Piece("text", unescape(piece.raw)) if piece.kind == "text" else piece for piece in part
        )
        for part in parts[1:-1:2]
    ]
    sentences = ["".join(one.raw for one in part if one.kind == "text") for part in inner]
    written = SplitText(tuple(raws[1:-1:2]), tuple(raws[::2]))
    return SplitMarkup(tuple(sentences), written, tuple(inner), escape)


def build_template(pieces: Sequence[Piece], unescape: Callable[[str], str], space: str) -> Template:
    """Join pieces into a template, with a private-use character in place of each piece of markup.

    `space` is a regular expression that matches one space. Raises InputError if the text leaves
    fewer than two private-use characters unused.
    """
    used = set().union(*(piece.raw for piece in pieces if piece.kind == "text"))
    free = list(islice((chr(code) for code in PRIVATE if chr(code) not in used), 2))
    if len(free) < 2:
        raise InputError(f"has all {len(PRIVATE):,} characters for private use", "is this a text?")
    boundary, mark = free
    symbols = {"boundary": boundary, "open": mark, "close": mark, "empty": mark}
    flat = "".join(symbols.get(piece.kind, piece.raw) for piece in pieces)
    return Template(
        flat,
        [piece for piece in pieces if piece.kind != "text"],
        [match.start() for match in re.finditer(f"[{boundary}{mark}]", flat)],
        re.compile(rf"(?:{space})+|(?:(?!{space})[^{boundary}])+", re.DOTALL),
        re.compile(boundary),
        mark,
        unescape,
    )


def split_balanced(
    template: Template, span: tuple[int, int], language: str
) -> Iterator[tuple[int, int]]:
    """Yield a sentence's span without outer markup; split it at markup if a tag has no partner.

    If a tag inside has no partner in the sentence, or if there are more than `MAX_MARKS` pieces of
    markup, the texts between these pieces are split into sentences, and their spans are yielded.
    """
    first, last = (bisect_left(template.positions, edge) for edge in span)
    markup, positions = template.markup[first:last], template.positions[first:last]
    partners = pair_tags(markup)
    (start, end), inside = trim_span(span, positions, partners)
    is_paired = all(index in partners or markup[index].kind == "empty" for index in inside)
    if is_paired and len(inside) <= MAX_MARKS:
        yield start, end
        return
    cuts = [positions[index] for index in inside]
    edges = [start, *(edge for at in cuts for edge in (at, at + 1)), end]
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        text = template.flat[left:right]
        word, boundary, unescape = template.word, template.boundary, template.unescape
        for one in find_sentences(text, word, boundary, unescape, language):
            yield left + one[0], left + one[1]


def trim_span(
    span: tuple[int, int], positions: Sequence[int], partners: Mapping[int, int]
) -> tuple[tuple[int, int], range]:
    """Strip markup from a span's ends; return the new span and the range of the remaining markup.

    Unpaired markup and pairs of tags that enclose the rest are stripped. The range has
    indices into `positions`, the positions of all markup in the span, in order. `partners` maps
    the index of each paired tag to the index of its partner.
    """
    start, end = span
    low, high = 0, len(positions)
    while low < high:
        at_start, at_end = positions[low] == start, positions[high - 1] == end - 1
        encloses = at_start and at_end and partners.get(low) == high - 1
        if encloses:
            start, low, end, high = start + 1, low + 1, end - 1, high - 1
        elif at_start and low not in partners:
            start, low = start + 1, low + 1
        elif at_end and high - 1 not in partners:
            end, high = end - 1, high - 1
        else:
            break
    return (start, end), range(low, high)


def expand_parts(template: Template, parts: Iterator[str]) -> list[list[Piece]]:
    """Split each of the consecutive `parts` of `template.flat` into pieces of text and markup."""
    markup, marks = iter(template.markup), f"([{template.boundary.pattern}{template.mark}])"
    return [
        [
            next(markup) if index % 2 else Piece("text", text)
            for index, text in enumerate(re.split(marks, part))
            if text
        ]
        for part in parts
    ]
