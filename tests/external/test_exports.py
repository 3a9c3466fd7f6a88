"""The programs that models are exported to, each in its own environment, load and prove them."""

import json
import shutil
import string
import subprocess
import zipfile
from dataclasses import replace
from functools import cache
from itertools import cycle, permutations
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.exports.random_members import TEXT, WORDS, random_member, save_member, shapes
from tests.external.environments import make_environment

from transduce.exports.proof import encode_source, translate
from transduce.phrasebook import pairs
from transduce.text.clean import normalise
from transduce.vocabulary import END, Vocabulary
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.sentencepiece import (
    UNKNOWN_ID,
    build_sentencepiece,
    read_sentencepiece_model,
)

pytestmark = pytest.mark.external
SOURCES = Path(__file__).parents[2] / "src"
SCRIPT = Path(__file__).with_name("export_models.py")
LINES = ["the dog sees a cat.", "a woman runs", "who runs now", "der Hund läuft über </s> ▁x"] * 4
MORE_WORDS = [
    *("the", "dog", "sees", "a", "cat.", "woman", "runs", "who", "now"),
    *("der", "Hund", "läuft", "über", "</s>", "▁x"),
]
MORE_LINES = [" ".join(some) for some in permutations(MORE_WORDS, 2)]
ENGINES = {
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("transformers",),
    "argos": ("argostranslate",),
    "onnx": ("onnx", "onnxruntime"),
}
SUFFIXES = {"argos": ".argosmodel"}
GOLDEN, IMPORTED = Path(__file__).parents[1] / "golden/imported-1/imported", "imported model"
TWO, OTHERS = "two vocabularies", learn_vocabulary(TEXT[2:] * 9, 280)
REFUSED = {"huggingface": ("pre-norm", "wide heads", "learned"), "argos": ("learned", IMPORTED)}
IN_8_BITS = ("ctranslate2", "argos")
TRAIN = """
import sys, sentencepiece
text, model, size = sys.argv[1:]
train = sentencepiece.SentencePieceTrainer.train
train(input=text, model_prefix=model, vocab_size=int(size), minloglevel=2)
"""
SPLIT = """
import json, sys, sentencepiece
model = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
print(json.dumps(model.encode(json.load(sys.stdin), out_type=str)))
"""


def text_member(sizes, seed=5, source=WORDS, target=None):
    """A random model whose outputs are plain text: no lone bytes of a character, no underscore."""
    member = random_member(sizes, source, target)
    post, decoder = sizes.norm == "post", member.transformer
    last: Any = decoder.decoder[-1].add_feed_forward.norm if post else decoder.decoder_final_norm
    toward = last.bias.detach() / last.bias.detach().square().sum()
    noise = 0.5 * torch.randn(toward.shape, generator=torch.Generator().manual_seed(seed))
    letters, symbols = {*string.ascii_letters, *".Ġ▁"}, member.task.target.symbols
    plain = [n for n, one in enumerate(symbols) if set(one) <= letters and one.strip("Ġ▁")]
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


def save_with_lines(target, folder, sizes, *vocabularies, lines=MORE_LINES):
    """Save a model and the lines to compare; for Argos lines whose outputs are text, not empty."""
    if target != "argos":
        Path(f"{folder}.lines").write_text("\n".join(LINES), encoding="utf-8")
        return save_member(random_member(sizes, *vocabularies), folder)
    members = (text_member(sizes, seed, *vocabularies) for seed in range(5, 30))
    found = ((member, list(list_ended(member, lines))[:16]) for member in members)
    member, lines = next(both for both in found if len(both[1]) > 9)  # with some hardly one ends
    Path(f"{folder}.lines").write_text("\n".join(lines), encoding="utf-8")
    return save_member(member, folder)


def export_models(python, target, folder, models):
    """Return what an export of each model to a target said, and that of the first in 8 bits."""
    command = [python, SCRIPT, target, SUFFIXES.get(target, ""), *models]
    printed = run(command, env={"PYTHONPATH": str(SOURCES), "PATH": "", "HOME": str(folder)})
    return json.loads(printed.splitlines()[-1])  # some programs print lines of their own


def run(command, **how):
    """Run a command and return what it prints."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def find_python(tmp_path_factory):
    """Return a function from a target to an interpreter that has its program."""
    return cache(lambda one: make_environment(tmp_path_factory.mktemp("env") / one, ENGINES[one]))


@pytest.fixture(scope="module", params=ENGINES)
def exported(request, find_python, tmp_path_factory):
    """The name of a target, and what an export of every shape to it said, by shape."""
    target, folder = request.param, tmp_path_factory.mktemp(request.param)
    both = {TWO: (shapes()["tied target"], WORDS, OTHERS)}
    models = {
        str(save_with_lines(target, folder / name.replace(" ", "-"), *given)): name
        for name, given in ({name: (sizes,) for name, sizes in shapes().items()} | both).items()
    }
    golden = folder / "golden"
    shutil.copytree(GOLDEN, golden)
    Path(f"{golden}.lines").write_text("\n".join(LINES), encoding="utf-8")
    models[str(golden)] = IMPORTED
    found = export_models(find_python(target), target, folder, models)
    return target, {models.get(model, model): one for model, one in found.items()}


@pytest.mark.parametrize("name", [*shapes(), TWO, IMPORTED])
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


def test_argos_splits_and_translates_as_an_imported_model_does(find_python, tmp_path):
    python, vocabularies = find_python("argos"), list[Vocabulary]()
    for side, texts in enumerate(zip(*pairs("train", 2_000), strict=True)):
        (tmp_path / "text").write_text("\n".join(texts), encoding="utf-8")
        run([python, "-c", TRAIN, tmp_path / "text", tmp_path / f"{side}", "300"])
        file = tmp_path / f"{side}.model"
        found = read_sentencepiece_model(file.read_bytes(), file)
        vocabularies.append(Vocabulary(build_sentencepiece(found.pieces, found.charsmap)))
    lines = [english for english, _ in pairs("train", 300)]
    source = vocabularies[0]
    sizes = replace(shapes()["imported"], tie_embeddings="target")
    odd = "a\u0301 \u00a0 ﬁ ½ x\u200b ㌀ ☃Ж ｶﾞ 漢 Ġ _ ▁ \t Å ¨z"
    model = save_with_lines("argos", tmp_path / "model", sizes, *vocabularies, lines=lines)
    found = export_models(python, "argos", tmp_path, [model])[str(model)]
    greedy = found["proof"]["comparisons"][0]
    assert greedy["equal"] >= 0.9 * greedy["lines"] > 8
    with zipfile.ZipFile(found["path"]) as package:
        package.extract("model.out/sentencepiece.model", tmp_path)
    ask = [python, "-c", SPLIT, tmp_path / "model.out/sentencepiece.model"]
    pieces = json.loads(run(ask, input=json.dumps([*lines, odd])))
    ids = {symbol: number for number, symbol in enumerate(source.symbols)}
    theirs = [[ids.get(piece, UNKNOWN_ID) for piece in one] for one in pieces]
    assert theirs == source.encode_batch([normalise(line) for line in [*lines, odd]])
