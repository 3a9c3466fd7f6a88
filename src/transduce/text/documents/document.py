"""The value `Document`: sentences to translate, and a function that puts translations in place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from transduce.text.documents.inline import Links

Join = Callable[[Sequence[str], Sequence[Links]], "Joined"]


@final
@dataclass(frozen=True)
class Joined:
    """A translated document, and which of its entries are marked for review, with the reason."""

    text: str
    for_review: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Document:
    """The sentences of a document, and a function that makes the document of translations.

    `join` takes a translation of each sentence and the links of each sentence's words to those of
    its translation, which only a document with inline markup needs; no links at all are allowed.
    """

    sentences: Sequence[str]
    join: Join
    has_inline_markup: bool = False
    kept: int = 0  # entries that had a translation, which stays


@final
@dataclass(frozen=True)
class Request:
    """What the parser of a format is told besides the text."""

    inline: bool = False  # whether a sentence may go on across inline tags, placed by links
    language: str = ""  # of the translation, such as "de"
    name: str = "the document"  # for error messages


Parse = Callable[[str, Request], Document]
