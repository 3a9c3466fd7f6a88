"""What the pages name exists: files, functions, tests, settings, recipes, commands, pages."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from transduce.recipes import by_name, names

ROOT = Path(__file__).parents[2]
TOP = [path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") if path.is_file()]
PAGES = [*TOP, *sorted((ROOT / "docs").rglob("*.md"))]
# The log keeps the names of its day; what its links point at must exist all the same.
NAMING = [page for page in PAGES if page.name != "log.md"]
SETTINGS = by_name("table3/base").flat_settings()


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


each_page = pytest.mark.parametrize("page", PAGES, ids=page_id)
each_naming_page = pytest.mark.parametrize("page", NAMING, ids=page_id)


def quoted(page: Path, pattern: str) -> set[str]:
    """Return what stands between backticks on a page and matches a pattern."""
    return {
        word
        for word in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
        if re.fullmatch(pattern, word)
    }


@cache
def defined(file: Path) -> frozenset[str]:
    """Return the functions, classes and values of a file; members of a class as Class.name."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        for name in names_of(node):
            found.add(name)
            inner = node.body if isinstance(node, ast.ClassDef) else []
            found |= {f"{name}.{part}" for one in inner for part in names_of(one)}
    return frozenset(found)


def names_of(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


def resolve(path: str) -> Path:
    """Return the file of a path; paths of tests, tools and benchmarks begin at the root."""
    at_root = path.startswith(("tests/", "tools/", "benchmarks/", "src/"))
    return (ROOT if at_root else ROOT / "src/transduce") / path


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in headings}


@each_naming_page
def test_every_file_that_is_named_is_there(page):
    missing = [path for path in quoted(page, r"[\w/]+/\w+\.py") if not resolve(path).is_file()]
    assert missing == []


@each_naming_page
def test_every_function_that_is_named_is_in_its_file(page):
    missing = []
    for word in quoted(page, r"[\w/]+\.py:[\w.]+"):
        path, name = word.split(":")
        if not resolve(path).is_file() or name not in defined(resolve(path)):
            missing.append(word)
    assert missing == []


@each_naming_page
def test_every_test_that_is_named_is_there(page):
    known = {name for file in (ROOT / "tests").rglob("test_*.py") for name in defined(file)}
    fields = {"test_set"}  # of a score
    assert quoted(page, r"test_\w+") - known - fields == set()


@each_naming_page
def test_every_setting_that_is_named_is_one(page):
    text = page.read_text(encoding="utf-8")
    found = quoted(page, r"(architecture|data|training|search)\.(?!js|py)[a-z_0-9]+")
    found |= set(re.findall(r"--set ((?:architecture|data|training|search)\.\w+)", text))
    assert found - set(SETTINGS) == set()


@each_naming_page
def test_every_recipe_that_is_named_is_one(page):
    assert quoted(page, r"table\d/.+") - set(names()) == set()


@each_page
def test_every_page_that_is_linked_is_there_with_its_heading(page):
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_index_links_every_page():
    index = ROOT / "docs/README.md"
    links = re.findall(r"\]\(([^)#\s]+)\)", index.read_text(encoding="utf-8"))
    linked = {(index.parent / link).resolve() for link in links}
    parts = {ROOT / "docs" / name for name in ("guide", "reference", "internals")}
    single = [page for page in PAGES if page.parent in parts]
    assert [page_id(page) for page in single if page.resolve() not in linked] == []


def test_the_pages_name_enough_for_these_tests_to_mean_something():
    functions = {word for page in NAMING for word in quoted(page, r"[\w/]+\.py:[\w.]+")}
    tests = {word for page in NAMING for word in quoted(page, r"test_\w+")}
    assert len(functions) > 100
    assert len(tests) > 50
