"""The page of training curves by mouse, keys and link, on every screen, with hostile names."""

import json
import re

import pytest
from tests.view.curves.drawing import LEFT, RIGHT, SVG, drawing, link, values
from tests.view.curves.logs import loss, update, write_log

import transduce

pytestmark = pytest.mark.browser


def test_a_panel_is_read_and_moved_by_keys(opened):
    browser = opened()
    browser.run("document.querySelector('#panel-loss .plot').focus()")
    said = "document.activeElement.getAttribute('aria-valuetext')"
    for keys, step in (
        (("Home",), 0),
        (("ArrowRight",), 2),
        (("End",), 300),
        (("ArrowLeft",), 299),
    ):
        browser.press(*keys)
        browser.wait(f"{said}.startsWith('update {step};')")
    assert f"first: {loss(299):.3f}"[:12] in browser.run(f"return {said}")
    browser.press("Shift+ArrowLeft")
    browser.wait(f"{said}.startsWith('update 284;')")
    browser.press("+", "+")
    browser.wait("location.hash.includes('from=')")
    start, end = (float(n) for n in re.findall(r"(?:from|to)=([\d.]+)", link(browser)))
    assert end - start == pytest.approx(75)
    assert start < 284 < end
    browser.press("PageDown", "-", "0", "y", "l", "x", "2", "Escape")
    browser.wait("location.hash.includes('off=2')")
    assert link(browser) == "x=tokens&logx=1&logy=gradient,loss,perplexity&off=2"
    browser.press("?")
    assert browser.run("return document.getElementById('help-text').hidden") is False
    browser.press("d")
    assert browser.run("return document.documentElement.dataset.theme") in ("dark", "light")
    assert browser.run("return document.activeElement.matches('#panel-loss .plot')")


STATES = [
    "x=tokens&logx=1&smooth=4&from=1000&to=9000&at=2000",
    "x=seconds&logy=loss,score&at=12.5&off=1",
    "x=seconds&from=0.054347826&to=3&at=0.054347826",
]


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_a_link_that_leads_back_to_it(opened, state):
    browser = opened(state)
    browser.run("window.transduce.app.change({})")
    assert link(browser) == state


@pytest.mark.parametrize(
    "state",
    ["x=__proto__&smooth=1e9&off=-1,99,1e1&from=9&to=1", "at=NaN&logy=<b>&%E0%A4%A&&=="],
)
def test_a_link_that_is_none_is_harmless(opened, state):
    browser = opened(state)
    assert browser.run("return window.transduce.app.shown().length") == 2
    assert len(drawing(browser)) == 6


def test_the_mouse_reads_zooms_and_shows_all(opened):
    browser = opened()
    browser.move("#panel-loss .plot")
    browser.wait("location.hash.includes('at=')")
    (found,) = re.findall(r"at=([\d.]+)", link(browser))
    at = float(found)
    assert at == pytest.approx(300 * (600 - LEFT - 8) / (1200 - LEFT - RIGHT), abs=12)
    assert values(browser)[0][1] == f"{at:.0f}"
    down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
    places = [browser.to("#panel-loss .plot", x, 0) for x in (-100, 100)]
    browser.act([browser.mouse([places[0], down, places[1], up])])
    browser.wait("location.hash.includes('from=')")
    start, end = (float(n) for n in re.findall(r"(?:from|to)=([\d.]+)", link(browser)))
    assert end - start == pytest.approx(300 * 200 / 1108, rel=0.03)
    browser.click("#panel-loss .plot", times=2)
    browser.wait("!location.hash.includes('from=')")


def test_the_buttons_do_what_they_say(opened):
    browser = opened()
    for selector in ("#log-x", "#zoom-in", "#runs button:nth-child(2)", "#panel-loss .log"):
        browser.click(selector)
    assert "logx=1" in link(browser)
    assert "off=2" in link(browser)
    assert "from=" in link(browser)
    assert "loss" in link(browser)
    assert (
        browser.run("return document.querySelector('#runs button:nth-child(2)').ariaPressed")
        == "false"
    )
    assert len(values(browser)) == 1
    browser.click("#zoom-all")
    assert "from=" not in link(browser)
    browser.run(
        "const slider = document.getElementById('smooth'); slider.value = 3;"
        "slider.dispatchEvent(new Event('input'))"
    )
    assert "smooth=3" in link(browser)
    assert browser.run("return document.getElementById('smooth-text').value") == "over 20 updates"


def test_a_picture_of_the_page_can_be_saved(opened):
    browser = opened()
    browser.run(
        "window.saved = [];"
        "HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };"
    )
    for name in ("svg", "png", "csv"):
        browser.click(f"#save-{name}")
    browser.wait("window.saved.length === 3")
    assert sorted(browser.run("return window.saved")) == ["curves.csv", "curves.png", "curves.svg"]


def test_the_page_fits_every_screen_in_light_and_dark(opened):
    browser = opened()
    corner = """
    const context = document.createElement("canvas").getContext("2d");
    context.drawImage(document.querySelector("#panel-loss canvas"), 0, 0);
    return context.getImageData(2, 2, 1, 1).data[0];
    """
    for scheme, paper in (("dark", 13), ("light", 255)):
        browser.prefer(scheme)
        for width in (320, 390, 1440):
            browser.resize(width)
            browser.next_frame()
            assert browser.run("return document.documentElement.scrollWidth") == width
        assert browser.run(corner) == paper


def test_hostile_names_are_text(opened, tmp_path):
    name = '<img src=x onerror="window.stolen=1">'
    score = ("validation", {"step": 1, "nats": 1.0, "score": {"name": name, "value": 1.0}})
    transduce.curves(write_log(tmp_path / name, [update(1), score]), output=tmp_path / "a.html")
    browser = opened(file=tmp_path / "a.html")
    assert browser.run("return window.stolen || 0") == 0
    assert browser.run("return document.querySelector('#runs .name').textContent") == name
    assert drawing(browser)[2].find(f"{SVG}text").text.startswith(name)
    assert json.dumps(name)[1:-1] not in (tmp_path / "a.html").read_text()
