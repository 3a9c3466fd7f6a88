"""HTML, in which each text node is split into sentences and all markup stays as it was written.

Python's own parser finds where the text nodes are; the document is then cut there and never written
anew, so that everything else keeps its bytes. Text inside of `script`, `style`, `pre`, `code` and
the other elements of `UNTRANSLATED`, of `translate="no"` and of the class `notranslate` stays.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from typing import final

from transduce.text.documents.html_elements import VOID, is_closed_by, is_element_translated
from transduce.text.paragraphs import SplitText, cut, find_sentences
from transduce.text.xml import escape_xml

Attributes = list[tuple[str, str | None]]
BLANK = r"\s|&nbsp;|&#160;|&#[xX][aA]0;"
WORD = re.compile(rf"{BLANK}|(?:(?!{BLANK}).)+", re.DOTALL)  # or one blank, which is no word
MARKUP_START = re.compile("<[a-zA-Z/!?]")


@final
@dataclass(frozen=True)
class SplitHtml:
    """The sentences of an HTML document, and the markup, as written, between them."""

    sentences: tuple[str, ...]  # as read: without character references
    written: SplitText  # as written in the document

    def join(self, translations: Sequence[str]) -> str:
        """Return the document with each sentence replaced by its translation, escaped.

        A sentence whose translation equals it stays as it was written.
        """
        triples = zip(self.sentences, self.written.sentences, translations, strict=True)
        return self.written.join(
            [raw if new == old else escape_xml(new) for old, raw, new in triples]
        )


def split_html(document: str) -> SplitHtml:
    """Split a document or a fragment of HTML into the sentences of its text nodes."""
    written = cut(document, find_html_sentences(document))
    return SplitHtml(tuple(map(html.unescape, written.sentences)), written)


def find_html_sentences(document: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence in each text node that is to be translated."""
    for start, end in find_text_nodes(document):
        node = document[start:end]
        for first, last in find_sentences(node, WORD, at_line_ends=False, read=html.unescape):
            yield start + first, start + last


def find_text_nodes(document: str) -> list[tuple[int, int]]:
    """Return the start and end of each text node that is to be translated."""
    finder = TextNodeFinder(document)
    finder.feed(document)
    finder.close()
    starts = [*finder.starts, (len(document), False)]
    nodes = list[tuple[int, int]]()
    for (start, is_text), (end, _) in pairwise(starts):
        if is_text and nodes and nodes[-1][1] == start:
            nodes[-1] = (nodes[-1][0], end)  # the parser hands over one node in several parts
        elif is_text:
            nodes.append((start, end))
    return nodes


@final
class TextNodeFinder(HTMLParser):
    """A parser that lists where tags and text nodes start, and which text is to be translated."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.document = document
        lines = (len(line) + 1 for line in document.split("\n"))
        self.line_starts = list(accumulate(lines, initial=0))
        self.starts = list[tuple[int, bool]]()  # offset, and whether it starts text to translate
        self.open = list[tuple[str, bool]]()  # open elements, and whether their text is translated
        self.count = Counter[str]()  # of open elements by name

    def add_start(self, *, is_text: bool) -> None:
        """Note that something starts at the parser's position."""
        line, column = self.getpos()
        self.starts.append((self.line_starts[line - 1] + column, is_text))

    def is_translated(self) -> bool:
        """Return whether text at the parser's position is to be translated."""
        return not self.open or self.open[-1][1]

    def close_element(self) -> None:
        """Close the innermost open element."""
        name, _ = self.open.pop()
        self.count[name] -= 1

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        """Open an element, unless it never has content."""
        self.add_start(is_text=False)
        if tag in VOID:
            return
        while self.open and is_closed_by(self.open[-1][0], tag):
            self.close_element()
        inherited = self.is_translated()
        self.open.append((tag, is_element_translated(tag, dict(attrs), inherited=inherited)))
        self.count[tag] += 1

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:  # noqa: ARG002 - the parser's
        """Note a tag such as <br/>."""
        self.add_start(is_text=False)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost open element of that name, and those inside of it."""
        self.add_start(is_text=False)
        while self.count[tag]:
            name = self.open[-1][0]
            self.close_element()
            if name == tag:
                return

    def handle_data(self, data: str) -> None:  # noqa: ARG002 - the parser's signature
        """Note text; what starts like a tag but is none stays as it is."""
        self.add_start(is_text=False)
        offset, _ = self.starts.pop()
        is_text = self.is_translated() and not MARKUP_START.match(self.document, offset)
        self.starts.append((offset, is_text))

    def parse_marked_section(self, i: int, report: int = 1) -> int:  # noqa: ARG002
        """Take <![…> as the comment that it is in HTML; older Pythons fail at some of these."""
        return self.parse_bogus_comment(i)

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        """Note a comment."""
        self.add_start(is_text=False)

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002
        """Note a document type."""
        self.add_start(is_text=False)

    def handle_pi(self, data: str) -> None:  # noqa: ARG002
        """Note a processing instruction."""
        self.add_start(is_text=False)

    def unknown_decl(self, data: str) -> None:  # noqa: ARG002
        """Note a marked section, such as CDATA."""
        self.add_start(is_text=False)
