"""The translation page as text: its size, its policy, and what a form puts into it."""

import json
import re
from dataclasses import replace

import pytest

from transduce.view.translation.page import TranslationPage

PAIRS = [("en", "de"), ("de", "en")]
PAGE = TranslationPage(PAIRS, {"en": "English"}, {("en", "de"): "one"}, 5_000, 64)


def test_the_page_is_below_forty_kilobytes_and_asks_its_own_server_only():
    page = replace(PAGE, can_detect=True).write()
    assert len(page.encode()) < 40_000
    assert "default-src 'none'" in page
    assert "connect-src 'self'; base-uri 'none'; form-action 'self'" in page
    assert "http" not in page.replace("http-equiv", "")


def test_what_the_page_says_of_its_model_stands_in_a_landmark_and_no_button_hides_its_words():
    page = PAGE.write()
    assert 'id="about"' in page.split("<header>")[1].split("</header>")[0]
    for name, written in re.findall(r'<button[^>]*aria-label="([^"]*)"[^>]*>([^<]*)', page):
        assert written.strip() in name


def test_languages_can_be_detected_where_the_server_can_and_are_told():
    assert '<option value="auto"' not in PAGE.write()
    page = replace(PAGE, can_detect=True)
    fresh = page.write()
    assert '<option value="auto">detect language</option><option value="en" selected>' in fresh
    asked = page.write("a", "b", "auto", "de", "en")
    assert '<option value="auto" selected>detected: English</option><option value="en">' in asked


def test_a_key_can_be_typed_without_javascript_where_the_server_has_one():
    assert 'id="key-label" hidden' in PAGE.write()
    assert 'id="key-label">' in replace(PAGE, needs_key=True).write()


def test_what_a_form_holds_is_escaped_and_no_mark_in_it_is_filled():
    page = PAGE.write("<!--translation--></textarea>", "<script>", "de", "en")
    assert "&lt;!--translation--&gt;&lt;/textarea&gt;</textarea>" in page
    assert ">&lt;script&gt;</div>" in page
    assert page.count("<script>") == 1
    assert '<option value="de" selected>de</option><option' not in page
    assert '<option value="en">English</option><option value="de" selected>de</option>' in page


# A server that answers each line with the pieces, the output and the links that a test gives.
ANSWERS = """
const found = arguments[0];
window.fetch = async (_, { body }) => {
  const { q } = JSON.parse(body);
  const sentences = q.map(source => [{
    source, outputs: [{ text: found.text, score: -1 }], warnings: [], log_probs: [],
    source_pieces: found.pieces, target_pieces: [], alignment: found.links, weights: found.weights,
  }]);
  return new Response(JSON.stringify({ translatedText: q.map(() => found.text), sentences }));
};
const box = document.getElementById("text");
box.value = arguments[1];
box.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
"""
TYPED = """
const box = document.getElementById("text");
box.value = arguments[0];
box.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
"""
STATUS = "document.getElementById('status').textContent"


@pytest.fixture
def page(browser):
    browser.open_text(PAGE.write())
    return browser


def answer(page, text, output, pieces=(), links=(), weights=()):
    found = {"text": output, "pieces": pieces, "links": links, "weights": weights}
    page.run(ANSWERS, found, text)
    page.wait(f"document.getElementById('output').textContent === {json.dumps(output)}")


@pytest.mark.browser
def test_the_page_names_model_languages_and_limit_and_refuses_what_is_longer(page):
    about = page.run("return document.getElementById('about').textContent")
    assert about == "English to de, by the model one. At most 5,000 characters."
    page.run(ANSWERS, {"text": "x"}, "a" * 5_001)
    page.wait(f"{STATUS}.startsWith('The text has 5,001 characters, and this server takes 5,000')")


@pytest.mark.browser
def test_unknown_words_and_a_translation_that_is_too_short_are_said(page):
    pieces = ["The", "␣quo", "kk", "a,", "␣sees"]
    answer(page, "The quokka, sees", "Das Tier sieht", pieces)
    assert page.run(f"return {STATUS}") == ""
    answer(page, "The quokka sees", "Das Tier sah", ["The", "␣q", "u", "o", "k", "ka", "␣s"])
    said = page.run(f"return {STATUS}")
    assert (
        said
        == "The model may only guess these words, which it reads almost letter by letter: quokka"
    )
    answer(page, "one two three four five six seven eight", "eins zwei drei")
    assert "Much shorter than its source" in page.run(f"return {STATUS}")


@pytest.mark.browser
def test_words_are_marked_only_where_the_alignment_is_sure(page):
    answer(page, "the dog", "der Hund", links=[[0, 0], [1, 1]], weights=[0.2, 0.9])
    for word, marked in ((0, 0), (1, 1)):
        page.move(f"#output [data-at='0,0,{word}']")
        page.next_frame()
        assert page.run("return document.querySelectorAll('#mirror .linked').length") == marked


# A server that answers when `release` is called; each answer names its languages.
SLOW = """
window.waiting = [];
window.release = () => waiting.splice(0).forEach(one => one());
window.fetch = async (_, { body }) => {
  const { q, target, prefix } = JSON.parse(body), lines = [q].flat();
  await new Promise(done => waiting.push(done));
  const outputs = line => [prefix ?? `${target}: ${line}`, `${target}! ${line}`];
  const one = source => ({
    source, outputs: outputs(source).map(text => ({ text, score: -1 })), warnings: [],
    log_probs: [], source_pieces: [], target_pieces: [], alignment: [], weights: [],
  });
  const sentences = Array.isArray(q) ? lines.map(line => [one(line)]) : [one(q)];
  const translatedText = lines.map(line => outputs(line)[0]);
  return new Response(JSON.stringify({ translatedText, sentences }));
};
const box = document.getElementById("text");
window.type = text => {
  box.value = text;
  box.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
};
"""
OUTPUT = "document.getElementById('output').textContent"


