"""Experiments that show something: the page tries them when it is made, and computes the same."""

import re

import pytest
from tests.view.explainer.opened import READY, number_of, text_of
from tests.view.explainer.samples import PAPERS, make_translator
from tests.view.explainer.test_model import stored_model

from transduce.view.explainer.experiments import (
    LONGEST,
    Change,
    find_alpha,
    find_experiments,
    find_reordered_text,
    is_reordered,
    list_changes,
    translate_with_change,
)
from transduce.view.explainer.explain import explain
from transduce.vocabulary import END

TEXTS = ("the old dog sees a woman", "a woman sees the dog")


@pytest.fixture(scope="module")
def translator():
    return make_translator(PAPERS, seed=2)  # most experiments change its translation


@pytest.fixture(scope="module")
def page(translator):
    return explain(translator, *TEXTS).page


def open_page(browser, page):
    browser.open_text(page)
    browser.wait(READY)


def go_to(browser, experiment):
    step = browser.run(
        "return 1 + transduce.TOUR.findIndex(one => one[0].experiment === arguments[0])", experiment
    )
    browser.command(
        "execute/async",
        {"script": "transduce.goToTour(arguments[0]).then(arguments[1])", "args": [step]},
    )
    browser.wait(READY)


@pytest.mark.browser
def test_every_experiment_of_the_tour_changes_the_translation_as_pytorch_says(browser, page):
    open_page(browser, page)
    found = browser.run("return transduce.header.experiments")
    steps = browser.run("return transduce.TOUR.map(one => one[0].experiment).filter(Boolean)")
    assert sorted(steps) == sorted(found)
    assert sum(bool(one["text"]) for one in found.values()) >= 3
    for name in steps:
        go_to(browser, name)
        if not found[name]["text"]:
            assert "No sentence that was tried changes" in text_of(browser, "#tour-text")
            continue
        shown = [text_of(browser, f"#{side}-text") for side in ("before", "after")]
        assert shown == [found[name]["before"], found[name]["after"]], name
        assert shown[0] != shown[1]
        assert text_of(browser, "#tried") == found[name]["text"]


@pytest.mark.browser
def test_without_its_residual_the_station_says_that_nothing_is_added(browser, page):
    open_page(browser, page)
    go_to(browser, "residual")
    assert "The residual is off" in text_of(browser, "#plain")
    titles = "return [...document.querySelectorAll('#boxes h3')].map(one => one.textContent)"
    assert not any("x + attention" in title for title in browser.run(titles))
    assert browser.run(titles)[0].startswith("the output alone: x is not added")
    browser.run("transduce.change({ cell: 'encoder.1.self.sum:0:0' })")
    browser.wait(READY)
    assert "self-attention, output:" in text_of(browser, "#cell-title")
    assert "sum with the residual" not in text_of(browser, "#cell-title")
    browser.run("transduce.change({ cell: '', off: ['encoder.1.self', ...transduce.state().off] })")
    browser.wait(READY)
    assert browser.run(titles)[0].startswith("x + attention"), "a part that is off adds 0"
    assert "The residual is off" not in text_of(browser, "#plain")
    browser.run(
        "transduce.change({ off: transduce.state().off.filter(x => x !== 'encoder.1.self') })"
    )
    browser.wait(READY)
    assert browser.run("return document.querySelector('#figure .off').id").endswith("-residual")


OUTPUTS = {  # of texts by α; the recipe's is None
    "The cat sees.": {None: [5, 6, 7, 0], 0.0: [5, 6, 8, 0], 1.0: [5, 0]},
    "The cat": {None: [5, 6, 7, 0], 0.0: [5, 6, 0], 1.0: [5, 6, 7, 0]},
    "A dog": {None: [9, 0], 0.0: [9, 0], 1.0: [9, 9, 0]},
    "We see no cat.": {None: [4, 4, 0], 0.0: [4, 4, 0], 1.0: [4, 4, 0]},
    "We see cat.": {None: [4, 4, 0], 0.0: [4, 0], 1.0: [4, 4, 0]},
}


@pytest.mark.parametrize(
    ("texts", "text", "alpha", "after"),
    [
        (["The cat sees."], "The cat", 0.0, "5 6 0"),  # the whole sentence becomes no shorter
        (["The cat sees.", "A dog"], "A dog", 1.0, "9 9 0"),  # whole ones come first
        (["We see no cat."], "We see cat.", 0.0, "4 0"),  # without a word, before beginnings
        ([], "", 0.0, ""),
    ],
)
def test_the_example_for_alpha_becomes_shorter_with_0_or_longer_with_1(texts, text, alpha, after):
    found = find_alpha(
        {one: OUTPUTS[one][None] for one in texts},
        lambda text, alpha: OUTPUTS[text][alpha],
        lambda ids: " ".join(map(str, ids)),
    )
    assert (found.text, found.alpha, found.after) == (text, alpha, after)


