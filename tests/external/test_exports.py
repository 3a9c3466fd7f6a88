"""The programs that models are exported to, each in its own environment, load and prove them."""

import json
import shutil
import string
import subprocess
from itertools import cycle, permutations
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.exports.random_members import random_member, save_member, shapes
from tests.external.environments import make_environment

from transduce.exports.proof import encode_source, translate
from transduce.vocabulary import END

pytestmark = pytest.mark.external
SOURCES = Path(__file__).parents[2] / "src"
SCRIPT = Path(__file__).with_name("export_models.py")
LINES = ["the dog sees a cat.", "a woman runs", "who runs now", "der Hund läuft über </s> ▁x"] * 4
WORDS = [
    "the",
    "dog",
    "sees",
    "a",
    "cat.",
    "woman",
    "runs",
    "who",
    "now",
    "der",
    "Hund",
    "läuft",
    "über",
    "</s>",
    "▁x",
]
MORE_LINES = [" ".join(some) for some in permutations(WORDS, 2)]
ENGINES = {
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("transformers",),
    "argos": ("argostranslate",),
    "onnx": ("onnx", "onnxruntime"),
}
SUFFIXES = {"argos": ".argosmodel"}
IMPORTED, TWO = Path(__file__).parents[1] / "golden/imported-1/imported", "two vocabularies"
REFUSED = {"huggingface": ("pre-norm", "wide heads", "learned"), "argos": ("learned", TWO)}
IN_8_BITS = ("ctranslate2", "argos")


def text_member(sizes, seed=5):
    """A random model whose outputs are plain text: no lone bytes of a character, no underscore."""
    member = random_member(sizes)
    post, decoder = sizes.norm == "post", member.transformer
    last: Any = decoder.decoder[-1].add_feed_forward.norm if post else decoder.decoder_final_norm
    toward = last.bias.detach() / last.bias.detach().square().sum()
    noise = 0.5 * torch.randn(toward.shape, generator=torch.Generator().manual_seed(seed))
    letters, symbols = {*string.ascii_letters, ".", "Ġ"}, member.task.target.symbols
    plain = [n for n, one in enumerate(symbols) if set(one) <= letters and one.strip("Ġ")]
    others = [number for number in range(len(symbols)) if number not in plain]
    with torch.no_grad():
        weight = decoder.output.weight
        for number, like in zip(others, cycle(plain), strict=False):
            weight[number] = 0.5 * weight[like]  # never the largest logit: that of `like` is larger
        weight[END] = 3 * toward + noise
    return member


def list_ended(member, lines):
    """Return some lines and their greedy outputs: those that end by themselves, with a text."""
    sources = [encode_source(member, line) for line in lines]
    found = translate(member, [source.ids for source in sources], 1)
    outputs = {
        source.line: member.task.decode(one.ids, "")
        for source, one in zip(sources, found, strict=True)
        if len(one.ids) < source.limit
    }
    return {line: text for line, text in outputs.items() if text.strip()}


def save_with_lines(target, sizes, folder):
    """Save a model and the lines to compare; for Argos lines whose outputs are text, not empty."""
    if target != "argos":
        Path(f"{folder}.lines").write_text("\n".join(LINES), encoding="utf-8")
        return save_member(random_member(sizes), folder)
    members = (text_member(sizes, seed) for seed in range(5, 30))
    found = ((member, list(list_ended(member, MORE_LINES))[:16]) for member in members)
    member, lines = next(both for both in found if len(both[1]) > 9)  # with some hardly one ends
    Path(f"{folder}.lines").write_text("\n".join(lines), encoding="utf-8")
    return save_member(member, folder)


@pytest.fixture(scope="module", params=ENGINES)
def exported(request, tmp_path_factory):
    """The name of a target, and what an export of every shape to it said, by shape."""
    target, folder = request.param, tmp_path_factory.mktemp(request.param)
    python = make_environment(folder / "env", ENGINES[target])
    models = {
        str(save_with_lines(target, sizes, folder / name.replace(" ", "-"))): name
        for name, sizes in shapes().items()
    }
    two = folder / "two-vocabularies"
    shutil.copytree(IMPORTED, two)
    Path(f"{two}.lines").write_text("\n".join(LINES), encoding="utf-8")
    models[str(two)] = TWO
    ended = subprocess.run(
        [python, SCRIPT, target, SUFFIXES.get(target, ""), *models],
        env={"PYTHONPATH": str(SOURCES), "PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])  # some programs print lines of their own
    return target, {models.get(model, model): one for model, one in found.items()}


@pytest.mark.parametrize("name", [*shapes(), TWO])
def test_the_program_translates_as_the_model_does(exported, name):
    target, found = exported
    if name in REFUSED.get(target, ()):
        assert found[name]["refused"]  # tests/exports shows why
        return
    greedy, wider = found[name]["proof"]["comparisons"]
    if target == "argos":  # it gives no log P, and an output that is no text it writes otherwise
        assert greedy["equal"] >= 0.9 * greedy["lines"]
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
