"""One file uses the network, for `transduce.fetch` and its command only, and two listen."""

import ast
import functools
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src/transduce"
NETWORK_MODULES = {
    "urllib.request",
    "http.client",
    "requests",
    "urllib3",
    "httpx",
    "ftplib",
    "smtplib",
}
TRANSFER = "transduce.datasets.transfer"


@functools.cache
def imported(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, and the names it imports from them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{name.name}" for name in node.names)}
    return frozenset(found)


def test_one_file_of_the_package_speaks_http():
    importing = [path for path in PACKAGE.rglob("*.py") if imported(path) & NETWORK_MODULES]
    assert [str(path.relative_to(PACKAGE)) for path in importing] == ["datasets/transfer.py"]


def test_it_is_asked_for_by_fetch_alone():
    asking = [
        path for path in PACKAGE.rglob("*.py") if f"{TRANSFER}.NetworkSettings" in imported(path)
    ]
    names = {str(path.relative_to(PACKAGE)) for path in asking}
    assert names == {"cli/fetch.py", "runs/fetch.py", "datasets/downloads.py"}


def test_one_page_and_one_package_listen_and_at_first_only_on_this_machine():
    listening = {"http.server", "socketserver", "asyncio", "wsgiref", "uvicorn"}
    files = [path for path in PACKAGE.rglob("*.py") if imported(path) & listening]
    names = {str(path.relative_to(PACKAGE)) for path in files}
    assert {name for name in names if not name.startswith("serve/")} == {
        "view/curves/server.py",
        "cli/serve.py",
    }
    page, settings = PACKAGE / "view/curves/server.py", PACKAGE / "serve/guard.py"
    assert 'ADDRESS = "127.0.0.1"' in page.read_text(encoding="utf-8")
    assert 'host: str = "127.0.0.1"' in settings.read_text(encoding="utf-8")
