"""Models imported from Marian run in the page, with their pieces, biases, swish and search."""

import re
from dataclasses import replace

import pytest
from tests.runs.marian_checkpoints import compile_charsmap, write_checkpoint
from tests.view.explainer.opened import (
    READY,
    as_array,
    assert_equal,
    change,
    number_of,
    open_explainer,
    search,
    text_of,
    trace,
)
from tests.view.explainer.samples import ODD, make_translator

import transduce
from transduce.errors import InputError
from transduce.inference.load import load
from transduce.inference.outputs import combine_models
from transduce.search.trace import trace_beam_search
from transduce.view.explainer.explain import build_stored_model, explain
from transduce.view.explainer.reference import trace_model
from transduce.view.explainer.weights import read_weights, store_weights
from transduce.vocabulary import END

TEXT = "the dog runss Ж ﬁ"
RULES = {"A": "", "ß": "s", "ﬁ": "runs"}
PAIRS = [("the dog runs", "der Hund läuft"), ("the dogs", "der Hunds")] * 20


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The folder of a random model of Marian's form, with a table by which it rewrites text."""
    folder = tmp_path_factory.mktemp("marian")
    write_checkpoint(folder / "checkpoint", charsmap=compile_charsmap(RULES), num_beams=12)
    return transduce.import_model(folder / "checkpoint", folder / "model").folder


@pytest.fixture(scope="module")
def adapted(imported, tmp_path_factory):
    """A run that goes on from the imported model for eight updates."""
    settings = {
        "training.steps": 8,
        "training.snapshot_every": 4,
        "training.average_last": 1,
        "training.threads": 1,
        "data.source_tokens": 256,
        "data.target_tokens": 256,
        "data.drop_duplicates": False,
    }
    folder = tmp_path_factory.mktemp("adapted") / "run"
    transduce.train(folder, PAIRS, parent=imported, settings=settings, process_settings=False)
    return folder


def open_exactly(browser, folder, *texts):
    """Open the page of a folder with weights in 32 bits; return its model as PyTorch runs it."""
    browser.open_text(explain(folder, *texts, numbers="float32").page)
    browser.wait(f"{READY} && transduce.page.checked !== undefined")
    translator = load(folder)
    weights = store_weights(read_weights(translator.models[0]), "float32")
    return translator, build_stored_model(translator, weights)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["imported", "adapted"])
def test_rows_pieces_and_beams_are_pytorchs(browser, name, request):
    translator, model = open_exactly(browser, request.getfixturevalue(name), TEXT)
    texts = [TEXT, "the dog", "runsAs  doßg", "the the dog runs dog s"]
    sources = translator.task.encode_sources(texts)
    (output,) = translator.task.encode_targets(["der Hund läuft nЖs"])
    assert output is not None
    expected = trace_model(model, sources[0], output)
    found = trace(browser, sources[0], output)
    assert found.keys() == expected.keys()
    for row, rows in expected.items():
        assert_equal(as_array(found[row]), rows.numpy())
    changes = {"extra_length": 4, "beam": 9}
    decoder, settings = combine_models([model]), replace(translator.recipe.search, **changes)
    for one, source in zip(search(browser, texts, **changes), sources, strict=True):
        best = trace_beam_search(decoder, source, settings, 1)
        assert one["ids"] == [*best.best.ids, END]
        assert one["score"] == pytest.approx(best.best.score, abs=1e-4)
        for found_step, step in zip(one["steps"], best.steps, strict=True):
            sums = [live.log_prob for live in step]
            assert [live["logProb"] for live in found_step] == pytest.approx(sums, abs=1e-4)
    assert browser.run("return transduce.page.checked") < 1e-4
    assert browser.console() == []
    assert browser.requests() == []


@pytest.mark.browser
def test_each_station_says_what_this_model_computes(browser, imported):
    open_exactly(browser, imported, TEXT)
    change(browser, panel="pieces")
    assert "SentencePiece" in text_of(browser, "#exact")
    cuts = browser.run("return [...document.querySelectorAll('#boxes td')].map(x => x.innerText)")
    assert cuts[::2][2:4] == ["␣runs (−5.5) s (−4.5)", "␣ (−4) <unk>"]
    change(browser, panel="forward", cell="encoder.1.ff.inner:1:0")
    assert "swish(xW₁ + b₁) W₂ + b₂,  swish(x) = x / (1 + exp(−x))" in text_of(browser, "#equation")
    assert text_of(browser, "#cell-formula") == "swish(x W₁ + b₁)"
    change(browser, panel="attention", cell="encoder.1.self.q:1:0")
    assert "Each projection adds a bias" in text_of(browser, "#exact")
    assert text_of(browser, "#cell-formula").endswith("+ bQ")
    assert "bias" in text_of(browser, "#cell-rows")
    change(browser, panel="norm", cell="encoder.1.self.norm:1:0")
    rows = browser.run(
        "return [...document.querySelectorAll('#cell-rows tr')].map(x => x.innerText.split('\\t'))"
    )
    assert number_of(dict(rows)["ε"]) == load(imported).recipe.architecture.norm_epsilon == 1e-5
    change(browser, panel="softmax")
    assert text_of(browser, "#equation") == "P(w) = softmax(decoder output · E(w) + b(w))"
    change(browser, panel="beam")
    assert text_of(browser, "#equation") == "score(Y) = log P(Y) / |Y|"
    hidden = "return ['slide', 'offer'].map(id => document.getElementById(id).hidden)"
    assert browser.run(hidden) == [True, True]
    said = browser.run("return document.body.innerText + JSON.stringify(transduce.TOUR)")
    assert not re.search(r"α|max\(0, x ?W|negatives cut", said)
    assert browser.run("return document.getElementById('beam').value") == "12"


@pytest.mark.browser
def test_the_paper_is_quoted_for_a_model_that_is_the_papers(browser):
    open_explainer(browser, make_translator(ODD), "a dog")
    change(browser, panel="forward")
    assert text_of(browser, "#equation").startswith("FFN(x) = max(0, xW₁ + b₁) W₂ + b₂")
    assert "negatives cut to 0" in text_of(browser, "#plain")
    change(browser, panel="beam")
    assert "A larger α favours longer ones." in text_of(browser, "#plain")
    assert not browser.run("return document.getElementById('slide').hidden")


@pytest.mark.parametrize("other", ["dot", "bilinear", "additive"])
def test_another_comparison_of_query_and_key_is_refused_by_name(other):
    with pytest.raises(InputError, match=f"compatibility is {other}") as refused:
        make_translator(replace(ODD, compatibility=other)).explain("a dog")
    assert "transduce attend" in refused.value.hint
