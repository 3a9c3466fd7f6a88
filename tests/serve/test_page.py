"""The server's page in a browser: it translates as one types, and asks nobody else."""

import json
import random
import threading

import pytest
from tests.inference.random_models import random_translator
from tests.serve.models import load_back, load_random, load_third
from tests.serve.running import running_server
from tests.serve.test_detection import FRENCH, GERMAN

pytestmark = pytest.mark.slow
EDIT = """
const [edits, seed, done] = arguments, text = document.getElementById("text");
let state = seed;
const draw = below => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) % below;
const parts = ["a", "the dog ", "cat.", " ", "\\n", "house", ". ", "é", "who runs"];
const edit = left => {
  const at = draw(text.value.length + 1), cut = text.value.length > 120 ? 60 : draw(4);
  text.setRangeText(parts[draw(parts.length)], at, Math.min(text.value.length, at + cut), "end");
  const inputType = draw(9) ? "insertText" : "insertFromPaste";
  text.dispatchEvent(new InputEvent("input", { inputType }));
  left > 1 ? setTimeout(edit, draw(20) ? 1 : 300, left - 1) : done();
};
edit(edits);
"""  # random edits: most at once, every twentieth after the page has begun to translate

LINE, OTHER = "the dog sees a cat.", "the old red house"
OUTPUT = "document.getElementById('output').textContent"
SETTLED = "!document.getElementById('output').classList.contains('late')"


def write(browser, text):
    """Type a text as a user does, key after key."""
    browser.type_into("#text", *text)


def wait_for(browser, text):
    browser.wait(f"{SETTLED} && {OUTPUT} === {json.dumps(text)}")


def test_what_is_typed_is_translated_and_typed_on(page):
    translator = random_translator()
    write(page, LINE)
    wait_for(page, translator(LINE))
    page.press("Enter", *OTHER)
    wait_for(page, f"{translator(LINE)}\n{translator(OTHER)}")
    page.press("Escape")
    wait_for(page, "")


def test_the_link_gives_the_same_text_again(page):
    write(page, OTHER)
    page.click("#share")
    link = page.run("return location.href")
    page.command("url", {"url": "about:blank"})
    page.command("url", {"url": link})
    wait_for(page, random_translator()(OTHER))


def test_the_language_is_detected_and_shown(browser):
    shown = "document.querySelector('#source option').textContent"
    with running_server(load_random, load_third, load_back) as client:
        browser.open(f"http://127.0.0.1:{client.port}/")
        browser.choose("#source", "auto")
        browser.choose("#target", "en")
        write(browser, GERMAN)
        wait_for(browser, load_back()(GERMAN))
        assert browser.run(f"return {shown}").startswith("detected: German (")
        assert browser.run("return document.getElementById('text').lang") == "de"
        browser.press("Escape")
        wait_for(browser, "")
        assert browser.run(f"return {shown}") == "detect language"
        write(browser, FRENCH)
        wait_for(browser, load_third()(FRENCH))
        assert browser.run("return document.getElementById('swap').disabled")
        browser.choose("#source", "fr")
        wait_for(browser, load_third()(FRENCH))
        title = "return document.getElementById('swap').title"
        assert browser.run(title) == "No model translates from English to French."
        browser.choose("#source", "de")
        wait_for(browser, load_back()(FRENCH))
        assert browser.run(title) == "Swap languages and texts"
        assert browser.run(f"return {shown}") == "detect language"
        assert browser.console() == []


def test_words_that_are_linked_light_up_on_both_sides(page):
    write(page, LINE)
    wait_for(page, random_translator()(LINE))
    alignment = random_translator().aligning().nbest(LINE, 1)[0].alignment
    assert alignment
    page.run("document.getElementById('output').focus()")
    page.press("ArrowRight")
    marked = "return [...document.querySelectorAll('#mirror .linked')].map(x => x.dataset.at)"
    expected = [f"0,0,{i}" for i, j in alignment.links if j == 0]
    assert page.run(marked) == expected
    page.move("#output .word")
    assert page.run(marked) == expected


def test_another_translation_is_chosen_at_a_word(page):
    write(page, LINE)
    wait_for(page, random_translator()(LINE))
    page.click("#output .word")
    page.wait("document.querySelectorAll('#list button').length > 1")
    listed = "[...document.querySelectorAll('#list button')].map(x => x.textContent)"
    texts = page.run(f"return {listed}")
    assert texts == [one.text for one in random_translator().nbest(LINE, 2)]
    page.click("#list li:nth-child(2) button")
    page.wait(f"{OUTPUT}.startsWith({texts[1]!r})")