@pytest.mark.browser
def test_the_station_of_the_beam_offers_the_sentence_that_another_alpha_changes(browser, page):
    open_page(browser, page)
    browser.resize(1200, 900)
    none = "No sentence that was tried changes in this model."
    browser.run("transduce.change({ panel: 'beam' })")
    assert text_of(browser, "#offer").endswith(none)
    go_to(browser, "alpha")
    assert none in text_of(browser, "#tour-text")
    assert text_of(browser, "#changed") == "The translation is the same."
    example = "Object.assign(transduce.header.experiments.alpha, { text: 'a dog', alpha: 0.1 })"
    browser.run(f"{example}; transduce.change({{ step: 1, beam: 2 }})")
    browser.wait(READY)
    assert text_of(browser, "#offer") == "Try it: α = 0.1: a dog"
    browser.click("#offer button")
    browser.wait(f"{READY} && transduce.page.before")
    state = browser.run("return transduce.state()")
    assert (state["text"], state["alpha"], state["beam"]) == ("a dog", 0.1, 4)
    assert text_of(browser, "#tried") == "a dog"
    go_to(browser, "alpha")
    assert browser.run("return transduce.page.result.settings.alpha") == 0.1
    browser.click("#tour-next")
    browser.wait(f"{READY} && transduce.state().alpha === 0.6")


@pytest.mark.browser
@pytest.mark.parametrize(("alpha", "divisor"), [(0.0, 1.0), (1.0, 7 / 6)])
def test_with_another_alpha_both_outputs_have_their_scores_by_it(browser, page, alpha, divisor):
    open_page(browser, page)
    browser.run("transduce.change({ alpha: arguments[0] })", alpha)
    browser.wait(READY)
    browser.run(
        """
        const best = { ids: [260, 1], logProb: -3.5, score: -3 };
        transduce.page.before = { ...transduce.page.before, output: best.ids, search: { best } };
        transduce.change({ step: 1 });
        """
    )
    said, score = browser.run(
        "const { score, logProb } = transduce.page.result.search.best; "
        "return [document.getElementById('changed').textContent, [score, logProb, logProb / score]]"
    )
    assert said.startswith("It changed. With this α, the score of the one before is ")
    numbers = [number_of(one) for one in re.findall("[−0-9.·⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*[0-9]", said)]
    assert numbers == pytest.approx([-3.5 / divisor, -3.5, divisor, *score], rel=1e-4)


@pytest.mark.browser
def test_after_the_experiments_the_readers_own_sentence_is_back(browser, page):
    open_page(browser, page)
    browser.run("transduce.change({ text: 'a dog', tour: 1 })")
    browser.wait(READY)
    go_to(browser, "positions")
    assert browser.run("return transduce.state().text") != "a dog"
    browser.click("#tour-end")
    browser.wait(f"{READY} && transduce.state().text === 'a dog'")
    assert browser.run("return transduce.state().off") == []


@pytest.mark.browser
def test_without_positions_the_other_order_of_the_words_is_a_button(browser, page):
    open_page(browser, page)
    twins = {"text": "the dog sees the woman", "twin": "the woman sees the dog"}
    browser.run("Object.assign(transduce.header.experiments.positions, arguments[0])", twins)
    go_to(browser, "positions")
    now = text_of(browser, "#after-text")
    for one in (twins["twin"], twins["text"]):
        assert text_of(browser, "#tried button") == f"Swapped: {one}"
        browser.click("#tried button")
        browser.wait(f"{READY} && transduce.state().text === '{one}'")
        assert text_of(browser, "#after-text") == now
    browser.click("#undo-all")
    browser.wait(f"{READY} && !transduce.state().off.length")
    assert not browser.run("return document.querySelector('#tried button')")


@pytest.mark.browser
def test_the_page_says_so_when_no_sentence_shows_the_experiment(browser, page):
    open_page(browser, page)
    browser.run("transduce.header.experiments.mask.text = ''")
    go_to(browser, "mask")
    assert "No sentence that was tried changes in this model." in text_of(browser, "#tour-text")


def test_words_in_another_order_are_told_from_another_ending():
    assert is_reordered("Der Mann hilft der Frau.", "Die Frau hilft dem Mann.")
    assert not is_reordered("Der Hund sieht die Katze.", "Der Hunde sieht die Katze.")
    assert not is_reordered("Der Hund sieht die Katze.", "Die Katze sieht die Katze.")


def test_a_text_of_as_many_pieces_as_an_output_may_have_is_translated(translator):
    text = "x " * LONGEST
    (source,) = translator.task.encode_sources([text])
    assert len(source) >= LONGEST
    change = Change(("decoder.2.cross",))
    assert translate_with_change(translator, stored_model(translator), text, change)[-1] == END


def test_experiments_end_in_different_translations_where_a_sentence_allows_it(translator):
    model, off = stored_model(translator), Change(("decoder.2.cross",))
    outputs = {text: translate_with_change(translator, model, text, Change()) for text in TEXTS}
    twice = {"one": [off], "other": [off]}
    found = find_experiments(translator, model, outputs, twice)
    assert found["one"].text == TEXTS[0]
    assert found["other"].text == TEXTS[1]
    assert found["one"].after != found["other"].after
    only = find_experiments(translator, model, {TEXTS[0]: outputs[TEXTS[0]]}, twice)
    assert only["one"] == only["other"] == found["one"], "better the same than none"


def test_a_twin_has_the_same_pieces_in_another_order(translator):
    text, twin, other = "the dog sees the woman", "the woman sees the dog", TEXTS[0]
    assert find_reordered_text(translator, text, [text, other, twin]) == twin
    assert find_reordered_text(translator, text, [text, other]) == ""


def test_without_sentences_there_is_no_experiment(translator):
    model = stored_model(translator)
    found = find_experiments(translator, model, {}, list_changes(model))
    assert {one.text for one in found.values()} == {""}