def type_text(page, text, output):
    page.run("type(arguments[0])", text)
    page.wait("waiting.length")
    page.run("release()")
    page.wait(f"{OUTPUT} === {json.dumps(output)}")


@pytest.mark.browser
def test_a_swap_keeps_a_text_whose_translation_is_not_there_yet(page):
    page.run(SLOW)
    type_text(page, "one", "de: one")
    page.run("type('a letter'); document.getElementById('swap').click()")
    assert page.run("return document.getElementById('text').value") == "a letter"


@pytest.mark.browser
def test_an_output_that_was_chosen_for_one_language_is_not_shown_for_another(browser):
    pairs = [*PAIRS, ("en", "fr")]
    browser.open_text(replace(PAGE, pairs=pairs).write())
    browser.run(SLOW)
    type_text(browser, "hello", "de: hello")
    browser.click("#output .word")
    browser.wait("waiting.length || document.querySelectorAll('#list button')[1]")
    browser.run("release()")
    browser.wait("document.querySelectorAll('#list button')[1]")
    browser.run("document.querySelectorAll('#list button')[1].click()")
    browser.run(
        "const to = document.getElementById('target'); to.value = 'fr';"
        "to.dispatchEvent(new Event('change'))"
    )
    browser.wait("waiting.length === 2")
    browser.run("release()")
    browser.wait(f"{OUTPUT} === 'fr: hello'")
    type_text(browser, "x", "fr: x")
    browser.run("type('hello')")
    browser.wait(f"{OUTPUT} === 'fr: hello'")


TEXT_BOX = """
const at = id => document.getElementById(id).getBoundingClientRect();
return [at("text").height, at("mirror").height, document.getElementById("text").scrollHeight];
"""


@pytest.mark.browser
def test_a_long_text_is_seen_whole(page):
    answer(page, "line", "Zeile")
    page.run(TYPED, "line\n" * 60)
    page.wait(f"{OUTPUT} === 'Zeile\\n'.repeat(60)")
    height, mirror, needed = page.run(TEXT_BOX)
    assert height == mirror == needed > 1_000
    page.click("#clear")
    assert page.run(TEXT_BOX)[0] < 200


@pytest.mark.browser
def test_a_mark_of_a_text_from_right_to_left_lies_at_the_right(page):
    answer(page, "هذا كتاب", "a book", links=[[0, 0]], weights=[0.9])
    page.move("#output [data-at='0,0,0']")
    page.next_frame()
    script = """
        const mark = document.querySelector("#mirror .linked").getBoundingClientRect();
        const box = document.getElementById("text").getBoundingClientRect();
        return box.right - mark.right;
    """
    assert page.run(script) < 12


@pytest.mark.browser
def test_escape_ends_a_composition_and_clears_a_text_that_can_come_back(page):
    answer(page, "the dog", "der Hund")
    value = "return document.getElementById('text').value"
    page.run(
        "document.getElementById('text').dispatchEvent(new KeyboardEvent('keydown', "
        "{ key: 'Escape', isComposing: true }))"
    )
    assert page.run(value) == "the dog"
    page.type_into("#text", "Escape")
    assert page.run(value) == ""
    page.run("document.execCommand('undo')")
    assert page.run(value) == "the dog"


@pytest.mark.browser
def test_a_link_that_is_followed_in_the_open_page_changes_its_text(page):
    answer(page, "the dog", "der Hund")
    page.click("#share")
    assert "q=the+dog" in page.run("return location.hash")
    page.run("location.hash = '#source=en&target=de&q=the+cat'")
    value = "document.getElementById('text').value"
    page.wait(f"{value} === 'the cat'")
    page.run("history.back()")
    page.wait(f"{value} === 'the dog'")


@pytest.mark.browser
def test_an_unreachable_server_is_told_wherever_it_is_asked(page):
    answer(page, "the dog", "der Hund")
    page.run("window.fetch = async () => { throw new TypeError('Failed to fetch'); }")
    page.click("#output .word")
    page.wait(f"{STATUS} === 'The server cannot be reached.'")
    page.run("window.fetch = async () => new Response('<h1>', { status: 502 })")
    page.run(TYPED, "other")
    page.wait(f"{STATUS} === 'The server cannot be reached.'")
    page.run("window.fetch = async () => new Response('{}', { status: 503 })")
    page.run(TYPED, "another")
    page.wait(f"{STATUS} === 'HTTP 503'")


@pytest.mark.browser
def test_a_word_without_a_probability_names_none(page):
    answer(page, "the dog", "der Hund")
    assert page.run("return document.querySelector('#output .word').title") == ""


@pytest.mark.browser
def test_the_key_that_goes_back_in_the_browser_marks_no_word(page):
    answer(page, "the dog", "der Hund")
    script = """
        const key = { key: "ArrowLeft", altKey: true, cancelable: true };
        const event = new KeyboardEvent("keydown", key);
        return document.getElementById("output").dispatchEvent(event);
    """
    assert page.run(script)
