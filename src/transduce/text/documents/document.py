"""The value `Document`: sentences to translate, and a function that puts translations in place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from transduce.text.inline import Links

Join = Callable[[Sequence[str], Sequence[Links]], "Joined"]


@final
@dataclass(frozen=True)
class Joined:
    """The text of a translated document, and notes on entries that a person should review."""

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


@final
@dataclass(frozen=True)
class ParseOptions:
    """Options of every document parser: inline tags, target language, the document's name."""

    inline: bool = False  # whether a sentence may go on across inline tags
    language: str = ""  # the language of the translation, such as "de"
    name: str = "the document"  # the document's name in error messages


Parse = Callable[[str, ParseOptions], Document]
