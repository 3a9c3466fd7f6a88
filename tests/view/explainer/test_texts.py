"""Row E17: the page's own words in English, in German, and in the language of a user's file."""

import json
import re

import pytest
from tests.view.explainer.opened import READY, change
from tests.view.explainer.samples import ODD, TEXT, make_translator

from transduce.errors import InputError
from transduce.view.explainer import explain as module
from transduce.view.explainer.explain import CORE, VIEWS, explain
from transduce.view.explainer.user_files import (
    PARTS,
    PICTURES,
    choose_page_texts,
    read_film,
    read_texts_file,
    read_tour,
)
from transduce.view.page.document import read_part, read_texts

GERMAN = read_texts("explainer")["de"]
WORD = re.compile(r"[A-Za-z]{2}")
STAGES = {"untrained", "early", "half-trained", "trained", "trained (mean of {0} snapshots)"}
# All texts that the page shows at a place, with those of attributes, and what the model names; one
# with a formula in it is a single text.
VISIBLE = """
const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
const found = [];
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const at = node.parentElement.closest("math")?.parentElement ?? node.parentElement;
  found.push(at.querySelector(":scope > math") ? at.textContent : node.data);
}
for (const name of ["title", "aria-label"])
  for (const one of document.querySelectorAll(`main [${name}]`)) found.push(one.getAttribute(name));
return found.map(text => text.replace(/\\s+/g, " ").trim());
"""


def used_texts():
    """Return the texts that markup, scripts and header use."""
    markup = re.sub(
        r"<kbd>[^<]*</kbd>|<option>\d</option>", "", read_part("explainer/explainer.html")
    )
    named = re.findall(r'(?:title|aria-label|placeholder)="([^"]+)"', markup)
    visible = re.findall(r">([^<>]+)<", markup)
    paths = [f"explainer/script/{name}.js" for name in (*CORE, *VIEWS)]
    calls = r'(?:gettext|reads)\(\s*"([^"]+)"'
    called = [text for path in paths for text in re.findall(calls, read_part(path))]
    tables = read_part("explainer/script/texts.js")
    called += re.findall(r'(?:title|plain|exact): "([^"]+)"', tables)
    called += re.findall(r'\["[a-z0-9{}.]+", "([^"]+)"\]', tables)
    said = ("title", "text", "then", "chapter")
    called += [step[name] for step in read_tour(None) for name in said if name in step]
    called += [text for step in read_tour(None) for text in step.get("instead", {}).values()]
    notes = re.findall(r'"((?:This model|Not all)[^"]+)"', read_part("explainer/explain.py"))
    assert len(notes) == len(set(notes)), module.list_notes
    called += [text for line in read_film(None) for text in (line.text, line.goal)]
    called += [*PARTS, *PICTURES.values()]
    texts = {" ".join(text.split()) for text in (*named, *visible, *called, *notes)}
    return {text for text in texts | STAGES if WORD.search(text)} - {"SVG", "PNG"}


def written(folder, texts, name="fr.json"):
    path = folder / name
    path.write_text(json.dumps(texts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def translator():
    return make_translator(ODD)


def test_german_has_every_text_of_the_page_and_no_other():
    assert {text for text in GERMAN if WORD.search(text)} == used_texts()
    for text, german in GERMAN.items():
        assert german.strip()
        places = [sorted(re.findall(r"\{\w\}", one)) for one in (text, german)]
        assert set(places[0]) == set(places[1]), text


def test_a_page_has_both_languages_or_the_one_that_is_asked_for(tmp_path):
    assert choose_page_texts("", None) == ("", {"de": GERMAN})
    assert choose_page_texts("en", None) == ("en", {})
    assert choose_page_texts("de", None) == ("de", {"de": GERMAN})
    file = written(tmp_path, GERMAN)
    assert choose_page_texts("", file) == ("fr", {"fr": GERMAN})
    with pytest.raises(InputError, match="exclude each other"):
        choose_page_texts("de", file)


def test_an_unknown_language_is_refused_with_those_known():
    with pytest.raises(InputError, match="no language 'fr'") as refused:
        choose_page_texts("fr", None)
    assert "known: en, de" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Keys": None}, r"fr\.json: lacks 'Keys'$"),
        ({"Keys": " "}, r"lacks 'Keys'$"),
        (dict.fromkeys(("Keys", "Head", "Layer", "Beam")), r"lacks '.*' and 1 more$"),
        ({"Keyz": "x"}, r"has unknown 'Keyz'$"),
        ({"It is {0}.": "C'est"}, r"leaves out a value of 'It is \{0\}\.'$"),
    ],
)
def test_a_file_with_missing_or_unknown_texts_is_refused_by_their_names(tmp_path, changes, message):
    texts = {key: value for key, value in (GERMAN | changes).items() if value is not None}
    with pytest.raises(InputError) as refused:
        read_texts_file(written(tmp_path, texts), GERMAN)
    assert re.search(message, refused.value.fact)
    assert "de.json has each text of the page" in refused.value.hint


