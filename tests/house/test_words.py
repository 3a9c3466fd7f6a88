"""What must not stand in the code."""

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
UNSAFE = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib"}


def tracked() -> list[Path]:
    """Every text file that people and machines read here."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def imported(tree: ast.AST) -> set[str]:
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in names | froms}


def found(word: str, paths: list[Path]) -> list[str]:
    pattern = re.compile(word.encode())
    return [str(p.relative_to(ROOT)) for p in paths if pattern.search(p.read_bytes())]


def test_nothing_is_ever_unpickled():
    named = [ROOT / name for name in found("|".join(UNSAFE), SOURCES)]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in named}
    assert [path for path, tree in trees.items() if imported(tree) & UNSAFE] == []
    assert found(r"(?<!safetensors\.)torch\.(load|save)\b", SOURCES) == []


def calls(path: Path) -> set[str]:
    """The names of all that a file calls: code, not the examples in its docstrings."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}


def test_nothing_is_printed_below_the_command_line():
    below = [path for path in SOURCES if "cli" not in path.parts]
    printing = {"print", "sys.stdout.write", "sys.stderr.write"}
    named = [ROOT / name for name in found(r"print\b|\.write\b", below)]
    assert [path for path in named if calls(path) & printing] == []
    assert found(r"\bclick\.echo|import click", below) == []


def test_no_file_but_one_knows_what_lies_beside_the_checkout():
    beside = "shared" + "/|/" + "work/"
    allowed = {"tests/conftest.py", "tests/house/test_words.py"}
    named = found(rf"\.\./({beside})", tracked())
    assert set(named) - allowed == set()
