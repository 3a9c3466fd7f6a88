"""HTML, split into sentences; all markup keeps its bytes, except the language of <html>.

Python's own parser finds where tags and text are; the document is then cut there and never written
anew, so that everything else keeps its bytes. Text stays as it is inside of `script`, `code` and
other elements (`UNTRANSLATED`), and of elements with `translate="no"` or the class `notranslate`.
"""

import re
from collections import Counter
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from typing import final

from transduce.text.documents.document import Document, Joined, ParseOptions, warn_of_languages
from transduce.text.languages import read_primary_code
from transduce.text.markup import Kind, Piece, SplitMarkup, split_markup
from transduce.text.xml import escape_xml, mask_references, unescape_references

Start = tuple[int, Kind, str]
Attributes = list[tuple[str, str | None]]
BLANK = r"\s|&nbsp;|&#160;|&#[xX][aA]0;"
LANGUAGE = re.compile(r"""(\s(?:xml:)?lang\s*=\s*["']?)([a-z][a-z0-9_-]*)""", re.IGNORECASE)
HTML = re.compile(r"<html\b[^>]*", re.IGNORECASE)
CHARSET = re.compile(
    r"""<meta\b(?=\s+charset|[^<>]*\bhttp-equiv)[^<>]*?\bcharset\s*=\s*["']?([\w:.-]+)""",
    re.IGNORECASE,
)
MARKUP_START = re.compile("<[a-zA-Z/!?]")
TEMPLATE_CODE = re.compile("<%[^%]*%>")  # of ERB, EJS and JSP
NO_LINE_END = re.compile(r"[^\n]")

CODE = """script style pre code kbd samp var tt textarea svg math template iframe object
    noembed noframes xmp plaintext listing"""
EMPTY = "area base br col embed hr img input link meta param source track wbr"
BLOCK = """address article aside blockquote details div dl fieldset figcaption figure footer form h1
    h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section table ul"""
INLINE = """a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s
    samp small span strike strong sub sup time tt u var wbr"""
IN_SENTENCES = frozenset(INLINE.split())  # elements that may stand inside of a sentence
UNTRANSLATED = frozenset(CODE.split())
VOID = frozenset(EMPTY.split())  # elements with neither content nor an end tag
CELL_ENDS = ("td", "th", "tr", "tbody", "tfoot")
CLOSED_BY = {  # from an element that may lack its end tag to the start tags that end it
    "p": frozenset(BLOCK.split()),
    "li": ("li",),
    "dt": ("dt", "dd"),
    "dd": ("dt", "dd"),
    "option": ("option", "optgroup"),
    "td": CELL_ENDS,
    "th": CELL_ENDS,
    "tr": ("tr", "tbody", "tfoot"),
}


def split_html(
    document: str, language: str = "", *, inline: bool = False, target: str = ""
) -> SplitMarkup:
    """Split HTML into sentences, across tags such as <b> if `inline`; set <html lang> to `target`.

    Without `inline` every text node is split on its own. The result's `join` places inline tags by
    links between words. A `target` replaces the language of <html> if that is `language`, or
    if `language` is "".
    """
    starts = [(0, "boundary", ""), *find_starts(document), (len(document), "boundary", "")]

    def rename(found: re.Match[str]) -> str:
        is_ours = not language or read_primary_code(found[2]) == read_primary_code(language)
        return found[1] + (target if is_ours else found[2])

    pieces = []
    for (start, kind, name), (end, _, _) in pairwise(starts):
        raw = document[start:end]
        if name == "html" and target:
            raw = LANGUAGE.sub(rename, raw)
        if raw:
            pieces.append(Piece(kind, raw, name))
    return split_markup(
        pieces, unescape_references, escape_xml, language, inline=inline, space=BLANK
    )


def find_starts(document: str) -> list[Start]:
    """Return (start offset, kind of `Piece`, tag name) of each tag and text in HTML, in order.

    The parser gets only the text up to the last >. No tag ends after that, but the parser would
    search the rest for the end of each <, in quadratic time.
    """
    finder, end = PieceFinder(document), document.rfind(">") + 1
    finder.feed(mask_references(TEMPLATE_CODE.sub(mask_template_code, document[:end])))
    finder.close()
    last: Kind = "text" if finder.is_translated() else "boundary"
    cut = MARKUP_START.search(document, end)
    return [
        *finder.starts,
        (end, last, ""),
        (cut.start() if cut else len(document), "boundary", ""),
    ]


def mask_template_code(found: re.Match[str]) -> str:
    """Return a comment as long as the matched code of a template, with the same line ends."""
    return f"<!{NO_LINE_END.sub('_', found[0][2:-1])}>"


