"""The server's page in a browser: its languages, sizes and history; keys, tabs, long texts."""

import json
from time import sleep

import pytest
from tests.inference.random_models import random_translator
from tests.serve.models import load_back
from tests.serve.running import running_server
from tests.serve.test_page import LINE, OTHER, await_window, wait_for, write

pytestmark = pytest.mark.slow
ARABIC = "هذا الكتاب"
PAST = "[...document.querySelectorAll('#past-list button')].map(x => x.textContent)"


def prefer_language(browser, code):
    """Say that the user reads a language."""
    agent = browser.run("return navigator.userAgent")
    browser.develop("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=code)


def test_a_german_user_has_a_german_page(page, client):
    prefer_language(page, "de-AT")
    page.open(f"http://127.0.0.1:{client.port}/")
    write(page, OTHER)
    wait_for(page, random_translator()(OTHER))
    texts = page.run(
        """return [document.documentElement.lang, document.querySelector("h1").textContent,
        document.getElementById("source").selectedOptions[0].textContent,
        document.getElementById("target").selectedOptions[0].textContent,
        document.getElementById("left").textContent, document.getElementById("swap").title]"""
    )
    left = f"noch {5_000 - len(OTHER):,} Zeichen".replace(",", ".")
    title = "Sprachen und Texte tauschen"
    assert texts == ["de", "Übersetzen", "Englisch", "Deutsch", left, title]
    prefer_language(page, "en-GB")


def test_texts_are_larger_and_smaller_again(page):
    sizes = []
    for _ in range(5):
        style = "getComputedStyle(document.getElementById('text')).fontSize"
        sizes.append(float(page.run(f"return {style}").removesuffix("px")))
        page.click("#size")
    assert sizes[0] < sizes[1] < sizes[2] > sizes[3]
    assert sizes[4] == sizes[0]


def test_texts_are_kept_only_if_it_is_wanted_and_only_until_the_page_is_left(page, client):
    translator = random_translator()
    write(page, OTHER)
    wait_for(page, translator(OTHER))
    page.press("Escape")
    assert page.run("return document.getElementById('past').hidden")
    page.click("#keep")
    for line in (LINE, OTHER):
        write(page, line)
        wait_for(page, translator(line))
        page.press("Escape")
        wait_for(page, "")
    assert page.run(f"return {PAST}") == [OTHER, LINE]
    page.click("#past-list li:nth-child(2) button")
    wait_for(page, translator(LINE))
    assert page.run("return document.getElementById('text').value") == LINE
    assert page.run(f"return {PAST}") == [LINE, OTHER]
    stored = "[localStorage.length, sessionStorage.length, document.cookie]"
    assert page.run(f"return {stored}") == [0, 0, ""]
    page.click("#keep")
    assert page.run("return document.getElementById('past').hidden")
    page.open(f"http://127.0.0.1:{client.port}/")
    assert page.run(f"return {PAST}") == []


def test_what_is_typed_at_ten_keys_a_second_is_translated_at_the_end(page):
    page.run("document.getElementById('text').focus()")
    for key in OTHER:
        page.press(key)
        sleep(0.1)
    wait_for(page, random_translator()(OTHER))


@pytest.mark.filterwarnings("ignore:.*its translation lacks")  # the model is random
def test_a_text_of_five_thousand_characters_is_translated_and_a_longer_one_is_refused(page):
    lines = [f"{OTHER} {n}" for n in range(300)]
    text = "\n".join(lines)[:5_000]
    page.run(
        """const text = document.getElementById("text");
        text.focus();
        document.execCommand("insertText", false, arguments[0]);""",
        text,
    )
    translator = random_translator()
    wait_for(page, "\n".join(translator(line) for line in text.split("\n")))
    assert page.run("return document.getElementById('left').textContent").startswith("0 ")
    page.run("document.execCommand('insertText', false, 'more')")
    page.wait("document.getElementById('status').textContent.includes('has 5,004 characters')")


def test_a_text_from_right_to_left_is_shown_so(page):
    write(page, ARABIC)
    wait_for(page, random_translator()(ARABIC))
    assert page.run("return document.getElementById('text').matches(':dir(rtl)')")


def test_everything_is_reached_with_keys_alone(page):
    write(page, LINE)
    wait_for(page, random_translator()(LINE))
    here = "document.activeElement.id"
    for _ in range(12):
        page.press("Tab")
        if page.run(f"return {here}") == "output":
            break
    page.press("ArrowRight", "Enter")
    page.wait("document.querySelectorAll('#list button').length > 1")
    other = page.run("return document.querySelector('#list li:nth-child(2) button').textContent")
    for _ in range(12):
        page.press("Tab")
        if page.run("return document.activeElement.textContent") == other:
            break
    page.press("Enter")
    page.wait(f"document.getElementById('output').textContent.startsWith({json.dumps(other)})")


def test_a_server_that_comes_back_is_used_again(browser):
    with running_server() as client:
        browser.command("url", {"url": f"http://127.0.0.1:{client.port}/"})
        write(browser, "a.")
        wait_for(browser, random_translator()("a."))
    write(browser, " b.")
    browser.wait("document.getElementById('status').textContent.includes('reached')")
    with running_server(port=client.port):
        write(browser, " c.")
        wait_for(browser, random_translator()("a. b. c."))
    browser.console()


def test_two_tabs_have_a_text_each(page, client):
    first = page.call("GET", f"{page.session}/window/handles")
    page.run("window.open(arguments[0])", f"http://127.0.0.1:{client.port}/")
    second = await_window(page, first)
    write(page, LINE)
    page.command("window", {"handle": second})
    page.wait("document.getElementById('text')")
    page.choose("#source", "de")
    write(page, OTHER)
    wait_for(page, load_back()(OTHER))
    page.call("DELETE", f"{page.session}/window")
    page.command("window", {"handle": first[0]})
    wait_for(page, random_translator()(LINE))
