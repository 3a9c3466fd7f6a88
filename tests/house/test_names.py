"""Names of code are the field's words: retired ones do not come back as identifiers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks")
# Each stood for several things, or for one that the field calls otherwise (see the glossary).
WORDS = """
told seen laid drawn shown begun said heard looked look among around alone beside even over
late company trainee audience sight way growth wishes watched place places keeper room rooms
house floor crew meeting fate
"""
RETIRED = frozenset(WORDS.split())
# In the phrasebook a place is one where people are, and they meet there.
LOCATIONS = frozenset({"AT_PLACE", "TO_PLACE", "PLACES", "places", "place", "place_of", "MEETING"})
# Figures that grow with the length of a sentence (Table 1).
OF_LENGTH = frozenset({"describe_time_growth", "tabulate_growth"})


def names(tree: ast.AST) -> Iterator[str]:
    """Yield what a file defines: functions, classes, arguments, values of modules and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.arg):
            yield node.arg
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from assigned(node.body)


def assigned(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements assign to."""
    for statement in body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign | ast.AugAssign):
            targets = [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def words(name: str) -> set[str]:
    """Return the words of an identifier: snake_case and CamelCase are taken apart."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def retired_names(path: Path) -> list[str]:
    """Return the identifiers of a file that hold a retired word; names of tests are sentences."""
    found = set(names(ast.parse(path.read_text(encoding="utf-8"))))
    tests = {name for name in found if name.startswith("test_")}
    allowed = LOCATIONS if "phrasebook" in path.parts else OF_LENGTH
    return sorted(name for name in found - tests - allowed if words(name) & RETIRED)


def test_no_identifier_is_made_of_a_retired_word():
    every = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    files = [path for path in every if ".venv" not in path.parts]  # the benchmarks' peers
    found = {str(path.relative_to(ROOT)): retired_names(path) for path in files}
    assert {path: named for path, named in found.items() if named} == {}


def test_words_are_found_inside_of_identifiers():
    assert words("place_of") & RETIRED
    assert words("InnerPlace") & RETIRED
    assert words("PLACES") & RETIRED
    assert not words("replaced_overlap") & RETIRED


def test_no_module_hides_a_function_of_its_package():
    """Importing `package.name` would put the module in place of the function `package.name`."""
    hidden = []
    for package in sorted((ROOT / "src/transduce").rglob("__init__.py")):
        tree = ast.parse(package.read_text(encoding="utf-8"))
        imported = {
            alias.asname or alias.name: node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        here = ".".join(package.parent.relative_to(ROOT / "src").parts)
        modules = {path.stem for path in package.parent.iterdir()}
        hidden += [f"{here}.{name}" for name in modules & set(imported) if imported[name] != here]
    assert hidden == []
