"""What answers at once must not load what it does not need."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import transduce

HEAVY = {"torch", "numpy", "tokenizers", "sacrebleu", "rich", "safetensors"}
GOLDEN = Path(__file__).parents[1] / "golden/format-1"
PROBE = """
import sys
from transduce.cli.main import transduce
from transduce.cli.outcome import run
code = run(transduce, sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["recipes"],
        ["recipes", "show", "table3/base"],
        ["recipes", "diff", "table3/base", "table3/big"],
        ["score", "--help"],
        ["verify", "--help"],
    ],
    ids=" ".join,
)
def test_it_answers_without_heavy_libraries(arguments):
    ended = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True
    )
    assert "transduce.cli.main" in ended.stderr.split()
    assert HEAVY & set(ended.stderr.split()) == set()


@pytest.mark.parametrize("folder", ["run", "byte-pair", "parsing-words"])
def test_a_folder_is_verified_without_torch(folder):
    probe = [sys.executable, "-c", PROBE, "verify", GOLDEN / folder]
    ended = subprocess.run(probe, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith(f"good  {GOLDEN / folder}")
    assert "transduce.runs.verify" in ended.stderr.split()
    assert "torch" not in ended.stderr.split()


def test_a_text_is_prepared_by_a_named_recipe_without_torch(tmp_path):
    text = ["--set", "data.max_pairs=40", "-o", tmp_path / "store"]
    probe = [sys.executable, "-c", PROBE, "prepare", "toy-copy", *text]
    ended = subprocess.run(probe, capture_output=True, text=True, check=True)
    assert "train: 40 pairs read" in ended.stderr
    assert "torch" not in ended.stderr.split()


def test_the_package_knows_its_version():
    assert transduce.__version__ == version("transduce")
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = transduce.other


def test_importing_the_package_loads_no_torch():
    probe = "import sys, transduce; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_the_package_is_imported_in_a_tenth_of_a_second():
    probe = "import time; t = time.perf_counter(); import transduce; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", probe]
    seconds = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(seconds) < 0.1


def test_every_public_name_is_there_and_listed():
    assert set(dir(transduce)) == set(transduce.__all__)
    for name in transduce.__all__:
        assert getattr(transduce, name) is not None
    assert transduce.recipes.by_name("table3/base").architecture.layers == 6
