"""Marian checkpoints of transformers, imported: the same symbols, logits and texts.

The weights are random, of several configurations: no public checkpoint could be downloaded where
these tests were written.
"""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.external.environments import make_environment

import transduce
from transduce.inference.pairs import target_log_probs
from transduce.packed import Packed
from transduce.settings.recipe import with_changes
from transduce.text.clean import normalise
from transduce.vocabulary import BEGIN, END

pytestmark = pytest.mark.external
SCRIPT = Path(__file__).with_name("marian_checkpoint.py")
NAMES = ("opus", "relu-unscaled", "two-vocabularies", "starts-with-end")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An interpreter that has transformers, and what its Marian tokenizer needs."""
    folder = tmp_path_factory.mktemp("env")
    return make_environment(folder, ["transformers", "sentencepiece", "sacremoses"])


@pytest.fixture(params=NAMES)
def imported(request, python, tmp_path):
    """An imported model, and what transformers says with the checkpoint."""
    command = [python, SCRIPT, tmp_path / "checkpoint", request.param]
    ended = subprocess.run(command, capture_output=True, text=True, env={"PATH": ""}, check=False)
    assert ended.returncode == 0, ended.stderr
    transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    return (
        transduce.load(tmp_path / "model"),
        json.loads((tmp_path / "answers.json").read_text(encoding="utf-8")),
        load_file(tmp_path / "logits.safetensors"),
    )


def log_prob(model, source, target):
    return target_log_probs([model], [source], [target], 1_000)[0]


def test_a_checkpoint_gives_the_same_symbols_logits_and_texts(imported):
    model, said, logits = imported
    (transformer,) = model.models
    source, target = model.task.source, model.task.target
    numbers = {name: number for number, name in enumerate(target.symbols)}
    rows = {theirs: numbers[name] for name, theirs in said["target"].items() if name in numbers}
    ours, theirs = [*rows.values()], [*rows]
    assert len(rows) >= len(said["target"]) - 1  # all but the padding
    for number, answer in enumerate(said["answers"]):
        ids = source.encode(normalise(answer["line"]))
        names = [source.symbols[one] for one in ids] + ["</s>"]
        expected = [said["source"][one] for one in answer["ids"]]
        assert names == expected
        known = [rows[one] for one in answer["target"]]
        with torch.no_grad():
            memory = transformer.encode(Packed.from_sentences([[*ids, END]]))
            states = transformer.decode(Packed.from_sentences([[BEGIN, *known[:-1]]]), memory)
            found = transformer.logits(states)
        torch.testing.assert_close(
            found[:, ours], logits[str(number)][:, theirs], rtol=0, atol=1e-5
        )
        for beam in (1, 3):
            changes = {"search.beam": beam, "search.penalty": "none", "search.extra_length": 8}
            recipe = with_changes(model.recipe, changes)
            searching = replace(model, recipe=recipe, on_warning=lambda _: None)
            (best,) = searching.nbest(answer["line"], 1)
            text, chosen = normalise(answer[f"beam {beam}"]["text"]), answer[f"beam {beam}"]["ids"]
            if beam == 1:
                assert best.text == text
            elif best.text != text:  # more of our hypotheses may end: the better one is chosen
                theirs_ids = [rows[one] for one in chosen[1:]]
                assert best.log_prob > log_prob(transformer, [*ids, END], theirs_ids)
