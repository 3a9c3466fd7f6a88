"""`transduce.read`: the paper's code as an annotated edition, one HTML file.

Prose stands at the left and code at the right, with its tests below. A click on a statement shows
the values that it gave in a tiny model. Equal sources give equal bytes.
"""

import base64
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import final

from transduce.durable.files import write_atomically
from transduce.durable.folder import resolve_output
from transduce.settings.fields import require
from transduce.text.arguments import read_path
from transduce.view.drawings.architecture import draw_attention, draw_model
from transduce.view.drawings.formulas import draw_positions
from transduce.view.edition.chapters import (
    Chapter,
    Fact,
    FactTest,
    Passage,
    Section,
    read_facts,
    read_paper,
)
from transduce.view.edition.tracer import PAIRS, SIZES, Tracer, run_tiny_model
from transduce.view.edition.typeset import render_code, render_line, render_prose
from transduce.view.page.document import build_page, list_parts, read_texts, texts_block

PARTS = list_parts("edition", ["edition"])
LINK = re.compile(r'<a href="#([^"]+)" tabindex="-1">(.*?)</a>')
TITLE = "Attention Is All You Need, line by line"
DRAWINGS: Mapping[str, tuple[Callable[[], str], str]] = {  # by the heading above the drawing
    "The model": (draw_model, "Figure 1: the encoder at the left, the decoder at the right"),
    "Attention and who may attend to whom": (draw_attention, "Figure 2: attention, heads"),
    "Positional encoding": (draw_positions, "Sines and cosines of the first 100 positions"),
}


def read(output: Path | str, *, language: str = "") -> Path:
    """Write the paper's code with its tests and values as an HTML page; return the page's path.

        page = transduce.read("edition.html")

    The page's own words are in `language`, "en" or "de", by default in the language of the reader's
    browser; the prose is English. In a checkout, raises FolderError if a test that
    docs/internals/paper.md names is missing.
    """
    known = ("en", *read_texts("edition"))
    fact = f"the page has no language {language!r}"
    require(language in ("", *known), fact, f"known: {', '.join(known)}")
    read_path("output", output)  # as a Path it would lose a final slash, which is refused
    path = resolve_output(output)
    write_atomically(path, build_edition(language).encode())
    return path


def build_edition(language: str = "") -> str:
    """Train the tiny model, and return the annotated edition as an HTML page."""
    sections, chapters = read_paper(read_facts())
    tracer, outputs = run_tiny_model(chapters)
    book = Book(chapters, tracer)
    entries, text = map(book.render_entry, sections), map(book.render_section, sections)
    main = render_tiny_model(outputs) + "".join(text)
    body = f"<nav><ol>{''.join(entries)}</ol></nav><main>{main}</main>"
    texts = {code: one for code, one in read_texts("edition").items() if language in ("", code)}
    return build_page(TITLE, PARTS, [texts_block(texts, language)], language, body=body)


def render_tiny_model(outputs: Sequence[str]) -> str:
    """Return the tiny model's sizes, and its sentences with their translations, as HTML."""
    sizes = ("layers", "d_model", "d_ff", "heads", "d_k", "d_v")
    cells = "".join(f"<li>{render_line(name)} = {getattr(SIZES, name)}</li>" for name in sizes)
    rows = "".join(f"<li>{a} <b>{b}</b></li>" for (a, _), b in zip(PAIRS, outputs, strict=True))
    return f'<section id="tiny"><ul>{cells}</ul><ul>{rows}</ul></section>'


def render_test(test: FactTest, code: Sequence[str]) -> str:
    """Return a test as HTML: its name as a sentence, its file, and its lines of `code`, folded."""
    words = test.name.removeprefix("test_").replace("_", " ")
    sentence = f"<b>✓</b> {render_line(re.sub('d (?=(?:k|v|model|ff)( |$))', 'd_', words))}"
    file = f"<code>{test.file}</code>"
    if not test.code:
        return f"<p>{sentence} {file}</p>"
    lines = "".join(f"<span>{line}</span>" for line in code)
    return f"<details><summary>{sentence}</summary><div><pre>{lines}</pre>{file}</div></details>"


