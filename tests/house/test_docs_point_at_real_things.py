"""What the pages name is there: files, functions, tests, settings, recipes, pages."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from transduce.recipes import by_name, names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("architecture", "deviations", "formats", "paper")),
    *sorted((DOCS / "decisions").glob("*.md")),
]
SETTINGS = by_name("table3/base").flat()
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def named(page: Path, pattern: str) -> set[str]:
    """What stands between backticks and looks so."""
    return {
        word
        for word in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
        if re.fullmatch(pattern, word)
    }


@cache
def defined(file: Path) -> frozenset[str]:
    """Functions, classes and values of a file; what stands in a class as Class.name."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        for name in names_of(node):
            found.add(name)
            inner = node.body if isinstance(node, ast.ClassDef) else []
            found |= {f"{name}.{part}" for one in inner for part in names_of(one)}
    return frozenset(found)


def names_of(node: ast.stmt) -> list[str]:
    """What a statement gives a name to."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


def place_of(path: str) -> Path:
    """Tests are named from the root, the package's own files from the package."""
    return (ROOT if path.startswith("tests/") else ROOT / "src/transduce") / path


@each_page
def test_every_file_that_is_named_is_there(page):
    missing = [path for path in named(page, r"[\w/]+\.py") if not place_of(path).is_file()]
    assert missing == []


@each_page
def test_every_function_that_is_named_is_in_its_file(page):
    missing = []
    for word in named(page, r"[\w/]+\.py:[\w.]+"):
        path, name = word.split(":")
        if not place_of(path).is_file() or name not in defined(place_of(path)):
            missing.append(word)
    assert missing == []


@each_page
def test_every_test_that_is_named_is_there(page):
    known = {name for file in (ROOT / "tests").rglob("test_*.py") for name in defined(file)}
    assert named(page, r"test_\w+") - known == set()


@each_page
def test_every_setting_that_is_named_is_one(page):
    found = named(page, r"(architecture|data|training|search)\.(?!json)[a-z_0-9]+")
    assert found - set(SETTINGS) == set()


@each_page
def test_every_recipe_that_is_named_is_one(page):
    assert named(page, r"table\d/.+") - set(names()) == set()


@each_page
def test_every_page_of_ours_that_is_linked_is_there(page):
    links = re.findall(r"\]\(([^):#]+)\)", page.read_text(encoding="utf-8"))
    made_elsewhere = {"speed.md", "results.md", "commands.md", "../speed.md"}
    linked = set(links) - made_elsewhere
    assert [link for link in linked if not (page.parent / link).exists()] == []


def test_the_pages_name_enough_for_these_tests_to_mean_something():
    functions = {word for page in PAGES for word in named(page, r"[\w/]+\.py:[\w.]+")}
    tests = {word for page in PAGES for word in named(page, r"test_\w+")}
    assert len(functions) > 100
    assert len(tests) > 50
