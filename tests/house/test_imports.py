"""What a translation draws in, and that no module leads back to itself."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
MODEL = ROOT / "tests/golden/format-1/byte-pair"
AROUND = {"cli", "corpus", "datasets", "exports", "phrasebook", "recipes", "reproduce", "runs"}
AROUND |= {"scores", "serve", "training", "view"}
DRAWN = {  # a notebook draws a tree, a model's card a figure
    ("transduce.text.trees.tree", "transduce.view.drawings.trees"),
    ("transduce.checkpoint.stored_model", "transduce.view.drawings.architecture"),
}


def list_modules():
    """The file of each module of the package but the root, whose names are those of others."""
    found = {}
    for file in sorted(SOURCES.rglob("*.py")):
        parts = file.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return {name: file for name, file in found.items() if "." in name}


def list_imports(file, modules):
    """All modules that a file imports, also in functions and for types only."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{one.name}" for one in node.names]
            yield from (name for name in full if name in modules)
            if node.module in modules and not all(name in modules for name in full):
                yield node.module


def find_circle(graph):
    """The modules that import one another in a circle, or that such modules alone import."""
    while leaves := {name for name, targets in graph.items() if not targets}:
        graph = {name: t - leaves for name, t in graph.items() if name not in leaves}
    while tops := graph.keys() - set().union(*graph.values()):
        graph = {name: targets for name, targets in graph.items() if name not in tops}
    return graph


def test_no_module_imports_itself_over_others():
    modules = list_modules()
    graph = {
        name: {one for one in list_imports(file, modules) if (name, one) not in DRAWN} - {name}
        for name, file in modules.items()
    }
    assert find_circle(graph) == {}
    assert find_circle(graph | {"transduce.errors": {"transduce.inference.load"}})


def test_a_translation_draws_in_eighty_files_and_none_of_the_rooms_around_it():
    code = "import sys, transduce; transduce.load(sys.argv[1])(['a b']); print(*sys.modules)"
    command = [sys.executable, "-c", code, str(MODEL)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    ours = [name.split(".") for name in found if name.partition(".")[0] == "transduce"]
    assert not {part for _, part, *_ in [one for one in ours if one[1:]]} & AROUND
    assert len(ours) <= 80
