"""The longest functions are what makes code hard to read; names say something."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
FILES = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
BANNED = {"utils", "util", "helpers", "helper", "common", "misc", "base", "core"}
SHORTENED = {"src", "tgt", "cfg", "mgr"}


def test_no_function_has_a_body_of_over_85_lines():
    """A command's signature, which declares its options, is a list and not counted."""
    functions = {
        f"{path.name}: {node.name}": (node.end_lineno or 0) - node.body[0].lineno + 1
        for path in FILES
        if (text := path.read_text(encoding="utf-8")).count("\n") > 85
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in functions.items() if length > 85} == {}


def test_no_file_or_folder_has_a_name_that_says_nothing():
    places = {part for path in FILES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert places & BANNED == set()


def test_names_are_written_out_but_for_fields_of_another_server():
    texts = (path.read_text(encoding="utf-8") for path in SOURCES)
    having = [text for text in texts if any(part in text.lower() for part in SHORTENED)]
    nodes = [node for text in having for node in ast.walk(ast.parse(text))]
    theirs = {
        id(field.target)
        for node in nodes
        if isinstance(node, ast.ClassDef) and node.name.startswith("OpenNmt")
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    }
    names = {one.id for one in nodes if isinstance(one, ast.Name) and id(one) not in theirs}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    assert {name for name in names if SHORTENED & set(name.lower().split("_"))} == set()