@final
class Book:
    """A renderer of sections as HTML, with the values that a tracer recorded."""

    def __init__(self, chapters: Mapping[str, Chapter], tracer: Tracer) -> None:
        self.links = {
            name: f"{one.name}.{name}"
            for one in chapters.values()
            for name in one.definitions
            if "." not in name
        }
        self.code = {
            name: render_code("\n".join(one.lines), self.links) for name, one in chapters.items()
        }
        self.tracer = tracer

    def render_entry(self, section: Section) -> str:
        """Return a section's line of the table of contents as HTML, with its definitions below."""
        inner = ""
        for name in (one.name for one in section.passages if one.name):
            text = re.sub(".*[.]", " .", name).replace("_", "_<wbr>")
            inner += f'<li><a href="#{section.chapter}.{name}">{text}</a></li>'
        short = re.split(", |: ", section.title)[0]
        title = f"<span>{section.number}</span> {html.escape(short)}"
        below = f"<ol>{inner}</ol>" if inner else ""
        return f'<li><a href="#{section.identifier}">{title}</a>{below}</li>'

    def render_section(self, section: Section) -> str:
        """Return a section as HTML: its heading, its drawing if it has one, and its passages."""
        title = f"<span>{section.number}</span> {html.escape(section.title)}"
        level = "h2" if section.is_opening else "h3"
        heading = f"<{level}>{title} <small>paper/{section.chapter}.py</small></{level}>"
        if section.title in DRAWINGS:
            draw, about = DRAWINGS[section.title]
            content = base64.b64encode(draw().encode()).decode()
            image = f'<img alt="{about}" loading="lazy" src="data:image/svg+xml;base64,{content}">'
            heading += f"<figure>{image}</figure>"
        rows = "".join(self.render_passage(section.chapter, one) for one in section.passages)
        return f'<section id="{section.identifier}">{heading}{rows}</section>'

    def render_passage(self, chapter: str, passage: Passage) -> str:
        """Return a row as HTML: prose at the left, code and its tests at the right."""
        named = f' id="{chapter}.{passage.name}"' if passage.name else ""
        title = f"<h4>{passage.name}</h4>" if passage.name else ""
        code = "".join(self.render_statements(chapter, passage.lines))
        facts = "".join(map(self.render_fact, passage.facts))
        tests = f'<div class="tests">{facts}</div>' if facts else ""
        if "import" in self.code[chapter][min(passage.lines, default=0)]:
            code = f"<details><summary><span>import …</span></summary>{code}</details>"
        right = f'<div><div class="code">{code}</div>{tests}</div>' if code else ""
        return (
            f'<div class="row"{named}><div>{title}{render_prose(passage.prose)}</div>{right}</div>'
        )

    def render_statements(self, chapter: str, numbers: Sequence[int]) -> Iterator[str]:
        """Yield the HTML of the statements in these lines; a click on one shows its values."""
        statements, recorded = self.tracer.statements[chapter], self.tracer.values[chapter]
        code = self.code[chapter]
        for key, lines in groupby(
            numbers, lambda line: statements.get(line, ((line, line), None))[0]
        ):
            text = "".join(f"<span data-n={line}>{code[line]}</span>" for line in lines)
            values = recorded.get(key)
            if values is None or key[0] not in numbers:
                yield text
                continue
            call = f" <i>call {values.call}</i>" if values.call > 1 else ""
            rows = "".join(
                f"<div><dt>{html.escape(name)}{call}</dt><dd>{html.escape(value)}</dd></div>"
                for name, value in values.named.items()
            )
            plain = LINK.sub(r"<b data-to=\1>\2</b>", text)  # a summary can hold no link
            yield f"<details><summary>{plain}</summary><dl>{rows}</dl></details>"

    def render_fact(self, fact: Fact) -> str:
        """Return a fact from the paper as HTML, followed by the tests that check it."""
        tests = (render_test(one, render_code(one.code, self.links)) for one in fact.tests)
        return f"<p>{render_line(fact.text)}</p>{''.join(tests)}"
