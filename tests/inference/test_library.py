"""The library's calls for trained models: typed results, and errors that name the argument."""

import multiprocessing
import types
from dataclasses import replace
from typing import Any

import pytest
from tests.forked import SERVER
from tests.inference.random_models import LINES, random_translator

import transduce
from transduce.errors import InputError
from transduce.inference import workers
from transduce.inference.evaluate import evaluate
from transduce.inference.translator import Translator

TRANSLATE = random_translator()
UNTYPED: Any = TRANSLATE
REFERENCES = list(reversed(LINES))


def load() -> Translator:
    return random_translator(longest=40)


def test_one_text_gives_one_list_of_outputs_and_several_give_several():
    several = TRANSLATE.nbest(LINES, 2)
    assert [len(outputs) for outputs in several] == [2, 1, 2, 2, 2]
    (best, second), text = TRANSLATE.nbest(LINES[0], 2), several[0][0].text
    assert (best.text, second.text) == (text, several[0][1].text)
    assert best.score >= second.score
    assert TRANSLATE(LINES[0]) == text
    assert TRANSLATE(tuple(LINES)) == TRANSLATE(LINES)


def test_lines_are_read_and_translated_lazily():
    taken = []

    def lines():
        for number in range(10_000):
            taken.append(number)
            yield "a dog"

    outputs = TRANSLATE.translate_lines(lines())
    assert taken == []
    assert next(outputs) == TRANSLATE("a dog")
    assert len(taken) == 2_000


@pytest.mark.parametrize(
    ("call", "fact"),
    [
        (lambda: UNTYPED(b"a"), "text must be lines of text, such as a list, not b'a' (bytes)"),
        (lambda: UNTYPED(5), "text must be lines of text, such as a list, not 5 (int)"),
        (
            lambda: list(UNTYPED.nbest_lines(iter(["a", None]))),
            "lines: item 2 must be a string, not None (NoneType)",
        ),
        (lambda: UNTYPED("a", prefix=["b"]), "prefix must be a string, not ['b'] (list)"),
        (lambda: UNTYPED.nbest("a", 0), "n must be a whole number of at least 1, not 0 (int)"),
        (lambda: UNTYPED.searching(beams=2), "searching() has no setting 'beams'"),
        (lambda: UNTYPED.searching(penalty="none", alpha=2.0), "alpha is of the penalty gnmt"),
        (lambda: UNTYPED.sampling(seed=1).searching(beam=2), "beam is of a search, and this"),
        (lambda: UNTYPED.sampling(topk=2), "sampling() has no setting 'topk'"),
        (
            lambda: list(UNTYPED.likelihood(iter(["ab"]))),
            "pairs: item 1 must be (source, target), not",
        ),
        (lambda: UNTYPED.evaluate(LINES), "reference must be given with lines of a source"),
        (
            lambda: UNTYPED.evaluate(LINES, LINES, metrics=["blue"]),
            "metrics: unknown score 'blue'",
        ),
        (
            lambda: UNTYPED.evaluate([], [], metrics=[], contrast=True),
            "there are no lines to score",
        ),
        (
            lambda: UNTYPED.evaluate(LINES, LINES[:1]),
            "the source has 5 lines, but the reference has 1",
        ),
    ],
)
def test_an_error_names_the_argument(call, fact):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value).startswith(fact)


def test_an_evaluation_has_the_translations_and_their_scores(tmp_path):
    found = evaluate(TRANSLATE, LINES, REFERENCES, metrics=["chrf"])
    assert found.outputs == TRANSLATE(LINES)
    assert found.scores == transduce.score(found.outputs, REFERENCES, metrics=["chrf"])
    assert found.left_out == 0
    for name, lines in (("a", LINES), ("b", REFERENCES)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    files = TRANSLATE.evaluate(tmp_path / "a", str(tmp_path / "b"), metrics=["chrf"])
    assert files.scores == found.scores
    assert [score.name for score in TRANSLATE.evaluate(LINES, REFERENCES).scores] == [
        "BLEU",
        "chrF",
        "TER",
    ]


def test_scores_of_lists_and_a_comparison():
    ours, theirs = LINES, [line.upper() for line in LINES]
    (chrf,) = transduce.score(ours, REFERENCES, metrics=["chrf"])
    (found,) = transduce.score(ours, REFERENCES, metrics=["chrf"], against=theirs, samples=40)
    assert found.ours == chrf
    assert found.samples == 40
    with pytest.raises(InputError, match="metrics must be lines of text"):
        transduce.score(ours, REFERENCES, metrics="bleu")


@pytest.mark.workers
@pytest.mark.slow
def test_workers_give_the_results_of_one_process(monkeypatch):
    server = types.SimpleNamespace(get_context=lambda _: SERVER)
    monkeypatch.setattr(workers, "multiprocessing", server)
    monkeypatch.setattr("transduce.inference.translator.WORKER_BLOCK", 2)
    one = load().searching(beam=3, extra_length=5)
    several = replace(one, workers=2, reload=load)
    assert several(LINES) == one(LINES)
    assert several.sampling(seed=3)(LINES) == one.sampling(seed=3)(LINES)
    pairs = list(zip(LINES, REFERENCES, strict=True))
    scores = [output.score for output in several.likelihood(pairs)]
    assert scores == pytest.approx([output.score for output in one.likelihood(pairs)], abs=1e-5)
    assert multiprocessing.active_children() == []


def test_a_model_that_was_not_read_from_a_folder_cannot_be_loaded_in_workers():
    with pytest.raises(InputError, match="workers must be 1 for models that were not read from a"):
        replace(TRANSLATE, workers=2)(LINES)


def test_loading_checks_its_arguments(tmp_path):
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, not 0"):
        transduce.load(tmp_path, workers=0)
    with pytest.raises(InputError, match=r"precision must be .* not 'float8'"):
        transduce.load(tmp_path, precision="float8")
