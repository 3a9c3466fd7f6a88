"""Every kind of error that the code raises is caught by name in a test."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from transduce.errors import InputError

ROOT = Path(__file__).parents[2]
KINDS = {
    node.name
    for node in ast.parse((ROOT / "src/transduce/errors.py").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
}


def nodes(folder: str, word: str) -> Iterator[ast.AST]:
    """Yield the parts of all files in which a word stands."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py"))
    for text in texts:
        if word in text:
            yield from ast.walk(ast.parse(text))


def raised() -> set[str]:
    """Kinds that stand in a `raise` of the package."""
    calls = [n.exc for n in nodes("src", "raise ") if isinstance(n, ast.Raise) and n.exc]
    return {name.id for call in calls for name in ast.walk(call) if isinstance(name, ast.Name)}


def caught() -> set[str]:
    """Kinds that stand in a `pytest.raises` of a test."""
    calls = [
        node
        for node in nodes("tests", ".raises(")
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "raises"
    ]
    arguments = [argument for call in calls for argument in call.args]
    return {n.id for a in arguments for n in ast.walk(a) if isinstance(n, ast.Name)}


def test_every_kind_of_error_that_is_raised_is_caught_in_a_test():
    assert (raised() & KINDS) - caught() == set()


@pytest.mark.parametrize(
    ("hint", "in_python"),
    [
        ("--set training.steps=20 or --no-dev", 'settings={"training.steps": 20} or dev=False'),
        ("--set data.shared_vocabulary=false", 'settings={"data.shared_vocabulary": False}'),
        ("--set data.vocabulary=byte-pair", 'settings={"data.vocabulary": "byte-pair"}'),
        ("--source FILE --target FILE, or --pairs FILE", "train=(FILE, FILE), or train=FILE"),
        ("--dev-source FILE --dev-target FILE", "dev=(FILE, FILE)"),
        ("--languages en-de", 'languages=("en", "de")'),
        ("--columns 1,3, or --penalty gnmt", 'columns=(1, 3), or penalty="gnmt"'),
        ("a smaller --scale, --scale laptop", 'a smaller scale, scale="laptop"'),
        ("--from MODEL; fewer --workers", "parent=MODEL; fewer workers"),
        ("without --last, --last 2; --metric bleu", 'without last, last=2; metrics=["bleu"]'),
        ("-o curves.html", 'output="curves.html"'),
        ("`transduce align M --choose GOLD`, --force", "`transduce align M --choose GOLD`, force"),
    ],
)
def test_python_shows_arguments_where_the_command_line_has_options(hint, in_python):
    error = InputError("--fact", hint)
    assert str(error) == f"--fact\nhint: {in_python}"
    assert (error.fact, error.hint) == ("--fact", hint)
