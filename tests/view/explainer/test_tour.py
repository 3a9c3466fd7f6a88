"""The tour of the explainer: one of a user's own, and in print."""

import base64
import re

import pytest
from tests.view.explainer.opened import READY, change, open_explainer, text_of
from tests.view.explainer.samples import ODD, SHAPES, TEXT, make_translator

from transduce.view.explainer.explain import explain
from transduce.view.explainer.user_files import read_tour

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def translator():
    return make_translator(ODD)


@pytest.mark.slow
def test_a_tour_of_ones_own_takes_the_place_of_the_pages(browser, translator, tmp_path):
    file = tmp_path / "tour.json"
    file.write_text(
        '[{"title": "One", "text": "<b>Look</b>", "link": "explainer.html#p=cross&l=2&h=3&t=1"},'
        ' {"title": "Two", "text": "off", "link": "#p=beam&x=mask&s=a%20dog"}]'
    )
    browser.open_text(explain(translator, TEXT, tour=file).page)
    browser.wait(READY)
    show = """
        const [number, done] = arguments, { state, goToTour } = transduce;
        goToTour(number).then(() => {
          const { panel, layer, head, off, text } = state();
          const said = ["title", "text"].map((id) => document.getElementById(`tour-${id}`));
          done([...said.map((one) => one.textContent), panel, layer, head, off, text]);
        });
    """
    found = [browser.command("execute/async", {"script": show, "args": [n]}) for n in (1, 2)]
    assert found[0] == ["1 of 2: One", "<b>Look</b>", "cross", 2, 3, [], TEXT]
    assert found[1] == ["2 of 2: Two", "off", "beam", 1, 1, ["mask"], "a dog"]
    browser.run("location.hash = '#t=1'")
    browser.wait("transduce.page.ready && transduce.state().panel === 'cross'")
    browser.run("location.hash = '#t=1&p=pieces'")
    browser.wait("transduce.page.ready && transduce.state().panel === 'pieces'")
    assert browser.run("return transduce.writeHash(transduce.state())") == "#p=pieces&t=1"
    assert browser.run("return document.getElementById('tour-chapter').hidden")
    assert browser.console() == []


@pytest.mark.slow
def test_the_tour_is_printed_with_a_page_for_each_step(browser, translator):
    open_explainer(browser, translator, TEXT)
    change(browser, panel="cross", layer=2)
    browser.run(
        """
        const slides = document.getElementById("slides");
        window.print = () => { window.printed = [...slides.children]; };
        document.getElementById("tour-print").click();
        """
    )
    browser.wait("window.printed && transduce.page.ready")
    count = browser.run("return transduce.TOUR.length")
    assert browser.run("return [transduce.state().panel, transduce.state().layer]") == ["cross", 2]
    assert browser.run("return document.querySelectorAll('.slide').length") == 0
    slides = browser.run(
        """
        document.getElementById("slides").replaceChildren(...window.printed);
        const count = one => one.querySelectorAll("svg, table").length;
        return window.printed.map(one => [one.querySelector("h2").textContent, count(one)]);
        """
    )
    assert [int(title.split(" of ")[0]) for title, _ in slides] == [*range(1, count + 1)]
    assert all(pictures for _, pictures in slides)
    a4 = {"width": 21.0, "height": 29.7}
    printed = base64.b64decode(browser.command("print", {"page": a4}))
    assert len(re.findall(rb"/Type */Page\b", printed)) == count
    assert browser.console() == []


def test_after_the_tour_is_printed_ones_own_sentence_comes_back(browser, translator):
    open_explainer(browser, translator, TEXT)
    change(browser, text="a dog", tour=1)
    browser.run("transduce.header.experiments.positions.text = 'the red house'")
    go_to(browser, "What if: no positions")
    assert browser.run("return transduce.state().text") == "the red house"
    browser.run("window.print = () => { window.printed = true; }")
    browser.run("document.getElementById('tour-print').click()")
    browser.wait("window.printed && transduce.page.ready")
    browser.run("transduce.goToTour(0)")
    browser.wait(READY)
    assert browser.run("return transduce.state().text") == "a dog"


