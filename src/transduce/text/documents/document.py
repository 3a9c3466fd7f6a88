"""The value `Document`: sentences to translate, and a function that inserts their translations.

`build_document` builds the document of a format that has blocks, such as paragraphs or cues.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from transduce.errors import short_repr
from transduce.text.languages import read_primary_code
from transduce.text.markup import Links

Join = Callable[[Sequence[str], Sequence[Links]], "Joined"]


@final
@dataclass(frozen=True)
class Joined:
    """The text of a translated document, and notes on translations that a person should review."""

    text: str
    for_review: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Document:
    """The sentences of a document, and the function `join` that puts translations in their place.

    `join` takes one translation and one list of word links (source word, target word) per sentence.
    Only a document with inline markup uses the links; the list of them may be empty.
    """

    sentences: Sequence[str]
    join: Join
    has_inline_markup: bool = False
    # the first line of each sentence, counted from 1; empty if `join` itself makes notes for review
    lines: Sequence[int] = ()
    kept: int = 0  # number of entries that already had a translation and keep it
    warnings: Sequence[str] = ()  # about wrong statements in the document, such as its language


@final
@dataclass(frozen=True)
class ParseOptions:
    """Options of every document parser: inline tags, the model's languages, the document's name."""

    inline: bool = False  # whether a sentence may go on across inline tags
    language: str = ""  # the language of the translation, such as "de"
    name: str = "the document"  # the document's name in error messages
    source_language: str = ""  # the language that the model translates, such as "en"


def warn_of_languages(source: str, target: str, options: ParseOptions) -> Iterator[str]:
    """Yield a warning for each declared language of a document that is not the model's."""
    both = (("source", source, options.source_language), ("target", target, options.language))
    for side, named, ours in both:
        if named and ours and read_primary_code(named) != read_primary_code(ours):
            yield f"the document's {side} language is {short_repr(named)}, the model's is {ours!r}"


Parse = Callable[[str, ParseOptions], Document]


@final
@dataclass(frozen=True)
class Block:
    """A part of a document, its sentences, and the function `join` that inserts translations."""

    raw: str
    sentences: Sequence[str]
    lines: Sequence[int]  # the first line of each sentence, counted from 1 within the block
    join: Callable[[Sequence[str], Sequence[Links]], str]
    has_inline_markup: bool = False


def build_document(parts: Sequence[str | Block]) -> Document:
    """Build a document from blocks to translate and the unchanged strings between them."""
    sentences, lines, newlines = list[str](), list[int](), 0
    for part in parts:
        if isinstance(part, Block):
            sentences += part.sentences
            lines += [newlines + line for line in part.lines]
        newlines += (part if isinstance(part, str) else part.raw).count("\n")

    def join(translations: Sequence[str], links: Sequence[Links]) -> Joined:
        links, texts, end = links or [()] * len(translations), list[str](), 0
        for part in parts:
            if isinstance(part, str):
                texts.append(part)
                continue
            some = slice(end, end := end + len(part.sentences))
            texts.append(part.join(translations[some], links[some]))
        return Joined("".join(texts))

    has_inline = any(isinstance(part, Block) and part.has_inline_markup for part in parts)
    return Document(tuple(sentences), join, has_inline, lines)
