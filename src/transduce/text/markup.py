"""Text with markup: split into sentences that carry their inline markup, and put together again.

For the split each piece of markup is replaced by one character that the text does not contain, so
that sentences are found as in plain text. A boundary, such as a paragraph's tag, ends a sentence.

A sentence's inline markup is placed in its translation by links between their words. Every target
word belongs to the source word that it is linked to most surely. A pair of tags encloses the
longest run of target words that belong to words inside of the pair, so that pairs never cross.
Other markup goes beside the translation of a word next to it. No markup is lost.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import Literal, final

from transduce.errors import InputError
from transduce.text.clean import INVISIBLE
from transduce.text.sentences import SplitText, cut_at_spans, find_sentences

Kind = Literal["text", "open", "close", "empty", "boundary"]
Links = Sequence[tuple[int, int]]  # (source word, target word), counted from 0, surest first
PRIVATE = range(0xF0000, 0xFFFFE)  # characters for private use
MAX_MARKS = 100  # pieces of markup in a sentence; the time to insert them is quadratic


@final
@dataclass(frozen=True)
class Piece:
    """A stretch of a document: text, inline tag, other inline markup, or a sentence boundary.

    `kind` is "empty" for inline markup that is no tag of a pair, such as an image. `name` is the
    name of a tag.
    """

    kind: Kind
    raw: str
    name: str = ""


def pair_tags(markup: list[Piece]) -> dict[int, int]:
    """Return a dict from the index of each paired tag in `markup` to the index of its partner."""
    partners, pending = dict[int, int](), list[int]()
    for index, piece in enumerate(markup):
        if piece.kind == "open":
            pending.append(index)
        elif piece.kind == "close" and pending and markup[pending[-1]].name == piece.name:
            partners[index] = pending.pop()
            partners[partners[index]] = index
    return partners


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
    mark: re.Pattern[str]  # matches a character for markup
    find: Callable[[str], Iterator[tuple[int, int]]]  # finds the sentences in a part of `flat`


def split_markup(
    pieces: Sequence[Piece],
    unescape: Callable[[str], str],
    escape: Callable[[str], str],
    language: str,
    *,
    inline: bool,
    space: str = r"\s",
) -> SplitMarkup:
    """Join pieces of text and markup, and split them into sentences by the rules of `language`.

    Unless `inline`, all markup ends a sentence, as a boundary does. `unescape` resolves the escapes
    of a text, such as &amp;, and `escape` writes them. `space` is a regular expression that matches
    one space; in HTML a space may be written &nbsp;.
    """
    if not inline:
        pieces = [one if one.kind == "text" else Piece("boundary", one.raw) for one in pieces]
    template = build_template(pieces, unescape, space, language)
    found = (split_balanced(template, span) for span in template.find(template.flat))
    split = cut_at_spans(template.flat, chain.from_iterable(found))
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


def build_template(
    pieces: Sequence[Piece], unescape: Callable[[str], str], space: str, language: str
) -> Template:
    """Join pieces into a template, with a private-use character in place of each piece of markup.

    The parameters are those of `split_markup`. Raises InputError if the text leaves fewer than two
    private-use characters unused.
    """
    used = set().union(*(piece.raw for piece in pieces if piece.kind == "text"))
    free = list(islice((chr(code) for code in PRIVATE if chr(code) not in used), 2))
    if len(free) < 2:
        raise InputError(f"has all {len(PRIVATE):,} characters for private use", "is this a text?")
    boundary, mark = free
    marks = re.compile(f"([{boundary}{mark}])")
    # a word, or a run of spaces, perhaps with inline markup in it
    word = re.compile(rf"(?:{space})+|(?:(?!{space})[^{boundary}])+", re.DOTALL)

    def find(text: str) -> Iterator[tuple[int, int]]:
        line_end = re.compile(boundary)
        return find_sentences(
            text, word, line_end, lambda one: unescape(one.replace(mark, "")), language
        )

    symbols = {"boundary": boundary, "open": mark, "close": mark, "empty": mark}
    flat = "".join(symbols.get(piece.kind, piece.raw) for piece in pieces)
    markup = [piece for piece in pieces if piece.kind != "text"]
    return Template(flat, markup, [one.start() for one in marks.finditer(flat)], marks, find)


def split_balanced(template: Template, span: tuple[int, int]) -> Iterator[tuple[int, int]]:
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
        for one in template.find(template.flat[left:right]):
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
    markup = iter(template.markup)
    return [
        [
            next(markup) if index % 2 else Piece("text", text)
            for index, text in enumerate(template.mark.split(part))
            if text
        ]
        for part in parts
    ]


# --- Inline markup in a translation ---------------------------------------------------------------

Side = Literal["before", "after"]
Slot = tuple[Side, int]  # a side of a target word, and the word's index
PUNCTUATION = ".,;:!?…'\"()[]{}«»„“”‚‘’¿¡،؛؟。、！？（）"
OPENING, CLOSING = '([{«„“‚‘¿¡"', '.,;:!?…)]}»”“"'  # marks that may touch what stands as a word


@final
@dataclass(frozen=True)
class Anchor:
    """A piece of markup in a source sentence, and the indices of the words beside it."""

    piece: Piece
    last: int  # index of the word that ends before the markup, or that contains it; -1: none
    first: int  # index of the word that begins after the markup, or that contains it
    follows_space: bool  # whether no word touches the markup from the left
    stands_alone: bool  # whether it is no tag of a pair, and only spaces or punctuation touch it
    touches_punctuation: bool  # whether punctuation is just outside a tag, or behind a lone piece


def insert_markup(
    pieces: Sequence[Piece], translation: str, links: Links, escape: Callable[[str], str]
) -> str:
    """Return a translation, escaped, with its source's inline markup placed by word `links`."""
    anchors, words = find_anchors(pieces), translation.split()
    if not anchors:
        return escape(translation)
    if not words:
        return "".join(anchor.piece.raw for anchor in anchors)
    count = len("".join(piece.raw for piece in pieces if piece.kind == "text").split())
    slots = assign_slots(anchors, find_linked_sources(links, max(count, 1), len(words)))
    marked = [MarkedWord() for _ in words]
    for anchor, (side, word) in zip(anchors, slots, strict=True):
        marked[word].add(anchor, side)
    return " ".join(one.write(word, escape) for one, word in zip(marked, words, strict=True))