def parse_html(text: str, options: ParseOptions) -> Document:
    """Parse HTML into its sentences and a function that puts translations in their place."""
    source, target = options.source_language, options.language
    split = split_html(text, source, inline=options.inline, target=target)
    tag = HTML.search(text)
    named = LANGUAGE.search(tag[0]) if tag else None
    warnings = list(warn_of_languages(named[2] if named else "", "", options))
    charset = CHARSET.search(text)
    if charset and charset[1].lower() not in ("utf-8", "utf8"):
        warnings.append(f"the document says charset {charset[1]}, and its translation is UTF-8")
    return Document(
        split.sentences,
        lambda translations, links: Joined(split.join(translations, links)),
        split.has_inline_markup,
        split.written.list_lines(),
        warnings=warnings,
    )


@final
class PieceFinder(HTMLParser):
    """A parser of HTML that lists the offset, kind and tag name of every tag and text."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.document = document
        lines = (len(line) + 1 for line in document.split("\n"))
        self.line_starts = list(accumulate(lines, initial=0))
        self.starts = list[Start]()
        self.open = list[tuple[str, bool]]()  # (name, is its text translated) of open elements
        self.count = Counter[str]()  # how many elements of each name are open
        # an inline element that is not translated: its indices in `starts` and in `open`
        self.excluded: tuple[int, int] | None = None

    def position(self) -> int:
        """Return the parser's position as an offset into the document."""
        line, column = self.getpos()
        return self.line_starts[line - 1] + column

    def add(self, kind: Kind, name: str = "") -> None:
        """Record that a piece of this kind and tag name starts at the parser's position."""
        self.starts.append((self.position(), kind, name))

    def is_translated(self) -> bool:
        """Return whether text at the parser's position is to be translated."""
        return not self.open or self.open[-1][1]

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        """Record a start tag; first close the elements that it ends, such as <li> by <li>."""
        while self.open and tag in CLOSED_BY.get(self.open[-1][0], ()):
            self.close_element()
        if tag in VOID:
            self.add("empty" if tag in IN_SENTENCES else "boundary")
            return
        inherited = self.is_translated()
        translated = is_element_translated(tag, dict(attrs), inherited=inherited)
        if inherited and not translated and tag in IN_SENTENCES:
            self.excluded = len(self.starts), len(self.open)
        self.add("open" if tag in IN_SENTENCES else "boundary", tag)
        self.open.append((tag, translated))
        self.count[tag] += 1

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:  # noqa: ARG002 - the parser's
        """Record a self-closing tag, such as <br/>."""
        self.add("empty" if tag in IN_SENTENCES else "boundary")

    def handle_endtag(self, tag: str) -> None:
        """Record an end tag; close the innermost open element of its name, and all in it."""
        self.add("close" if tag in IN_SENTENCES else "boundary", tag)
        while self.count[tag]:
            name = self.open[-1][0]
            self.close_element()
            if name == tag:
                return

    def close_element(self) -> None:
        """Close the innermost element; merge it into one piece if inline and not translated.

        An element that contains a block element or translated text is not merged.
        """
        name, _ = self.open.pop()
        self.count[name] -= 1
        if self.excluded is not None and self.excluded[1] == len(self.open):
            first, self.excluded = self.excluded[0], None
            if all(kind not in ("text", "boundary") for _, kind, _ in self.starts[first:]):
                self.starts[first:] = [(self.starts[first][0], "empty", name)]

    def handle_data(self, data: str) -> None:  # noqa: ARG002 - the parser's signature
        """Record text; if it is not to be translated or starts like a tag, record it as markup."""
        if not self.is_translated():
            self.add("empty" if self.excluded is not None else "boundary")
        elif MARKUP_START.match(self.document, self.position()):
            self.add("boundary")
        else:
            self.add("text")

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        """Record a comment."""
        self.add("empty")

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002
        """Record a document type, a processing instruction, or a marked section, such as CDATA."""
        self.add("boundary")

    handle_pi = unknown_decl = handle_decl  # type: ignore[assignment] # other names of arguments

    def parse_marked_section(self, i: int, report: int = 1) -> int:  # noqa: ARG002
        """Parse <![…> at `i` as a comment, as HTML does; return its end, or -1 if it has none.

        The parsers of older Pythons may fail on it.
        """
        return self.parse_bogus_comment(i)


def is_element_translated(tag: str, attributes: dict[str, str | None], *, inherited: bool) -> bool:
    """Return whether an element's text is translated; `inherited` is the answer for its parent."""
    wish = attributes.get("translate", "inherit")
    if wish is None or wish.lower() in ("", "yes"):
        return tag not in UNTRANSLATED
    is_excluded = "notranslate" in (attributes.get("class") or "").split()
    return inherited and wish.lower() != "no" and tag not in UNTRANSLATED and not is_excluded
