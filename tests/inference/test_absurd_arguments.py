"""Wrong types and values in Python calls: a TransduceError, never another one, never silence."""

import math
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.inference.random_models import random_translator

import transduce
from transduce.checkpoint.stored_model import save_model
from transduce.errors import InputError, TransduceError
from transduce.vocabulary.vocabulary import Vocabularies

MODEL = random_translator()
ABSURD = [
    *(None, 0, -1, 1.5, math.nan, math.inf, 10**400, 10**5000, True),
    *("", "a\0b", "x" * 300, "nope", "\ud800", b"x", Path("/proc/self/mem")),
    *(
        [],
        [5],
        [None],
        ["\ud800"],
        [("a", "b", "c")],
        [("a", 5)],
        [["a"]],
        {},
        {"x": 1},
        {1},
        (1, 2),
    ),
    *(object(), object, len, iter([1])),
]
CALLS = {
    "average": ({"run": "r", "output": "o", "last": 1}, transduce.average),
    "verify": ({"folder": "m"}, transduce.verify),
    "load": ({"folder": "m", "precision": "float32", "workers": 1}, transduce.load),
    "prepare": (
        {"folder": "p", "train": ("a", "b"), "dev": ("a", "b"), "settings": {"x": 1}},
        lambda **given: transduce.prepare(recipe="demo", **given),
    ),
    "sweep": (
        {"folder": "s", "train": ("a", "b"), "settings": {}, "vary": {"training.seed": [1]}},
        lambda **given: transduce.sweep(recipe="demo", **given),
    ),
    "explain": ({"model": "m", "max_weights": 1, "tour": "t", "film": "f"}, transduce.explain),
    "choose_alignment_heads": (
        {"model": "m"},
        lambda model: transduce.choose_alignment_heads(model, ["a"], ["b"], ["0-0"]),
    ),
    "distil": (
        {"teacher": MODEL, "folder": "d", "source": "s", "backward": MODEL},
        transduce.distil,
    ),
    "curves": ({"runs": "r"}, lambda runs: transduce.curves(runs, output="x.html")),
    "evaluate": (
        {"source": ["a"], "reference": ["b"], "metrics": ["bleu"], "language": "de"},
        MODEL.evaluate,
    ),
    "score": ({"a": ["x"], "b": ["y"]}, lambda a, b: transduce.score(a, b)),
    "score_metrics": ({"metrics": ["bleu"]}, lambda **m: transduce.score(["x"], ["y"], **m)),
    "score_tags": ({"gold": [], "output": []}, transduce.score_tags),
    "score_trees": ({"gold": [], "output": []}, transduce.score_trees),
    "attend": ({"text": "a", "target": None}, MODEL.attend),
    "call": ({"text": "a", "prefix": None}, MODEL.__call__),
    "nbest": ({"text": "a", "n": 1, "prefix": None}, MODEL.nbest),
    "lines": ({"lines": ["a"], "n": 1, "block": 2, "prefixes": None}, MODEL.nbest_lines),
    "likelihood": ({"pairs": [("a", "b")], "block": 1}, MODEL.likelihood),
    "searching": (
        {"beam": 1, "alpha": 0.6, "extra_length": 2, "gamma": 0.0, "penalty": "gnmt"},
        lambda **given: MODEL.searching(**given)("a"),
    ),
    "sampling": (
        {"temperature": 1.0, "top_k": 1, "top_p": 1.0, "seed": 1},
        lambda **given: MODEL.sampling(**given)("a"),
    ),
}


pytestmark = pytest.mark.usefixtures("unchecked_types")


@pytest.fixture(autouse=True)
def like_a_user(tmp_path, monkeypatch):
    """In a folder with a model and two texts, without the tests' checks of types."""
    monkeypatch.chdir(tmp_path)
    weights = MODEL.models[0].named_weights()
    vocabularies = Vocabularies(MODEL.task.source, MODEL.task.target)
    save_model(tmp_path / "m", weights, MODEL.recipe, vocabularies, "")
    (tmp_path / "a").write_text("a dog\n", encoding="utf-8")
    (tmp_path / "b").write_text("ein Hund\n", encoding="utf-8")


@pytest.mark.parametrize(("given", "call"), CALLS.values(), ids=CALLS)
def test_an_absurd_argument_is_used_or_refused_in_a_sentence(given, call):
    warnings.simplefilter("ignore")
    for name in given:
        for value in ABSURD:
            if (name, value) == ("train", None):
                continue  # the recipe's own corpus, which takes its time
            try:
                found = call(**{**given, name: value})
                if hasattr(found, "__next__"):
                    list(islice(found, 3))
            except TransduceError:
                continue


def test_metrics_may_come_from_an_iterator():
    names: Any = iter(["ter"])
    found = MODEL.evaluate(["a"], ["b"], metrics=names)
    assert found.scores == MODEL.evaluate(["a"], ["b"], metrics=["ter"]).scores


@pytest.mark.parametrize(
    ("block", "wanted"),
    [*((block, "least 1") for block in (0, -1, True, 2.0, None)), (10**30, r"most 2\^63 - 1")],
)
def test_a_block_of_no_lines_is_refused(block, wanted):
    for call in (MODEL.nbest_lines, MODEL.likelihood):
        with pytest.raises(TransduceError, match=f"block must be a whole number of at {wanted}"):
            call([], block=block)


@pytest.mark.parametrize("text", [{"a": 1}, {"a"}, {"a": 1}.keys()])
def test_a_text_in_no_order_is_refused(text):
    with pytest.raises(InputError, match="text must be lines of text, such as a list, not"):
        MODEL(text)


@pytest.mark.parametrize(
    "call",
    [
        MODEL,
        lambda text: list(MODEL.translate_lines([text])),
        lambda text: MODEL("a", prefix=text),
        lambda text: list(MODEL.likelihood([("a", text)])),
        lambda text: MODEL.align(text, "a"),
        MODEL.attend,
        MODEL.explain,
        lambda text: MODEL.evaluate(["a"], [text], metrics=["bleu"]),
        lambda text: transduce.score([text], ["a"]),
        lambda text: transduce.train("r", [("a", text)], recipe="demo"),
    ],
)
def test_half_a_surrogate_pair_is_refused(call):
    with pytest.raises(InputError, match=r"half a surrogate pair \(U\+D83D\) at character 3"):
        call("a \ud83d dog")
