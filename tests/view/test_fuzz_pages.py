"""Made-up hostile texts in the explainer, the curves and the translation page: none runs."""

import json
import random

import pytest
import torch
from tests.view.curves.conftest import READY as CURVES_READY
from tests.view.curves.logs import update, validation, write_log
from tests.view.explainer.opened import open_explainer
from tests.view.explainer.samples import SHAPES, make_translator
from tests.view.hostile import MARK, make_words

import transduce
from transduce.view.explainer.explain import explain
from transduce.view.page import document
from transduce.view.translation.page import TranslationPage
from transduce.vocabulary import END
from transduce.vocabulary.learn import learn_vocabulary

pytestmark = pytest.mark.browser
SEEDS = range(10)
ELEMENTS = """
const scripts = "img, iframe, object, embed, video, math, a, [onload], script:not([type])";
return document.querySelectorAll(scripts).length;
"""
# Types each text, waits until the page has shown what it makes of it, saves every fifth as SVG;
# returns the texts that are not shown as they are, and how many were translated.
TYPE_EACH = """
const [texts, done] = arguments, failed = [], { page, change, normalise, buildSvg } = transduce;
let translated = 0;
(async () => {
  for (const [i, text] of texts.entries()) {
    const panel = ["pieces", "softmax", "beam", "cross"][i % 4];
    await change({ text, prefix: i % 2 ? text : "", beam: i % 5 ? 1 : 2, panel, cell: "" });
    while (!page.ready) await new Promise(setTimeout);
    if (document.getElementById("problem").textContent) continue;
    translated += 1;
    const saved = i % 5 ? "<svg/>" : buildSvg();
    const svg = new DOMParser().parseFromString(saved, "image/svg+xml");
    const read = transduce.decodeIds(transduce.VOCABULARIES.source, page.result.source);
    const shown = document.getElementById("text").value;
    const begin = document.getElementById("off").textContent.includes(transduce.visible(text));
    const isWrong = shown !== text || read !== normalise(text) || (i % 2 && !begin);
    const output = i % 2 ? read : "";
    const isOther = document.getElementById("translation").textContent !== output;
    if (isWrong || isOther || svg.querySelector("parsererror, script")) failed.push(text);
  }
  done([failed, translated]);
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
    said = browser.console()  # Chromium takes at most 200 changes of the address in 30 seconds
    assert [line for line in said if "Throttling navigation" not in line] == []
    assert browser.run(ELEMENTS) == elements


def make_hostile_translator(words):
    """Return a small translator whose vocabulary was learned from hostile words.

    Whole attacks have fewer than 48 pieces. It ends at once, so that an output is what it begins
    with.
    """
    vocabulary = learn_vocabulary([*words, *words], 600)
    translator = make_translator(SHAPES["one layer, one head"], source=vocabulary)
    model = translator.models[0]
    with torch.no_grad():
        model.target.weight[END] = 1.0
        model.decoder[-1].add_feed_forward.norm.bias.fill_(5.0)
    return translator


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_typed_into_the_explainer_is_text(browser, seed, record):
    words = make_words(random.Random(seed), 1000, 3)
    translator = make_hostile_translator(words)
    sources = translator.task.encode_sources([translator.task.normalise(one) for one in words])
    short = [word for word, ids in zip(words, sources, strict=True) if 1 < len(ids) <= 48]
    browser.resize(320, 240)  # little to draw
    open_explainer(browser, translator, *short[:5])
    elements, translated = browser.run(ELEMENTS), 0
    for first in range(0, len(words), 10):
        sent = {"script": TYPE_EACH, "args": [words[first : first + 10]]}
        failed, count = browser.command("execute/async", sent)
        assert failed == []
        translated += count
    require_inert(browser, elements)
    browser.resize(1200, 900)
    record(strings=len(words), translated=translated, longest=max(map(len, short)))
    assert translated == len(short) > 700


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_names_of_runs_scores_and_failures_are_text_in_the_curves(browser, seed, tmp_path, record):
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
    record(strings=len(words))


def make_run(folder, index, names):
    """Write a run whose name, score and failures are the next five words."""
    name, score, signature, failure, change = (next(names) for _ in range(5))
    tested = validation(2, 1.0, 3.0)
    tested[1]["score"] |= {"name": score, "signature": signature}
    events = [update(1), update(2), tested, ("resume", {"step": 2, "changed": [change]})]
    events += [("failure", {"step": 2, "fact": failure})]
    return write_log(folder / f"{index} {name.replace('/', '∕')[:110]}", events)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_texts_and_their_translations_are_text_in_the_translation_page(browser, seed, record):
    words = make_words(random.Random(seed), 1000)
    pairs, names = [("en", "de")], {"en": words[0], "de": words[1]}
    page = TranslationPage(pairs, names, {("en", "de"): words[2]}, 10**7, 64)
    form = ("\n".join(words[:50]), " ".join(words[50:100]), "en", "de")
    browser.open_text(page.write(*form))
    assert browser.run("return document.getElementById('text').value") == "\n".join(words[:50])
    assert browser.run("return window.stolen || 0") == 0
    browser.open_text(page.write())
    elements = browser.run(ELEMENTS)
    browser.run(ECHO, words)
    browser.wait(f"{OUTPUT} === {json.dumps(chr(10).join(words))}")
    browser.run("document.querySelector('#output .word').click()")
    browser.wait("!document.getElementById('choices').hidden")
    require_inert(browser, elements)
    record(strings=len(words))


SAFE = "element.append(...children);"
UNSAFE = """for (const one of children)
    if (one instanceof Node) element.append(one);
    else element.insertAdjacentHTML("beforeend", one);"""
SAFE_FILL = "parent.replaceChildren(...content);"
UNSAFE_FILL = (
    "{ const element = parent, children = content; element.replaceChildren(); " + UNSAFE + "};"
)
ATTACK = f"<img src=x onerror='{MARK}'>"


@pytest.fixture
def unsafe(monkeypatch):
    """Pages whose script makes markup of text, and whose policy allows what it runs."""
    read = document.read_part

    def read_unsafe(path):
        text = read(path).replace(SAFE_FILL, UNSAFE_FILL).replace(SAFE, UNSAFE)
        return text.replace(".textContent = ", ".innerHTML = ")

    monkeypatch.setattr(document, "read_part", read_unsafe)
    allowed = "default-src * data: 'unsafe-inline'"
    monkeypatch.setattr(document, "build_policy", lambda *_: allowed)


@pytest.mark.usefixtures("unsafe")
def test_the_control_that_makes_markup_of_text_runs_what_is_typed_into_the_explainer(browser):
    translator = make_hostile_translator([ATTACK, *make_words(random.Random(1), 300, 3)])
    browser.open_text(explain(translator, "a").page)
    browser.wait("window.transduce && transduce.page.ready")
    browser.run("transduce.change({ prefix: arguments[0] })", ATTACK)
    browser.wait("window.stolen > 0")


@pytest.mark.usefixtures("unsafe")
def test_the_control_that_makes_markup_of_text_runs_a_name_in_the_curves(browser, tmp_path):
    run = write_log(tmp_path / ATTACK, [update(1), update(2)])
    transduce.curves(run, output=tmp_path / "curves.html")
    browser.open(tmp_path / "curves.html")
    browser.wait("window.stolen > 0")
