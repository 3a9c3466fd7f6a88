"""The value `Document`: sentences to translate, and a function that puts translations in place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from transduce.text.documents.inline import Links
from transduce.text.documents.markup import SplitMarkup
from transduce.text.paragraphs import SplitText

Join = Callable[[Sequence[str], Sequence[Links]], "Joined"]


@final
@dataclass(frozen=True)
class Joined:
    """A translated document, and what each entry that lost placeholders has lost."""

    text: str
    lost: tuple[str, ...] = ()


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


def build_document(split: SplitText | SplitMarkup) -> Document:
    """Build a document of a split text."""
    if isinstance(split, SplitText):
        return Document(split.sentences, lambda new, _: Joined(split.join(new)))
    return Document(
        split.sentences, lambda new, links: Joined(split.join(new, links)), split.has_inline_markup
    )