def test_languages_are_swapped_with_the_texts(page):
    write(page, OTHER)
    found = random_translator()(OTHER)
    wait_for(page, found)
    page.click("#swap")
    wait_for(page, load_back()(found))
    assert page.run("return document.getElementById('text').value") == found
    left = page.run("return document.getElementById('left').textContent")
    assert left == f"{5_000 - len(found):,} characters left"


def test_look_inside_opens_the_attention_page(page):
    write(page, LINE)
    wait_for(page, random_translator()(LINE))
    page.click("#output .word")
    page.wait("document.getElementById('look')")
    before = page.call("GET", f"{page.session}/window/handles")
    page.click("#look")
    page.command("window", {"handle": await_window(page, before)})
    title = ""
    for _ in range(300):
        title = page.run("return document.title")
        if title:
            break
        threading.Event().wait(0.05)
    assert title == "Attention of random"
    page.call("DELETE", f"{page.session}/window")
    page.command("window", {"handle": before[0]})


def await_window(page, before):
    """Return the window that is opened."""
    for _ in range(300):
        new = set(page.call("GET", f"{page.session}/window/handles")) - set(before)
        if new:
            return new.pop()
        threading.Event().wait(0.05)
    raise AssertionError("no window was opened")


def test_hostile_text_is_text(page):
    text = "<img src=x>"
    write(page, text)
    wait_for(page, random_translator()(text))
    assert page.run("return document.images.length") == 0


def test_a_server_that_is_gone_is_said_and_what_it_refuses_too(browser):
    with running_server(api_key="sesame") as client:
        browser.command("url", {"url": f"http://127.0.0.1:{client.port}/"})
        status = "document.getElementById('status').textContent"
        write(browser, "a.")
        browser.wait(f"{status} === 'Invalid API key'")
        browser.run("document.getElementById('key').value = 'sesame'")
        write(browser, " b.")
        browser.wait(f"{SETTLED} && {OUTPUT} !== ''")
    write(browser, " c.")
    browser.wait(f"{status} === 'The server cannot be reached.'")
    browser.console()


def test_the_page_is_small_and_fits_a_telephone(page):
    page.resize(390, 800)
    width = page.run("return document.documentElement.scrollWidth")
    page.develop("Emulation.clearDeviceMetricsOverride")
    assert width <= 390


def test_after_a_thousand_edits_while_answers_come_in_any_order_the_text_is_right(page, client):
    page.run(
        """const ask = window.fetch;
        window.fetch = async (...given) => {
          const answer = await ask(given[0], { ...given[1], signal: undefined });
          await new Promise(done => setTimeout(done, 80 * Math.random()));
          return answer;
        };"""
    )
    rng = random.Random(1)
    for _ in range(10):
        page.command("execute/async", {"script": EDIT, "args": [100, rng.randrange(1 << 31)]})
        lines = page.run("return document.getElementById('text').value").split("\n")
        known = [line for line in lines if line.strip()]
        both = zip(known, client.translate(known).json["translatedText"], strict=True)
        found = dict(both)
        wait_for(page, "\n".join(found.get(line, line) for line in lines))


def test_an_answer_that_comes_late_never_overwrites_a_newer_one(page):
    page.run(
        """const ask = window.fetch; let first = true;
        window.fetch = async (...given) => {
          const late = first; first = false;
          const answer = await ask(given[0], { ...given[1], signal: undefined });
          if (late) await new Promise(done => setTimeout(done, 600));
          window.late = (window.late || 0) + 1;
          return answer;
        };"""
    )
    write(page, "a cat.")
    write(page, " who.")
    page.wait("window.late >= 2")
    wait_for(page, random_translator()("a cat. who."))


def test_a_text_that_no_model_takes_is_shown_as_such(browser):
    shown = "document.querySelector('#source option').textContent"
    text = "Der Hund ist heute nicht zu Hause."
    with running_server(load_random) as client:
        browser.open(f"http://127.0.0.1:{client.port}/")
        browser.choose("#source", "auto")
        write(browser, text)
        with pytest.warns(UserWarning, match="split at words"):
            translation = load_random()(text)
        wait_for(browser, translation)
        assert browser.run(f"return {shown}") == "reads like German, but is taken as English"
