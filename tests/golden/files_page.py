"""Make docs/internals/files.md: every Python file of the package with its first docstring line."""

import ast
from itertools import groupby
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "transduce"
ABOUT = """Every Python file of `src/transduce/` with the first line of its docstring. Made by
`scripts/renew-golden pages`; do not edit. [Architecture](architecture.md) says how they belong
together and where to change what.
"""


def files_page() -> str:
    """Return the whole page: a section for each folder, a line for each file."""
    files = sorted(
        (path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")), key=lambda p: (p.parent, p)
    )
    parts = ["# Files\n", ABOUT]
    for folder, some in groupby(files, key=lambda path: path.parent):
        title = "transduce" if folder == Path() else folder.as_posix()
        lines = [f"- `{path.name}`: {read_first_line(SOURCE / path)}" for path in some]
        parts.append("\n".join([f"## {title}/", "", *lines, ""]))
    return "\n".join(parts)


def read_first_line(file: Path) -> str:
    """Return the first line of a file's docstring, without its full stop."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").split("\n")[0].rstrip(".")
