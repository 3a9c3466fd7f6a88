"""The programs that models are exported to, each in its own environment, load and prove them."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.exports.random_members import random_member, save_member, shapes
from tests.external.environments import make_environment

pytestmark = pytest.mark.external
SOURCES = Path(__file__).parents[2] / "src"
LINES = ["the dog sees a cat.", "a woman runs", "who runs now", "der Hund läuft über </s> ▁x"]
ENGINES = {
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("transformers",),
    "argos": ("argostranslate",),
    "onnx": ("onnx", "onnxruntime"),
}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request, tmp_path_factory):
    """The name of a target, and an interpreter that has its program."""
    folder = tmp_path_factory.mktemp("env")
    return request.param, make_environment(folder, ENGINES[request.param])


def export(python, *arguments):
    ended = subprocess.run(
        [python, "-m", "transduce", "export", *map(str, arguments), "--json"],
        env={"PYTHONPATH": str(SOURCES), "PATH": "", "HOME": str(Path(arguments[0]).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


SUFFIXES = {"argos": ".argosmodel"}
REFUSED = {"huggingface": ("pre-norm", "wide heads", "learned")}


@pytest.mark.parametrize("name", shapes())
def test_the_program_translates_as_the_model_does(engine, tmp_path, name):
    target, python = engine
    if name in REFUSED.get(target, ()):
        pytest.skip(f"skipped: {target} cannot compute it, which tests/exports shows")
    model = save_member(random_member(shapes()[name]), tmp_path / "model")
    lines = tmp_path / "lines"
    lines.write_text("\n".join(LINES * 4), encoding="utf-8")
    out = tmp_path / f"out{SUFFIXES.get(target, '')}"
    found = export(python, model, "--to", target, "-o", out, "--prove", lines)
    greedy, wider = found["proof"]["comparisons"]
    assert greedy["equal"] == greedy["lines"] > 0
    assert wider["equal"] >= 0.5 * wider["lines"]  # a random model's searches end by other rules
    if target != "argos":  # which gives no log P
        assert max(one["largest_difference"] for one in (greedy, wider)) < 3e-4


def test_the_program_runs_weights_in_8_bits(engine, tmp_path):
    target, python = engine
    if target != "ctranslate2":
        pytest.skip("skipped: float32 only")
    model = save_member(random_member(), tmp_path / "model")
    found = export(python, model, "--to", target, "-o", tmp_path / "out", "--precision", "int8")
    assert found["proof"]["comparisons"]
