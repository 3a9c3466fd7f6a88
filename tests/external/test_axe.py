"""axe-core objects to nothing in any page: light and dark, wide and narrow, both directions.

It comes from the npm registry, so that this test is not one of the fast ones.
"""

import json
import shutil
import subprocess
import tarfile
from dataclasses import asdict

import pytest
from tests.serve.running import running_server
from tests.view.attention.samples import make_view
from tests.view.browser import open_browser
from tests.view.curves.logs import update, validation, write_log
from tests.view.explainer.samples import ODD, TEXT, make_translator

import transduce
from transduce.view.attention.page import build_attention_page
from transduce.view.attention.record import ModelName
from transduce.view.attention.survey.survey import (
    HeadSurvey,
    SurveyedHead,
    build_survey_page,
)
from transduce.view.explainer.explain import build_explainer, explain
from transduce.view.explainer.user_files import read_film, read_tour
from transduce.view.explainer.weights import Stage
from transduce.view.page.document import read_texts

pytestmark = [pytest.mark.external, pytest.mark.browser]
AXE = "axe-core@4.11.0"
CHECK = """
const done = arguments[0];
axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => done(violations.map(
  ({ id, nodes }) => `${id} ${nodes.length}: ${nodes[0].html.slice(0, 150)}`)));
"""
SCREENS = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
ARABIC = ["هذا", "الكتاب", "الجديد", "على", "الطاولة"]
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true;"


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The script of axe-core, unpacked from its package."""
    folder = tmp_path_factory.mktemp("axe")
    if not shutil.which("npm"):
        pytest.skip("skipped: npm is not here")
    subprocess.run(["npm", "pack", AXE, "--silent"], cwd=folder, check=True, capture_output=True)
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as package:
        script = package.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode("utf-8")


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        opened.command("timeouts", {"script": 300_000})  # axe takes its time on a busy machine
        opened.connection.sock.settimeout(310)
        yield opened


@pytest.fixture
def check(axe, browser):
    """Return a function that opens a page at a link and returns what axe objects to."""

    def run(page, link, ready, script=""):
        found = dict[tuple[str, int, str], list[str]]()
        for width, scheme in SCREENS:
            browser.resize(width)
            browser.prefer(scheme)
            browser.open(page, link)
            browser.wait(ready)
            browser.run(script)
            browser.next_frame()
            browser.wait(ready)
            browser.run(axe)
            objections = browser.command("execute/async", {"script": CHECK, "args": []})
            found |= {(link, width, scheme): objections} if objections else {}
        return found

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.mark.parametrize(
    "link", ["k=enc&q=3", "v=rows&q=3", "v=matrix&q=2&r=3", "v=grid", "v=align&q=2&o=2"]
)
@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_attention_page(check, folder, link, direction):
    page = folder / f"attention-{direction}.html"
    view = make_view(*(() if direction == "ltr" else (ARABIC, ["the", "book"])), layers=2)
    page.write_text(build_attention_page(view), encoding="utf-8")
    assert check(page, link, "transduce.page.ready === transduce.page.turn") == {}


@pytest.fixture(scope="module")
def explainer(folder):
    page = folder / "explainer.html"
    page.write_text(explain(make_translator(ODD), TEXT).page, encoding="utf-8")
    return page


@pytest.mark.parametrize(
    "link",
    [
        *("p=pieces", "p=input&t=3", "p=attention&c=encoder.1.self.scores.1:2:1", "p=norm"),
        *("p=forward", "p=target", "p=masked", "p=cross&x=decoder.1.cross.2", "p=decoder"),
        *("p=softmax&o=2", "p=beam&n=2", "p=smoothing&o=1&y=0.4", "p=rate&w=200"),
    ],
)
def test_the_explainer(check, explainer, link):
    ready = "window.transduce && transduce.page.ready && transduce.page.checked !== undefined"
    assert check(explainer, link, ready, OPEN_ALL) == {}


@pytest.mark.parametrize("link", ["p=smoothing&t=2", "p=cross&x=decoder.1.cross.2"])
def test_the_explainer_in_a_right_to_left_language(check, folder, link):
    page, texts = folder / "arabic.html", folder / "ar.json"
    texts.write_text(json.dumps(read_texts("explainer")["de"]), encoding="utf-8")
    page.write_text(explain(make_translator(ODD), TEXT, page_texts=texts).page, encoding="utf-8")
    ready = "window.transduce && transduce.page.ready"
    assert check(page, link, ready, OPEN_ALL) == {}


@pytest.mark.parametrize("answer", ["", "document.getElementById('guess-show').click();"])
def test_the_questions_of_the_explainer(check, explainer, answer):
    ready = "window.transduce && transduce.page.ready"
    ask = f"document.getElementById('guess-first').click(); {answer}"
    assert check(explainer, "p=attention&q=1", ready, ask) == {}


def test_the_stages_of_the_explainer_and_its_help(check, folder):
    translator, page = make_translator(ODD), folder / "run.html"
    weights = translator.models[0].named_weights()
    stages = [Stage("untrained", 0, weights), Stage("trained", 10, weights)]
    film = [asdict(line) for line in read_film(None)]
    more = {"film": film, "tour": read_tour(None), "curve": [[1, 5.0], [10, 1.0]]}
    found = build_explainer(translator, [TEXT], stages, more, "float16")
    page.write_text(found.page, encoding="utf-8")
    ready = "window.transduce && transduce.page.ready"
    assert check(page, "m=1", ready, "document.getElementById('help').showModal()") == {}
    assert check(page, "m=0", ready) == {}


def test_the_survey(check, folder):
    heads = [
        SurveyedHead(kind, layer, head, "next", 0.5, 1.2, 3.0, 0.4 * (kind == "cross"), 0.1 * head)
        for kind in ("encoder", "decoder", "cross")
        for layer in (1, 2)
        for head in (1, 2, 3)
    ]
    model = ModelName("made-up", "0" * 64, 2, 3)
    survey = HeadSurvey(model, "translation", 9, 99, 1.5, "gold", tuple(heads))
    page = folder / "survey.html"
    page.write_text(build_survey_page(survey), encoding="utf-8")
    ready = "document.querySelectorAll('#rows tr').length > 18"
    assert check(page, "", ready, "document.querySelectorAll('#rows button')[8].click()") == {}


TEXT_LINK = "source=en&target=de&q=the+dog+sees+a+cat.%0Aa+woman"
WORD = "document.querySelector('#output .word')"
ARROW = """document.getElementById('output')
  .dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));"""
OTHERS = "document.querySelectorAll('#list button').length > 1"


@pytest.mark.parametrize(
    ("link", "ready", "script"),
    [
        ("", "document.title", "document.getElementById('key-label').hidden = false;"),
        (TEXT_LINK, WORD, f"document.getElementById('sure').click(); {ARROW}"),
        (TEXT_LINK, f"{WORD} && (!window.asked || {OTHERS})", f"window.asked = 1; {WORD}.click();"),
    ],
)
def test_the_page_of_the_server(check, link, ready, script):
    with running_server() as server:
        assert check(f"http://127.0.0.1:{server.port}/", link, ready, script) == {}


@pytest.mark.parametrize("link", ["", "at=40&x=tokens&smooth=3", "from=10&to=90&logx=1&off=2"])
def test_the_page_of_curves(check, folder, link):
    runs = [
        write_log(folder / link.replace("&", "-") / name, [update(n) for n in range(1, 101)])
        for name in ("first", "second")
    ]
    write_log(runs[0], [validation(100, 2.0, 9.0)])
    transduce.curves(*runs, output=folder / "curves.html")
    ready = "window.transduce && transduce.app.frames > 0"
    script = f"{OPEN_ALL} document.getElementById('help').click();"
    assert check(folder / "curves.html", link, ready, script) == {}
