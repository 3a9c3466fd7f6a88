"""Names that would hide others."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
