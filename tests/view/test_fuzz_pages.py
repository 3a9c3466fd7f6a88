"""Made-up hostile texts in the explainer, the curves and the translation page: none runs."""

import json
import random

import pytest
from tests.view.curves.conftest import READY as CURVES_READY
from tests.view.curves.logs import update, validation, write_log
from tests.view.explainer.opened import open_explainer
from tests.view.explainer.samples import PAPERS, TEXT, make_translator
from tests.view.hostile import make_words

import transduce
from transduce.view.translation.page import Form, PageSettings, TranslationPage

pytestmark = [pytest.mark.browser, pytest.mark.soak]
SEEDS = range(10)
ELEMENTS = """
const scripts = "img, iframe, object, embed, video, math, a, [onload], script:not([type])";
return document.querySelectorAll(scripts).length;
"""
# Types each text, waits until the page has shown what it makes of it, and returns what failed.
TYPE_EACH = """
const [texts, done] = arguments, failed = [], { page, change } = transduce;
(async () => {
  for (const [i, text] of texts.entries()) {
    const panel = ["pieces", "softmax", "beam"][i % 3];
    await change({ text: text.slice(0, 20), prefix: text.slice(0, 8), panel, cell: "" });
    while (!page.ready) await new Promise(setTimeout);
    if (transduce.state().text !== text.slice(0, 20)) failed.push(text);
  }
  done(failed);
})();
"""
# A server that translates each text into itself, warns with it, and has it as another output.
ECHO = """
window.fetch = async (_, { body }) => {
  const { q } = JSON.parse(body), all = Array.isArray(q) ? q : [q];
  const outputs = one => [{ text: one, score: -1 }, { text: one + "!", score: -2 }];
  const sentences = all.map(one => ({
    source: one, outputs: outputs(one), warnings: [one], alignment: [[0, 0]], weights: [1],
    target_pieces: [...one.split(" "), "</s>"], log_probs: one.split(" ").map(() => -1),
  }));
  const nested = Array.isArray(q) ? sentences.map(one => [one]) : sentences;
  return new Response(JSON.stringify({ translatedText: all, sentences: nested }));
};
const box = document.getElementById("text");
box.value = arguments[0].join("\\n");
box.dispatchEvent(new Event("input", { bubbles: true }));
"""
OUTPUT = "document.getElementById('output').textContent"


def require_inert(browser, elements):
    """Nothing ran, nothing was asked for or complained of, and no word has become an element."""
    assert browser.run("return window.stolen || 0") == 0
    assert browser.requests() == []
    assert browser.console() == []
    assert browser.run(ELEMENTS) == elements


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_typed_into_the_explainer_is_text(browser, seed):
    words = make_words(random.Random(seed), 1000)
    offered = [word[:20] for word in words[:5] if word[:20].strip()]
    open_explainer(browser, make_translator(PAPERS), TEXT, *offered)
    elements = browser.run(ELEMENTS)
    for first in range(0, len(words), 10):
        sent = {"script": TYPE_EACH, "args": [words[first : first + 10]]}
        assert browser.command("execute/async", sent) == []
    require_inert(browser, elements)


@pytest.mark.parametrize("seed", SEEDS)
def test_names_of_runs_scores_and_failures_are_text_in_the_curves(browser, seed, tmp_path):
    words = make_words(random.Random(seed), 1000)
    names = iter(words)
    for number in range(10):
        runs = [make_run(tmp_path / str(number), index, names) for index in range(20)]
        transduce.curves(*runs, output=tmp_path / "curves.html")
        browser.open(tmp_path / "curves.html")
        browser.wait(CURVES_READY)
        shown = browser.run(
            "return [...document.querySelectorAll('#runs .name')].map(one => one.textContent)"
        )
        assert shown == [run.name for run in runs]
        browser.run("transduce.drawSvg()")
        require_inert(browser, 1)


def make_run(folder, index, names):
    """Write a run whose name, score and failures are the next five words."""
    name, score, signature, failure, change = (next(names) for _ in range(5))
    tested = validation(2, 1.0, 3.0)
    tested[1]["score"] |= {"name": score, "signature": signature}
    events = [update(1), update(2), tested, ("resume", {"step": 2, "changed": [change]})]
    events += [("failure", {"step": 2, "fact": failure})]
    return write_log(folder / f"{index} {name.replace('/', '∕')[:60]}", events)


@pytest.mark.parametrize("seed", SEEDS)
def test_texts_and_their_translations_are_text_in_the_translation_page(browser, seed):
    words = make_words(random.Random(seed), 1000)
    settings = PageSettings([("en", "de")], {"en": words[0], "de": words[1]}, 10**7, 64)
    form = Form("\n".join(words[:50]), " ".join(words[50:100]), "en", "de")
    browser.open_text(TranslationPage(settings).write(form))
    assert browser.run("return document.getElementById('text').value") == "\n".join(words[:50])
    assert browser.run("return window.stolen || 0") == 0
    browser.open_text(TranslationPage(settings).write(Form()))
    elements = browser.run(ELEMENTS)
    browser.run(ECHO, words)
    browser.wait(f"{OUTPUT} === {json.dumps(chr(10).join(words))}")
    browser.run("document.querySelector('#output .word').click()")
    browser.wait("!document.getElementById('choices').hidden")
    require_inert(browser, elements)
