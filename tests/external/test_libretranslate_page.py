"""LibreTranslate's own page, as its package has it, works in a browser with our server."""

import json
import subprocess
import sys

import pytest
from tests.external.libretranslate_page import page_before
from tests.inference.random_models import random_translator
from tests.serve.models import load_back, load_random
from tests.serve.running import running_server
from tests.view.browser import open_browser

pytestmark = [pytest.mark.external, pytest.mark.browser]
LINES = [
    *("the dog sees a cat.", "a woman", "who runs now and not today", "the old red house"),
    *("a red cat", "the woman sees the house", "who sees a dog now", "not the old woman"),
]
GERMAN = "Der Hund ist da."
HTML = "<p>the old red house</p>"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The files of LibreTranslate's package, without those that it needs to run."""
    folder = tmp_path_factory.mktemp("libretranslate")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--target", folder, "libretranslate"], check=True)
    return folder / "libretranslate"


def wait_for(browser, text):
    app = "window._vueApp"
    browser.wait(
        f"{app} && !{app}.loadingTranslation && {app}.translatedText === {json.dumps(text)}"
    )


def write(browser, text):
    """Type a text in place of what is there."""
    browser.type_into("#textarea1", "Control+a", *text)


def test_the_page_translates_detects_and_swaps(package):
    translator, back = random_translator(), load_back()
    with (
        running_server(load_random, load_back) as server,
        page_before(package, server.port) as (address, calls),
        open_browser() as browser,
    ):
        browser.open(f"{address}?source=en&target=de&q=a%20red%20dog")
        wait_for(browser, translator("a red dog"))
        for line in [*LINES, *LINES[::-1], *(f"not {line}" for line in LINES)]:
            write(browser, line)
            wait_for(browser, translator(line))
        write(browser, HTML)
        wait_for(browser, HTML.replace(LINES[3], translator(LINES[3])))
        write(browser, LINES[1])
        wait_for(browser, translator(LINES[1]))
        browser.click(".btn-switch-language")
        wait_for(browser, back(translator(LINES[1])))
        for number, code in enumerate(("auto", "en")):
            browser.choose("select.browser-default", code, number)
        write(browser, GERMAN)
        wait_for(browser, back(GERMAN))
        detected = browser.run("return window._vueApp.detectedLangText")
        error = browser.run("return window._vueApp.error")
    assert error == ""
    assert detected.startswith(": German (")
    assert {call.status for call in calls} == {200}
    asked = [call for call in calls if call.path == "/translate"]
    assert {call.path for call in calls} == {"/frontend/settings", "/languages", "/translate"}
    assert len(asked) >= 3 * len(LINES)
    assert all(isinstance(call.answer["alternatives"], list) for call in asked)
