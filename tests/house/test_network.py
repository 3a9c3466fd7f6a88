"""One file speaks to the network, and one command uses it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src/transduce"
SPEAKING = {"urllib.request", "http.client", "requests", "urllib3", "httpx", "ftplib", "smtplib"}
TRANSFER = "transduce.datasets.transfer"


def imported(path: Path) -> set[str]:
    """Modules, and what is taken from them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def test_one_file_of_the_package_speaks_http():
    speaking = [path for path in PACKAGE.rglob("*.py") if imported(path) & SPEAKING]
    assert [str(path.relative_to(PACKAGE)) for path in speaking] == ["datasets/transfer.py"]


def test_it_is_asked_for_by_fetch_alone():
    asking = [path for path in PACKAGE.rglob("*.py") if f"{TRANSFER}.Network" in imported(path)]
    names = {str(path.relative_to(PACKAGE)) for path in asking}
    assert names == {"cli/fetch.py", "datasets/downloads.py"}
