"""The chapters of `paper/` in the paper's order: sections, passages, and their tests.

A passage is a row of the page: prose from a docstring or comment, and the code that it is about.
docs/internals/paper.md lists the facts and their tests.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from transduce.errors import FolderError

PACKAGE = Path(__file__).parents[2]
CHECKOUT = PACKAGE.parents[1]  # wrong if the package is installed elsewhere
PAPER = "docs/internals/paper.md"
IS_CHECKOUT = (CHECKOUT / PAPER).is_file()
CHAPTERS = ("training", "search", "model", "operations")  # their order for equal section numbers
HEADING = re.compile(r"# --- (.+?) -+")
NUMBER = re.compile(r"sections? (\d(?:\.\d)*)")
Definition = ast.FunctionDef | ast.ClassDef


@final
@dataclass(frozen=True)
class FactTest:
    """A test that checks a fact, with the path of its file, its name and its code."""

    file: str
    name: str
    code: str = ""  # empty without a checkout


@final
@dataclass(frozen=True)
class Fact:
    """A fact of the paper as docs/internals/paper.md states it, with the tests that check it."""

    text: str
    tests: tuple[FactTest, ...]


@final
@dataclass
class Passage:
    """Prose, the line numbers of its code, the definition's name or "", and its facts."""

    name: str = ""
    prose: str = ""
    lines: list[int] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


@final
@dataclass
class Section:
    """A section of a chapter; `order` has the numbers of the paper's section, such as (3, 2, 1)."""

    chapter: str
    title: str
    order: tuple[int, ...]
    number: str = ""  # as the heading states it
    is_opening: bool = False  # a chapter's docstring, imports, and legend of letters
    passages: list[Passage] = field(default_factory=list)

    @property
    def identifier(self) -> str:
        """The name of the section in links: the words of its title, joined by hyphens."""
        return "-".join(re.findall(r"\w+", self.title.lower()))


@final
class Chapter:
    """A file of `paper/`, with its lines and definitions, to be read as passages and sections."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = ["", *text.splitlines()]  # so that index 1 is line 1
        self.tree = ast.parse(text)
        self.definitions = {one.name: one for one in self.tree.body if isinstance(one, Definition)}
        for name, outer in list(self.definitions.items()):
            inner = [one for one in outer.body if isinstance(one, Definition)]
            self.definitions |= {f"{name}.{one.name}": one for one in inner}
        self.hidden = set[int]()  # lines of docstrings and comments, which are prose

    def find_passages(self) -> dict[int, Passage]:
        """Return passages without code, by first code line; add the lines of prose to `hidden`.

        A passage begins at each definition with a docstring, at each comment on lines of its own,
        and where other statements follow a definition.
        """
        begins, is_after_definition = dict[int, Passage](), True
        for node in self.tree.body:
            if is_after_definition and not isinstance(node, Definition):
                begins[node.lineno] = Passage()
            is_after_definition = isinstance(node, Definition)
        outer: list[tuple[str, ast.Module | Definition]] = [("", self.tree)]
        for name, one in [*outer, *self.definitions.items()]:
            text = ast.get_docstring(one)
            if text is not None:
                begins[first_line(one)] = Passage(name, text)
                self.hidden.update(range(one.body[0].lineno, (one.body[0].end_lineno or 0) + 1))
        comment = list[int]()
        for number, line in enumerate(self.lines):
            if line.lstrip().startswith("#") and not HEADING.match(line):
                comment.append(number)
            elif comment:
                text = "\n".join(self.lines[one].lstrip(" #") for one in comment)
                passage = begins.setdefault(number, Passage())
                passage.prose = "\n\n".join(filter(None, [text, passage.prose]))
                self.hidden.update(comment)
                comment.clear()
        return begins

    def read_sections(self) -> Iterator[Section]:
        """Yield the opening, then the sections, each with its passages and their code.

        No section has a lower `order` than the one before it.
        """
        begins = self.find_passages()
        about, _, begins[1].prose = begins[1].prose.partition("\n\n")
        number = NUMBER.search(about + begins[1].prose)
        assert number, self.name
        order = read_order(number[1])
        section = Section(self.name, about.split("    ")[0], order, number[1], is_opening=True)
        passage = Passage()
        for line, text in enumerate(self.lines):
            if heading := HEADING.match(text):
                yield section
                number = NUMBER.search(text)
                order = max(order, read_order(number[1] if number else ""))
                title = re.sub(r" ?\((?:sections? )?\d[^)]*\)", "", heading[1])
                is_own = number is not None and order == read_order(number[1])
                section = Section(self.name, title, order, number[1] if number and is_own else "")
            elif line in begins:
                passage = begins[line]
                section.passages.append(passage)
            if line not in self.hidden and not heading and (text or passage.lines):
                passage.lines.append(line)
        for passage in begins.values():
            while passage.lines and not self.lines[passage.lines[-1]]:
                passage.lines.pop()
        yield section


def first_line(node: ast.AST) -> int:
    """Return the number of a node's first line, decorators included; 1 for a module."""
    return min(
        [getattr(node, "lineno", 1), *(one.lineno for one in getattr(node, "decorator_list", []))]
    )