@pytest.mark.parametrize("content", ["[]", "{", '{"a": 1}', '{"a": "b", "a": "c"}'])
def test_what_is_no_file_of_texts_is_refused(tmp_path, content):
    path = tmp_path / "fr.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="has no texts of the page"):
        read_texts_file(path, GERMAN)


def test_the_files_name_is_the_language(tmp_path):
    with pytest.raises(InputError, match="no code of a language"):
        read_texts_file(written(tmp_path, GERMAN, "my texts.json"), GERMAN)
    with pytest.raises(InputError, match="no code of a language"):
        read_texts_file(written(tmp_path, GERMAN, "nl-v2.json"), GERMAN)


def open_everything(browser):
    """Show every station, a number, switches, questions; return all texts that were visible."""
    found = set[str]()
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    cells = ["encoder.1.self.q:1:0", "encoder.1.self.weights.1:1:0", "logits:0:5", ""]
    for number, panel in enumerate(browser.run("return transduce.PANELS.map(one => one.id)")):
        off = ["decoder.1.cross.1", "encoder.2.ff.residual"] if number % 3 == 2 else []
        cell = cells[number % len(cells)]
        change(browser, panel=panel, target=1, source=1, off=off, cell=cell, tour=number + 1)
        found |= set(browser.run(VISIBLE))
    browser.run("document.getElementById('guess-first').click()")
    for panel in ("pieces", "cross", "beam"):
        change(browser, panel=panel, tour=0)
        browser.run("document.getElementById('guess-show').click()")
        browser.wait("document.getElementById('guess-told').textContent")
        found |= set(browser.run(VISIBLE))
    return found


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_in_another_language_shows_no_english(browser, translator, tmp_path):
    """Each text of the file begins with a mark, so that what has none was not looked up."""
    file = written(tmp_path, {text: f"§{text}" for text in GERMAN}, "fr.json")
    browser.open_text(explain(translator, TEXT, page_texts=file).page)
    browser.wait(READY)
    language = "const { lang, dir } = document.documentElement; return [lang, dir]"
    assert browser.run(language) == ["fr", "ltr"]
    assert browser.run("return document.title").startswith("§How the model “random” translates")
    visible = open_everything(browser)
    said = {browser.run("return document.getElementById('translation').textContent"), TEXT}
    for text in visible - said:
        is_english = text in used_texts() or re.search(r"[a-z]{3,} [a-z]{3,}", text)
        assert "§" in text or not is_english, text
    assert len([text for text in visible if "§" in text]) > 150
    assert browser.console() == []


@pytest.mark.slow
@pytest.mark.browser
def test_a_right_to_left_language_turns_the_page(browser, translator, tmp_path):
    file = written(tmp_path, GERMAN, "ar.json")
    browser.open_text(explain(translator, TEXT, page_texts=file).page)
    browser.wait(READY)
    assert browser.run("return document.documentElement.dir") == "rtl"
    for width in (320, 390, 1440):
        browser.resize(width)
        for panel in browser.run("return transduce.PANELS.map(one => one.id)"):
            change(browser, panel=panel)
            assert browser.run("return document.documentElement.scrollWidth") <= width, panel


def test_a_link_of_a_tour_that_names_no_place_on_the_page_is_refused(tmp_path):
    (tmp_path / "tour").write_text('[{"title": "One", "text": "a", "link": "javascript:alert(1)"}]')
    with pytest.raises(InputError, match="the link of step 1 has no #, and names no place"):
        read_tour(tmp_path / "tour")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("reads", "fixed", "visible"),
    [("de-AT", "", "Übersetzen"), ("fr", "", "Translate"), ("en-GB", "de", "Übersetzen")],
)
def test_the_browser_chooses_unless_a_language_is_fixed(browser, translator, reads, fixed, visible):
    agent = browser.run("return navigator.userAgent")
    browser.develop("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=reads)
    browser.open_text(explain(translator, TEXT, language=fixed).page)
    browser.wait(READY)
    browser.develop("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage="en-GB")
    assert browser.run("return document.querySelector('#ask button').textContent") == visible
    expected = "de" if visible != "Translate" else "en"
    assert browser.run("return document.documentElement.lang") == expected
    change(browser, panel="beam")
    score = browser.run("return document.querySelector('#boxes .bar').textContent")
    assert re.search(r"Bewertung −\d+,\d+" if expected == "de" else r"score −\d+\.\d+", score)
    assert browser.console() == []
    assert browser.requests() == []


@pytest.mark.parametrize("read", [read_tour, read_film])
def test_an_entry_that_is_no_object_is_shown_as_it_was_written(tmp_path, read):
    (tmp_path / "a.json").write_text("[[]]")
    with pytest.raises(InputError, match=r"a.json: is no (tour|film): \[\] is no JSON object"):
        read(tmp_path / "a.json")
