"""Bergamot's WebAssembly, in Node.js, translates exported models as these models do."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.exports.random_members import save_member, shapes
from tests.external.environments import make_environment
from tests.external.test_exports import MORE_LINES, SCRIPT, SOURCES, list_ended, text_member

pytestmark = pytest.mark.external
PACKAGE = "@browsermt/bergamot-translator@0.4.9"
SHAPES = ("post-norm", "tied target", "untied", "deep encoder", "imported")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """What an export of each shape said, by shape."""
    if not shutil.which("npm"):
        pytest.skip("npm, which installs Bergamot, is not here")
    folder = tmp_path_factory.mktemp("bergamot")
    python = make_environment(folder / "env", ("sentencepiece",))
    subprocess.run(["npm", "install", "--silent", PACKAGE], cwd=folder, check=True)
    models = {}
    for name in SHAPES:
        path = folder / name.replace(" ", "-")
        sizes = replace(shapes()[name], d_model=64, d_ff=128, heads=4, d_k=16, d_v=16)
        member = text_member(replace(sizes, positions="tensor2tensor"))
        lines = list(list_ended(member, filter(str.isascii, MORE_LINES)))[:16]
        Path(f"{path}.lines").write_text("\n".join(lines), encoding="utf-8")
        models[str(save_member(member, path))] = name
    ended = subprocess.run(
        [python, SCRIPT, "bergamot", "", *models],
        env={"PYTHONPATH": str(SOURCES), "PATH": os.environ["PATH"], "HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    return {models.get(model, model): one for model, one in found.items()}


@pytest.mark.parametrize("name", SHAPES)
def test_its_greedy_outputs_are_those_of_the_model(exported, name):
    (greedy,) = exported[name]["proof"]["comparisons"]
    assert greedy["equal"] == greedy["lines"] > 0


def test_it_runs_weights_in_8_bits(exported):
    (greedy,) = exported["int8"]["proof"]["comparisons"]
    assert greedy["equal"] >= 0.5 * greedy["lines"] > 2