# The targets of the step, the station's sentence, and the part of the window that nothing covers.
PLACE = """
const box = element => element.getBoundingClientRect();
const sheet = document.getElementById("tour"), here = document.getElementById("here");
const isSheet = getComputedStyle(sheet).position === "fixed";
const targets = [...document.querySelectorAll(".focus")].map(box), sentence = box(plain);
const of = (choose, side) => choose(...targets.map(one => one[side]));
return { title: document.getElementById("tour-title").textContent,
  top: of(Math.min, "top"), bottom: of(Math.max, "bottom"),
  left: of(Math.min, "left"), right: of(Math.max, "right"),
  above: isSheet ? box(here).bottom : 0, below: isSheet ? box(sheet).top : innerHeight,
  begin: sentence.top, end: sentence.bottom, width: document.documentElement.clientWidth };
"""


def require_in_sight(browser, steps):
    """Assert for steps of the tour that target and station's sentence lie inside the window."""
    for step in steps:
        script = "transduce.goToTour(arguments[0]).then(arguments[1])"
        browser.command("execute/async", {"script": script, "args": [step]})
        browser.wait(READY)
        place = browser.run(PLACE)
        assert place["above"] - 1 <= place["begin"] < place["end"] <= place["top"] + 1, place
        assert place["top"] < place["bottom"] <= place["below"] + 1, place
        assert 0 <= place["left"] < place["right"] <= place["width"] + 1, place


@pytest.mark.slow
@pytest.mark.parametrize(
    "size",
    [(390, 844), (390, 664), (1280, 800), (1600, 950), (640, 400), (800, 475)],
    ids=["390", "390 with bars", "1280", "1600", "1280 at 200 %", "1600 at 200 %"],
)
def test_in_each_step_target_and_sentence_lie_inside_the_window(browser, translator, size):
    browser.resize(*size)
    open_explainer(browser, translator, TEXT)
    require_in_sight(browser, range(1, browser.run("return transduce.TOUR.length") + 1))
    browser.resize(1200, 900)


@pytest.mark.slow
def test_a_far_picture_the_beam_and_a_slider_stand_below_the_stations_sentence(browser, translator):
    browser.resize(390, 844)
    open_explainer(browser, translator, TEXT)
    spoken = ("'largest':'encoder.{l}.self.weights.1'", "'step':2", "#boxes .done", "#slide")
    tour = browser.run("return transduce.TOUR.map(([one]) => JSON.stringify(one))")
    steps = [i for i, one in enumerate(tour, 1) if any(x.replace("'", '"') in one for x in spoken)]
    require_in_sight(browser, steps)
    browser.resize(1200, 900)


RECTANGLES = "return [...arguments].map(one => document.querySelector(one).getBoundingClientRect())"


def go_to(browser, title):
    """Go to the step of the tour that has a title, and wait until it is shown."""
    step = "return 1 + transduce.TOUR.findIndex(one => one[1] === arguments[0])"
    script = "transduce.goToTour(arguments[0]).then(arguments[1])"
    browser.command("execute/async", {"script": script, "args": [browser.run(step, title)]})
    browser.wait(READY)


@pytest.mark.parametrize(
    ("title", "spoken_of"),
    [
        ("Queries, keys, values", [f"#boxes [data-name$='.{x}'] svg" for x in "qkv"]),
        ("The beam, first step", [".tree", "#boxes tr.live", "#boxes tbody tr:last-child"]),
        ("What training aims at", [".share.aim", ".pair .share + .share"]),
        ("The floor", ["#slider", ".chart"]),
    ],
)
def test_on_a_phone_the_sheet_covers_nothing_that_its_text_speaks_of(
    browser, translator, title, spoken_of
):
    browser.resize(390, 844)
    open_explainer(browser, translator, TEXT)
    go_to(browser, title)
    sheet, *boxes = browser.run(RECTANGLES, "#tour", *spoken_of)
    for box in boxes:
        assert box["top"] < box["bottom"] <= sheet["top"]
        assert box["right"] <= 390
    browser.resize(1200, 900)


def test_the_framed_query_is_in_the_picture_and_on_a_phone_its_sum_stands_below(
    browser, translator
):
    browser.resize(390, 844)
    open_explainer(browser, translator, TEXT)
    go_to(browser, "Queries, keys, values")
    framed, values, cell, other = browser.run(
        RECTANGLES,
        *(".box:has(.picked)", ".box[data-name$='.v']", "#cell", ".box[data-name*='.scores']"),
    )
    assert framed["bottom"] < values["top"] < values["bottom"] < cell["top"]
    assert cell["bottom"] < other["top"]
    column = browser.run("return Number(transduce.state().cell.split(':')[2])")
    assert "head 1, query: row" in text_of(browser, "#cell-title")
    assert f"column {column + 1}:" in text_of(browser, "#cell-title")
    browser.resize(1200, 900)


