"""The value `Document`: sentences to translate, and a function that puts translations in place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from transduce.text.documents.inline import Links

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
    # the line on which each sentence begins; empty if `join` itself tells what a translation lacks
    lines: Sequence[int] = ()
    kept: int = 0  # the number of entries that had a translation, which stays


@final
@dataclass(frozen=True)
class ParseOptions:
    """Options for any document's parser: inline tags in sentences, target language, its name."""

    inline: bool = False  # whether a sentence may go on across inline tags
    language: str = ""  # the language of the translation, such as "de"
    name: str = "the document"  # what error messages call the document


Parse = Callable[[str, ParseOptions], Document]
