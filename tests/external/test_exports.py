"""The programs that models are exported to, each in its own environment, load and prove them."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.exports.random_members import random_member, save_member, shapes
from tests.external.environments import make_environment

pytestmark = pytest.mark.external
SOURCES = Path(__file__).parents[2] / "src"
SCRIPT = Path(__file__).with_name("export_models.py")
LINES = ["the dog sees a cat.", "a woman runs", "who runs now", "der Hund läuft über </s> ▁x"]
ENGINES = {
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("transformers",),
    "argos": ("argostranslate",),
    "onnx": ("onnx", "onnxruntime"),
}
SUFFIXES = {"argos": ".argosmodel"}
REFUSED = {"huggingface": ("pre-norm", "wide heads", "learned"), "argos": ("learned",)}
IN_8_BITS = ("ctranslate2", "argos")


@pytest.fixture(scope="module", params=ENGINES)
def exported(request, tmp_path_factory):
    """The name of a target, and what an export of every shape to it said, by shape."""
    target, folder = request.param, tmp_path_factory.mktemp(request.param)
    python = make_environment(folder / "env", ENGINES[target])
    (folder / "lines").write_text("\n".join(LINES * 4), encoding="utf-8")
    models = {
        str(save_member(random_member(sizes), folder / name.replace(" ", "-"))): name
        for name, sizes in shapes().items()
    }
    ended = subprocess.run(
        [python, SCRIPT, target, SUFFIXES.get(target, ""), folder / "lines", *models],
        env={"PYTHONPATH": str(SOURCES), "PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])  # some programs print lines of their own
    return target, {models.get(model, model): one for model, one in found.items()}


@pytest.mark.parametrize("name", shapes())
def test_the_program_translates_as_the_model_does(exported, name):
    target, found = exported
    if name in REFUSED.get(target, ()):
        assert found[name]["refused"]  # tests/exports shows why
        return
    greedy, wider = found[name]["proof"]["comparisons"]
    if target == "argos":  # random outputs are often empty or no text, which Argos never writes
        assert greedy["equal"] > 0
        return
    assert greedy["equal"] == greedy["lines"] > 0
    assert wider["equal"] >= 0.5 * wider["lines"]  # a random model's searches end by other rules
    assert max(one["largest_difference"] for one in (greedy, wider)) < 3e-4


def test_the_program_runs_weights_in_8_bits(exported):
    target, found = exported
    if target in IN_8_BITS:
        assert found["int8"]["proof"]["comparisons"]
    else:
        assert "precision must be float32" in found["int8"]["refused"]