@final
@dataclass
class MarkedWord:
    """The markup before and after a target word, outside and inside its punctuation marks."""

    before: str = ""
    head: str = ""  # markup after opening punctuation
    tail: str = ""  # markup before closing punctuation
    after: str = ""

    def add(self, anchor: Anchor, side: Side) -> None:
        """Add an anchor's markup on one side of the word, after any markup already on that side."""
        markup = anchor.piece.raw
        if anchor.stands_alone:
            markup = " " + markup if side == "after" else markup + " "
        if side == "after" and anchor.touches_punctuation and not self.after:
            self.tail += markup
        elif side == "after":
            self.after += markup
        elif self.head or (anchor.touches_punctuation and anchor.piece.kind == "open"):
            self.head += markup
        else:
            self.before += markup

    def write(self, word: str, escape: Callable[[str], str]) -> str:
        """Return the word, escaped, with its markup."""
        core = word.strip(PUNCTUATION) or word
        first, last = word.split(core, 1)
        inside = self.head + escape(core) + self.tail
        is_mark = not word.strip(PUNCTUATION)  # it touches what its side opens or closes
        before = self.before.rstrip(" ") if is_mark and word[0] in CLOSING else self.before
        after = self.after.lstrip(" ") if is_mark and word[-1] in OPENING else self.after
        return before + escape(first) + inside + escape(last) + after


def find_anchors(pieces: Sequence[Piece]) -> list[Anchor]:
    """Return an anchor, with the source words beside it, for each piece of markup in a sentence."""
    texts = [INVISIBLE.sub("", one.raw) if one.kind == "text" else "" for one in pieces]
    anchors = list[Anchor]()
    for index, piece in enumerate(pieces):
        if piece.kind == "text":
            continue
        left, right = "".join(texts[:index]), "".join(texts[index:])
        words, before, after = len(left.split()), left[-1:] or " ", right[:1] or " "
        in_word = not before.isspace()
        first = words - 1 if in_word and not after.isspace() else words
        is_apart = (not in_word or before in OPENING) and (after.isspace() or after in CLOSING)
        alone = piece.kind == "empty" and is_apart
        outside = {"open": before, "close": after}.get(piece.kind, after if alone else " ")
        anchors.append(Anchor(piece, words - 1, first, not in_word, alone, outside in PUNCTUATION))
    return anchors