def read_order(section_number: str) -> tuple[int, ...]:
    """Return a section's number as integers to compare: (3, 2, 1) for "3.2.1"."""
    return tuple(int(part) for part in section_number.split(".") if part)


def read_paper(facts: Mapping[str, list[Fact]]) -> tuple[list[Section], dict[str, Chapter]]:
    """Read `paper/`; return its sections in the paper's order, with `facts`, and its chapters.

    Raises FolderError if a section has no fact and is not a chapter's opening.
    """
    chapters = {
        name: Chapter(name, (PACKAGE / "paper" / f"{name}.py").read_text(encoding="utf-8"))
        for name in CHAPTERS
    }
    sections = [one for chapter in chapters.values() for one in chapter.read_sections()]
    for section in sections:
        for passage in section.passages:
            for name, node in chapters[section.chapter].definitions.items():
                if first_line(node) in passage.lines:
                    passage.facts += facts.get(f"{section.chapter}.{name}", [])
        if not (section.is_opening or any(one.facts for one in section.passages)):
            fact = f"no test checks the section {section.title!r} of paper/{section.chapter}.py"
            raise FolderError(fact, "name one for a definition of this section", file=PAPER)
    return sorted(sections, key=lambda one: one.order), chapters


def read_facts() -> dict[str, list[Fact]]:
    """Return the facts about each definition of `paper/`, by a name such as "model.Residual".

    Raises FolderError if a test is missing.
    """
    page = CHECKOUT / PAPER if IS_CHECKOUT else PACKAGE / "view/edition/paper.md"
    facts, files = defaultdict[str, list[Fact]](list), list[str]()
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            files = []
        text, code, test = [*line.strip("| ").split(" | "), "", ""][:3]
        if not line.startswith("|"):
            files += re.findall(r"`(tests/[\w/]+\.py)`", line)
        elif codes := re.findall(r"`paper/(\w+)\.py:([\w.]+)`", code):
            named = re.findall(r"`(?:(tests/[\w/]+\.py):)?(test_\w+)`", test)
            tests = (read_test([file] if file else files, name) for file, name in named)
            fact = Fact(text, tuple(tests))
            for chapter, name in codes:
                facts[f"{chapter}.{name}"].append(fact)
    return facts


def read_test(files: list[str], name: str) -> FactTest:
    """Return a test, without code outside a checkout; raise FolderError if no file defines it."""
    if files and not IS_CHECKOUT:
        return FactTest(files[0], name)
    for file in files:
        text = (CHECKOUT / file).read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                lines = text.splitlines()[first_line(node) - 1 : node.end_lineno]
                return FactTest(file, name, "\n".join(lines))
    fact = f"{name} is in none of {', '.join(files) or 'its files'}"
    raise FolderError(fact, "name the test's file above the table", file=PAPER)
