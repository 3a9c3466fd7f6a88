"""The page of training curves by mouse, keys and link, on every screen, with hostile names."""

import csv
import io
import json
import re

import pytest
from tests.view.curves.drawing import (
    LEFT,
    RIGHT,
    SVG,
    drawing,
    link,
    read_across,
    values,
)
from tests.view.curves.logs import loss, update, validation, write_log

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


@pytest.mark.parametrize(
    ("state", "factor"),
    [
        ("logx=1", 2),
        ("logx=1&from=0&to=100", 1),
        ("from=9000000000000000&to=9000000000000004", 1),
    ],
)
def test_however_far_one_zooms_the_page_has_axes_and_can_zoom_back(opened, state, factor):
    browser = opened(state)
    browser.run("for (let n = 0; n < 99; n++) transduce.app.zoomBy(arguments[0])", factor)
    browser.next_frame()
    for panel in drawing(browser):
        paths = [path.get("d") for path in panel.iter(f"{SVG}path")]
        assert not re.search("NaN|Infinity", " ".join(paths))
    browser.run("transduce.app.zoom(100, 200)")
    browser.next_frame()
    assert "150" in read_across(drawing(browser)[0])


def test_scores_that_differ_in_their_last_bit_are_drawn(opened, tmp_path):
    scored = [validation(2, 1.0, 100.0), validation(4, 1.0, 100.00000000000001)]
    run = write_log(tmp_path / "run", [*map(update, range(1, 6)), *scored])
    transduce.curves(run, output=tmp_path / "a.html")
    assert len(drawing(opened(file=tmp_path / "a.html"))) == 6


@pytest.mark.parametrize("axis", ["step", "tokens", "seconds"])
@pytest.mark.parametrize("logx", ["0", "1"])
def test_labels_of_x_differ_in_a_narrow_range(opened, axis, logx):
    browser = opened(f"x={axis}&logx={logx}&from=1100000&to=1100100")
    labels = read_across(drawing(browser)[0])
    assert len(labels) > 2
    assert len(set(labels)) == len(labels)


def test_the_point_moves_in_a_page_whose_address_may_not_change(opened):
    browser = opened()
    browser.run("history.replaceState = () => { throw new DOMException('', 'SecurityError'); }")
    before = values(browser)
    browser.move("#panel-loss .plot")
    browser.next_frame()
    assert values(browser) != before
    browser.click("#log-x")
    browser.wait("transduce.app.state.logX")


def test_a_link_that_the_browser_refused_is_put_into_the_address_later(opened):
    """Safari refuses a hundred and first change within ten seconds."""
    browser = opened()
    browser.run("history.replaceState = () => { throw new DOMException('', 'SecurityError'); }")
    browser.run("const wait = setTimeout; window.setTimeout = (act, _, link) => wait(act, 9, link)")
    browser.click("#log-x")
    browser.wait("transduce.app.state.logX")
    assert link(browser) == ""
    browser.run("delete history.replaceState")
    browser.wait("location.hash === '#logx=1'")


def test_a_link_that_is_followed_in_an_open_page_changes_it(opened):
    browser = opened("smooth=2")
    browser.run("location.hash = 'x=tokens&logx=1&off=1'")
    browser.wait("transduce.app.state.axis === 'tokens'")
    browser.next_frame()
    assert link(browser) == "x=tokens&logx=1&off=1"
    assert browser.run("return document.getElementById('smooth').value") == "0"
    assert len(values(browser)) == 1


def test_numbers_of_a_german_page_have_one_decimal_sign(opened, tmp_path):
    events = [update(step, learning_rate=0.00005123) for step in range(1, 7)]
    transduce.curves(write_log(tmp_path / "run", events), output=tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text("utf-8")
    begin = '{"language":"'
    assert text.count(f'{begin}","texts"') == 1
    german = tmp_path / "german.html"
    german.write_text(text.replace(f'{begin}","texts"', f'{begin}de","texts"'), "utf-8")
    browser = opened("x=seconds&from=0.5&to=1.5&at=1.25", file=german)
    shown = browser.run("return document.body.innerText") + str(read_across(drawing(browser)[0]))
    assert {"5,123e-5", "1,2"} <= set(re.findall(r"\d,\d+(?:e-\d)?", shown))
    assert re.findall(r"\d\.\d", shown) == []


def test_csv_has_the_validations_of_the_range_that_is_shown(opened):
    browser = opened("from=150&to=250")
    rows = list(csv.DictReader(io.StringIO(browser.run("return transduce.writeCsv()"))))
    assert [one["step"] for one in rows if one["kind"] == "validation"] == ["200"]
    assert {int(one["step"]) for one in rows} == {*range(150, 251)}