def find_linked_sources(links: Links, source_count: int, target_count: int) -> list[int | None]:
    """Return, for each target word, the index of its linked source word, or None without a link.

    The first link of a target word counts, and links beyond the two word counts are ignored. If
    `links` is empty, the words are taken to be in the same order.
    """
    if not links:
        return [target * source_count // target_count for target in range(target_count)]
    owners = {target: source for source, target in reversed(links) if source < source_count}
    return [owners.get(target) for target in range(target_count)]


def assign_slots(anchors: Sequence[Anchor], owners: list[int | None]) -> list[Slot]:
    """Return where each anchor goes, as ("before" or "after", target word); may change `owners`.

    `owners` has each target word's source word, by index; `link_unlinked_span` changes it in place.
    """
    partners = pair_tags([anchor.piece for anchor in anchors])
    pairs = [(index, end) for index, end in sorted(partners.items()) if index < end]
    insides = find_insides(anchors, pairs)
    for inside in insides.values():
        link_unlinked_span(inside, owners)
    slots = [find_slot(anchor, owners) for anchor in anchors]
    outer = [(len(anchors), (0, len(owners)))]  # of each open pair: its end tag, its target words
    for pair in pairs:
        while pair[0] > outer[-1][0]:
            outer.pop()
        limits = outer[-1][1]
        run = find_longest_run(owners, insides[pair], limits)
        if run is not None:
            slots[pair[0]], slots[pair[1]] = ("before", run[0]), ("after", run[1] - 1)
        elif insides[pair]:
            slots[pair[0]] = slots[pair[1]] = ("before", limits[0])
        else:
            slots[pair[1]] = slots[pair[0]]
        outer.append((pair[1], run or (limits[0], limits[0] + 1)))
    return slots


def find_insides(
    anchors: Sequence[Anchor], pairs: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], range]:
    """Return the source words inside of each pair of tags; none is in two pairs side by side.

    A word that two pairs share, as in <b>a</b><i>b</i>, belongs to the first pair.
    `pairs` has the indices of start and end tags, in order.
    """
    insides, after = dict[tuple[int, int], range](), dict[int, int]()  # end tag -> next free word
    for start, end in pairs:
        taken = max((word for tag, word in after.items() if tag < start), default=0)
        after[end] = anchors[end].last + 1
        insides[start, end] = range(max(anchors[start].first, taken), after[end])
    return insides


def link_unlinked_span(inside: range, owners: list[int | None]) -> None:
    """If no target word is linked to `inside`, link one to the first word of `inside`.

    `owners`, changed in place, has each target word's source word; `inside` has the source words in
    a pair of tags.
    """
    if inside and not any(owner is not None and owner in inside for owner in owners):
        known = [owner for owner in owners if owner is not None]
        target = inside.start * len(owners) // (max([*known, inside[-1]]) + 1)
        owners[target] = inside.start


def find_longest_run(
    owners: Sequence[int | None], inside: range, limits: tuple[int, int]
) -> tuple[int, int] | None:
    """Return (start, end) of the longest run linked to `inside`, across unlinked words, or None.

    `owners` has the index of each target word's source word, or None; words with None may stand in
    the run. Only target words from `limits[0]` to `limits[1] - 1` are considered.
    """
    runs = list[tuple[int, int]]()
    targets = groupby(range(*limits), key=lambda n: owners[n] is None or owners[n] in inside)
    for is_run, group in targets:
        linked = [target for target in group if owners[target] is not None]
        if is_run and linked:
            runs.append((linked[0], linked[-1] + 1))
    return max(runs, key=lambda run: run[1] - run[0], default=None)


def find_slot(anchor: Anchor, owners: Sequence[int | None]) -> Slot:
    """Return where one anchor goes, from the source words beside it and not from other anchors."""
    of_last = [target for target, owner in enumerate(owners) if owner == anchor.last]
    if of_last and not anchor.follows_space:
        return "after", of_last[-1]
    owned = [(owner, target) for target, owner in enumerate(owners) if owner is not None]
    following = [one for one in owned if one[0] >= anchor.first]
    return ("before", min(following)[1]) if following else ("after", len(owners) - 1)
