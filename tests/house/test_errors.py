"""Every kind of error that the code raises is caught by name in a test."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
KINDS = {
    node.name
    for node in ast.parse((ROOT / "src/transduce/errors.py").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
}


def nodes(folder: str) -> Iterator[ast.AST]:
    for path in (ROOT / folder).rglob("*.py"):
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def raised() -> set[str]:
    """Kinds that stand in a `raise` of the package."""
    calls = [n.exc for n in nodes("src") if isinstance(n, ast.Raise) and n.exc]
    return {name.id for call in calls for name in ast.walk(call) if isinstance(name, ast.Name)}


def caught() -> set[str]:
    """Kinds that stand in a `pytest.raises` of a test."""
    calls = [
        node
        for node in nodes("tests")
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "raises"
    ]
    arguments = [argument for call in calls for argument in call.args]
    return {n.id for a in arguments for n in ast.walk(a) if isinstance(n, ast.Name)}


def test_every_kind_of_error_that_is_raised_is_caught_in_a_test():
    assert (raised() & KINDS) - caught() == set()