# What the sticky heading and the sheet leave of each box's title that the step speaks of, and the
# controls that are covered although they have the focus.
COVERED = """
const isSeen = one => {
  const { left, right, top, bottom } = one.getBoundingClientRect(), x = (left + right) / 2;
  return [top + 2, bottom - 2].every(y => one.contains(document.elementFromPoint(x, y)));
};
const titles = [...document.querySelectorAll(".box:has(.picked) h3, .box.focus h3")];
const cut = titles.filter(one => !isSeen(one));
const buttons = [...document.querySelectorAll(".panel button:not(.strip *)")];
const shown = buttons.filter(one => one.checkVisibility() && !one.disabled);
const hidden = shown.filter(one => (one.focus(), !isSeen(one)));
return [cut.map(one => one.textContent), shown.length > 3, hidden.map(one => one.textContent)];
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize(
    "title", ["Scores", "Weights", "What is read", "The norm", "The beam, first step"]
)
def test_no_title_is_cut_by_the_stations_heading_and_no_control_with_the_focus_is_covered(
    browser, translator, title, size
):
    browser.resize(*size)
    open_explainer(browser, translator, TEXT)
    go_to(browser, title)
    assert browser.run(COVERED) == [[], True, []]
    browser.resize(1200, 900)


def test_the_tour_frames_the_largest_weight_of_one_word_on_another_and_its_score(
    browser, translator
):
    open_explainer(browser, translator, TEXT)
    read = "return transduce.page.result.trace[arguments[0]].map(row => Array.from(row))"
    pieces = "return transduce.page.result.source.map(id => transduce.readablePiece("
    pieces = browser.run(f"{pieces}transduce.VOCABULARIES.source, id))")
    assert pieces[-1] == "</s>"
    for title in ("Scores", "Why √dₖ", "Weights"):
        go_to(browser, title)
        name, row, column = browser.run("return transduce.state().cell.split(':')")
        weights = browser.run(read, name.replace(".scores.", ".weights."))
        words = [i for i, piece in enumerate(pieces) if piece != "</s>"]
        pairs = [(weights[i][j], i, j) for i in words for j in words if i != j]
        assert (int(row), int(column)) == max(pairs)[1:]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 720), (1280, 800), (1600, 950), (390, 844)])
def test_the_calculation_of_the_framed_number_is_in_sight_with_its_picture(
    browser, translator, size
):
    browser.resize(*size)
    open_explainer(browser, translator, TEXT)
    tour = browser.run("return transduce.TOUR.map(([one]) => one)")
    steps = [i for i, one in enumerate(tour, 1) if not one.get("focus")]
    opened = [i for i in steps if "cell" in tour[i - 1] or "largest" in tour[i - 1]]
    assert len(opened) > 10
    for step in opened:
        script = "transduce.goToTour(arguments[0]).then(arguments[1])"
        browser.command("execute/async", {"script": script, "args": [step]})
        browser.wait(READY)
        frame, cell, total, sheet = browser.run(
            RECTANGLES, ".box .picked", "#cell", "#cell tr:last-child", "#tour"
        )
        below = sheet["top"] if size[0] < 900 else size[1]
        for box in (frame, cell, total):
            assert 0 < box["top"] < box["bottom"] <= below, (step, size)
        assert total["height"] > 9, "is large enough to be read"
    browser.resize(1200, 900)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1000, 900), (1280, 720), (1280, 900)])
def test_no_step_shrinks_its_target_until_it_cannot_be_read(browser, translator, size):
    browser.resize(*size)
    open_explainer(browser, translator, TEXT)
    browser.run("document.documentElement.style.borderRight = '15px solid'")  # as a scrollbar does
    zoom = "return [...document.querySelectorAll('.focus')].map(one => Number(one.style.zoom || 1))"
    for step in range(1, browser.run("return transduce.TOUR.length") + 1):
        script = "transduce.goToTour(arguments[0]).then(arguments[1])"
        browser.command("execute/async", {"script": script, "args": [step]})
        browser.wait(READY)
        assert min(browser.run(zoom)) >= 0.6, step
    browser.resize(1200, 900)


def test_the_legend_of_the_framed_picture_has_its_full_colour(browser, translator):
    open_explainer(browser, translator, TEXT)
    go_to(browser, "Weights")
    opacity = "return [...document.querySelectorAll(arguments[0])].map(x => "
    opacity += "getComputedStyle(x).opacity)"
    for name, expected in (("weights.1", "1"), ("self.q", "0.3")):
        chips = browser.run(opacity, f".box[data-name$='{name}'] .legend .chip")
        assert set(chips) == {expected}


def test_what_training_aims_at_stands_above_the_losses(browser, translator):
    browser.resize(1280, 800)
    open_explainer(browser, translator, TEXT)
    go_to(browser, "What training aims at")
    said, aims, losses = browser.run(RECTANGLES, "#said", ".box.focus", ".box:not(.focus)")
    assert said["bottom"] <= aims["top"] < aims["bottom"] <= losses["top"]
    browser.resize(1200, 900)


def test_a_model_without_stages_has_no_step_of_them(browser, translator):
    open_explainer(browser, translator, TEXT)
    assert "What training changes" in [step.get("title") for step in read_tour(None)]
    titles = browser.run("return transduce.TOUR.map(one => one[1])")
    assert len(titles) == len(read_tour(None)) - 1
    assert "What training changes" not in titles


def test_every_step_of_the_tour_of_a_model_with_one_head_is_shown(browser):
    open_explainer(browser, make_translator(SHAPES["one layer, one head"]), TEXT)
    titles = browser.run("return transduce.TOUR.map(one => one[1])")
    assert "Another head" not in titles
    for number, title in enumerate(titles, 1):
        go_to(browser, title)
        assert text_of(browser, "#tour-title") == f"{number} of {len(titles)}: {title}"
    assert browser.console() == []


def test_the_tour_has_chapters_to_go_to(browser, translator):
    open_explainer(browser, translator, TEXT)
    browser.click("#begin-tour")
    browser.wait(f"{READY} && transduce.state().tour === 1")
    options = "[...document.querySelectorAll('#tour-chapter option')]"
    first = browser.run(f"return {options}.map(one => one.value)")
    assert len(first) >= 5
    assert first[0] == "1"
    assert sorted(first, key=int) == first
    browser.choose("#tour-chapter", first[2])
    browser.wait(f"{READY} && transduce.state().tour === {first[2]}")
    browser.click("#tour-back")
    chosen = "document.getElementById('tour-chapter').value"
    browser.wait(f"{READY} && {chosen} === '{first[1]}'")


def test_no_piece_flows_through_the_map_while_the_tour_speaks(browser, translator):
    open_explainer(browser, translator, TEXT)
    flows = "return getComputedStyle(document.querySelector('.flow')).display !== 'none'"
    assert browser.run(flows)
    go_to(browser, "The sentence becomes pieces")
    assert not browser.run(flows)


def test_cross_attention_is_also_called_by_the_papers_name(browser, translator):
    open_explainer(browser, translator, TEXT)
    go_to(browser, "The source is read")
    assert text_of(browser, "#panel-title") == "Cross-attention"
    assert "encoder-decoder attention" in text_of(browser, "#plain")


def test_beside_each_row_of_cross_attention_stands_what_it_chooses(browser, translator):
    open_explainer(browser, translator, TEXT)
    go_to(browser, "The source is read")
    box = ".box[data-name$='cross.weights.1']"
    chosen, read, left, right, svg = browser.run(
        """
        const { page, readablePiece, VOCABULARIES } = transduce, box = arguments[0];
        const lists = [...document.querySelectorAll(`${box} .labels`)].slice(1);
        const texts = list => [...list.children].map(one => one.textContent);
        return [page.result.output.map(id => `→ ${readablePiece(VOCABULARIES.target, id)}`),
          ...lists.map(texts).slice(1), ...lists.map(one => one.getBoundingClientRect()),
          document.querySelector(`${box} svg`).getBoundingClientRect()];
        """,
        box,
    )
    assert read == chosen
    assert chosen[-1] == "→ </s>"
    assert left["right"] <= svg["left"] < svg["right"] <= right["left"]
    assert left["top"] == right["top"] == svg["top"]
    browser.run("transduce.change({ panel: 'masked' })")
    lists = "return document.querySelectorAll('.box[data-name$=\"self.weights.1\"] .labels').length"
    assert browser.run(lists) == 2


def test_the_beams_picture_ends_at_its_step(browser, translator):
    open_explainer(browser, translator, TEXT)
    browser.resize(390, 844)
    last = "[...document.querySelectorAll('.tree > text')].at(-1)"
    for step in (0, 2, browser.run("return transduce.page.result.search.steps.length") - 1):
        change(browser, panel="beam", step=step)
        assert browser.run(f"return {last}.textContent") == str(step + 1)
        assert browser.run(f"return {last}.getBoundingClientRect().right") <= 390
    browser.resize(1200, 900)
