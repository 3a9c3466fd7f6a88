"""The other views, the keys and the link, in a browser."""

from dataclasses import replace

import numpy as np
import pytest
from tests.view.attention.opened import (
    assert_lines,
    click,
    expected_lines,
    follow,
    list_lines,
    load_view,
    open_view,
    press,
    settle,
    state,
)
from tests.view.attention.samples import make_view

from transduce.cli.attend import FigureOptions, find_link
from transduce.settings.alignment import AlignmentHeads

pytestmark = pytest.mark.browser
VIEW = make_view()
BOX = "return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()"
TINTS = """
return [...document.querySelectorAll('#read .unit')].map((e) => e.style.getPropertyValue('--w'));
"""
CELL = """
const { page } = transduce, { label, cell } = page.scene.layout, [row, column] = arguments;
const context = document.getElementById('canvas').getContext('2d');
const x = label + cell * (column + 0.5) - page.region.left, y = label + cell * (row + 0.5);
return [...context.getImageData(x, y - page.region.top, 1, 1).data];
"""


def test_rows_draw_the_same_lines(browser):
    open_view(browser, VIEW, "v=rows&l=5&h=5&q=9&e=1")
    expected = expected_lines(VIEW.weights["encoder"][4], [5], readers=[9])
    assert_lines(list_lines(browser), expected)
    upper, lower = (browser.run(BOX, name)["y"] for name in ("readers-8", "read-8"))
    assert lower - upper == 112 + 140


def test_a_cell_of_the_matrix_is_as_dense_as_its_weight(browser):
    open_view(browser, VIEW, "v=matrix&l=6&h=8&e=1&t=0")
    weights = VIEW.weights["encoder"][5, 7]
    for row, column in [(0, 0), (3, 3), (5, 4), (13, 13), (7, 2)]:
        found = browser.run(CELL, row, column)[3] / 255
        assert found == pytest.approx(weights[row, column], abs=0.01)


def test_the_crosshair_reads_out_the_weights_of_a_cell(browser):
    open_view(browser, VIEW, "v=matrix&k=cross&l=2&h=4&q=3&r=5")
    read_out = browser.run("return document.getElementById('readout').textContent")
    assert f"4: {VIEW.weights['cross'][1, 3, 2, 4]:.2f}" in read_out.replace("wird", "", 1)
    press(browser, "Escape")
    assert browser.run("return document.getElementById('readout').textContent") == ""


def test_the_grid_shows_every_head_and_a_click_opens_it(browser):
    open_view(browser, VIEW, "v=grid&k=dec")
    assert browser.run("return document.querySelectorAll('#grid canvas').length") == 48
    click(browser, "#grid button:nth-child(11)")
    assert [state(browser, name) for name in ("layer", "heads", "view")] == [2, [3], "lines"]


def test_the_alignment_reads_the_step_after_a_word_was_written(browser):
    open_view(browser, VIEW, "v=align&l=3&h=8")
    weights = VIEW.weights["cross"][2, 7]
    rows = range(len(VIEW.output.pieces) - 1)
    pairs = [(int(weights[row + 1, :-1].argmax()), row) for row in rows]
    text = browser.run("return document.getElementById('readout').textContent")
    assert text.endswith(": " + " ".join(f"{s}-{t}" for s, t in sorted(pairs)))
    browser.move("#readers-2")
    browser.next_frame()
    tints = browser.run(TINTS)
    assert int(np.argmax([float(one or 0) for one in tints])) == pairs[2][0]


CHOSEN = AlignmentHeads(3, (2, 8))


def test_the_alignment_opens_with_the_heads_that_the_model_aligns_by(browser):
    view = replace(VIEW, alignment=CHOSEN)
    weights = view.weights["cross"][2, [1, 7]].mean(axis=0)
    pairs = [(int(weights[i + 1, :-1].argmax()), i) for i in range(len(view.output.pieces) - 1)]
    expected = " ".join(f"{s}-{t}" for s, t in sorted(pairs))
    text = "return document.getElementById('readout').textContent"
    for link, wanted in (("v=align", (3, [2, 8])), ("v=align&l=2", (2, [*range(1, 9)]))):
        open_view(browser, view, link)
        assert (state(browser, "layer"), state(browser, "heads")) == wanted
        assert browser.run(text).endswith(f": {expected}") == (link == "v=align")
    open_view(browser, view, "k=dec&l=6&h=1")
    click(browser, "[data-value=align]")
    assert (state(browser, "layer"), state(browser, "heads")) == (3, [2, 8])
    assert browser.run(text).endswith(f": {expected}")
    press(browser, "a", "[")
    link = browser.run("return location.hash.slice(1)")
    follow(browser, "k=enc")
    follow(browser, link)
    assert (state(browser, "layer"), state(browser, "heads")) == (2, [*range(1, 9)])


def test_unshifted_heads_read_the_step_that_writes_a_word(browser):
    open_view(browser, replace(VIEW, alignment=AlignmentHeads(1, (4,), shifted=False)), "v=align")
    weights = VIEW.weights["cross"][0, 3, :-1, :-1]
    pairs = sorted((int(row.argmax()), i) for i, row in enumerate(weights))
    text = browser.run("return document.getElementById('readout').textContent")
    assert text.endswith(": " + " ".join(f"{s}-{t}" for s, t in pairs))


def test_a_page_without_the_layer_of_the_alignment_keeps_its_own(browser):
    open_view(browser, replace(VIEW, alignment=CHOSEN).select_layers([1, 6]), "l=6&h=2")
    click(browser, "[data-value=align]")
    assert (state(browser, "layer"), state(browser, "heads")) == (6, [2])


def test_words_join_pieces_keys_summed_and_readers_averaged(browser):
    from transduce.view.attention.record import Word

    words = (Word(0, 2, "TheLawwill"), *(Word(i, i, str(i)) for i in range(3, 14)))
    view = replace(VIEW, source=replace(VIEW.source, words=words))
    open_view(browser, view, "l=1&h=2&u=1&e=1&q=1&t=0")
    weights = VIEW.weights["encoder"][0, 1]
    found = list_lines(browser)
    assert found[2, 1, 1] == pytest.approx(weights[:3, :3].sum() / 3, abs=0.01)
    assert found[2, 1, 5] == pytest.approx(weights[:3, 6].mean(), abs=0.005)
    assert len(found) == 12


def test_the_average_of_heads_is_one_line_for_each_pair(browser):
    open_view(browser, VIEW, "l=1&h=2,4&m=1&q=1&e=1&t=0")
    expected = VIEW.weights["encoder"][0, [1, 3], 0].mean(axis=0)
    found = list_lines(browser)
    assert [found[0, 1, k + 1] for k in range(14)] == pytest.approx(list(expected), abs=0.004)


def test_a_step_shows_its_alternatives_and_chooses_the_word_that_read_for_it(browser):
    open_view(browser, VIEW, "k=cross")
    click(browser, "#steps button:nth-child(2)")
    assert state(browser, "readers") == [1]
    text = browser.run("return document.getElementById('step').textContent")
    assert " ".join(text.split()).startswith("Step 2: most probable Gesetz70 %other12 %")


KEYS = {
    "a": ("h=2", "heads", [*range(1, 9)]),
    "m": ("", "mean", True),
    "w": ("", "words", True),
    "e": ("", "marks", True),
    "s": ("", "peaks", True),
    "c": ("", "second", True),
    "[": ("", "layer", 4),
    "]": ("", "layer", 6),
    "k": ("", "kind", "decoder"),
    "v": ("", "view", "rows"),
    ",": ("t=0.02", "threshold", 0.0162),
    ".": ("t=0.02", "threshold", 0.0242),
    "3": ("", "heads", [1, 2, 4, 5, 6, 7, 8]),
    "Shift+3": ("", "heads", [3]),
    ">": ("", "step", 1),
    "<": ("o=3", "step", 2),
    "Escape": ("q=3", "readers", []),
}


def test_every_key_does_what_the_help_says(browser):
    open_view(browser, VIEW)
    for key, (link, name, value) in KEYS.items():
        follow(browser, f"l=5&{link}")
        press(browser, key)
        assert (key, state(browser, name)) == (key, value)


def test_a_step_after_the_last_does_not_let_go_of_the_last(browser):
    open_view(browser, VIEW, "k=cross")
    follow(browser, f"k=cross&o={len(VIEW.steps)}")
    press(browser, ">")
    assert state(browser, "step") == len(VIEW.steps)


def test_words_are_chosen_by_keys_alone(browser):
    open_view(browser, VIEW)
    browser.run("document.getElementById('readers').focus()")
    press(browser, "ArrowDown", "ArrowDown")
    assert state(browser, "readers") == [1]
    press(browser, "Shift+ArrowDown", "Shift+ArrowDown")
    assert state(browser, "readers") == [1, 2, 3]
    press(browser, "End")
    assert state(browser, "readers") == [12]
    press(browser, "ArrowRight", "Home", "Enter")
    assert (state(browser, "readers"), state(browser, "read")) == ([], [])
    active = "return document.activeElement.getAttribute('aria-activedescendant')"
    assert browser.run(active) == "read-0"


def test_the_help_opens_and_closes_by_its_key(browser):
    open_view(browser, VIEW)
    is_open = "return document.getElementById('help').open"
    browser.press("?")
    assert browser.run(is_open)
    browser.press("?")
    assert not browser.run(is_open)


LINKS = [
    "k=enc&l=5&v=lines&t=0.01",
    "k=dec&l=1&v=rows&h=5,6&q=9&t=0.05&u=1&e=1&m=1&x=1&c=1&o=3",
    "k=cross&l=6&v=matrix&q=1,2&r=4&t=0",
    "k=cross&l=2&v=align&h=8&q=3&t=0.5",
    "k=enc&l=3&v=grid&t=0.0012",
]


def test_every_state_comes_back_from_its_link(browser):
    open_view(browser, VIEW)
    for link in LINKS:
        again = browser.run(
            "return transduce.writeHash(transduce.readHash('#' + arguments[0]))", link
        )
        assert set(again[1:].split("&")) == set(link.split("&"))


WRONG_LINKS = [
    "k=__proto__&v=constructor&h=0,99&q=99999&l=-1&t=9",
    "%00&&&===&q=1e9&r=,,&h=<script>&o=99999999999",
    "t=NaN&l=999999999999&u=2&k=enc&k=",
    "javascript:alert(1)",
]


def test_a_wrong_link_opens_the_page_as_without_one(browser):
    open_view(browser, VIEW, "k=cross&l=1")
    for link in WRONG_LINKS:
        browser.run("location.hash = '#' + arguments[0]", link)
        settle(browser)
        opened = browser.run("return JSON.stringify(transduce.state())")
        assert opened == browser.run("return JSON.stringify(transduce.readHash(''))")
    assert browser.console() == []


def test_without_a_link_the_page_opens_at_the_head_that_shows_the_alignment(browser):
    weights = VIEW.weights["cross"].copy()
    weights[3, 5, :-1, :-1], weights[1, 2, 1:, :-1] = np.eye(13), np.eye(13)
    aligned = AlignmentHeads(2, (3,))
    open_view(browser, replace(VIEW, weights=VIEW.weights | {"cross": weights}, alignment=aligned))
    browser.run("location.hash = ''")
    settle(browser)
    shown = {name: state(browser, name) for name in ("kind", "layer", "heads", "words", "view")}
    assert shown == {"kind": "cross", "layer": 4, "heads": [6], "words": True, "view": "lines"}
    pressed = "return document.querySelector('#grid [aria-pressed=true]').textContent"
    assert browser.run(pressed).startswith("4.6 ")


def test_a_row_of_the_decoder_says_what_its_step_writes_and_has_read(browser):
    for kind, row in (("cross", 2), ("dec", 2)):
        open_view(browser, VIEW, f"k={kind}&q={row}")
        said = browser.run("return document.getElementById('verb').textContent")
        assert said == "(writes Gesetz, has read Das) reads"
    open_view(browser, VIEW, "q=2")
    assert browser.run("return document.getElementById('verb').textContent") == "reads"


def test_a_change_of_the_link_changes_the_page(browser):
    open_view(browser, VIEW)
    follow(browser, "k=cross&l=2")
    assert (state(browser, "kind"), state(browser, "layer")) == ("cross", 2)
    text = "return document.getElementById('readers').textContent"
    assert browser.run(text).startswith("DasGesetz")


def test_a_sentence_from_right_to_left_mirrors_the_page(browser):
    open_view(browser, make_view(["هذا", "كتاب", "جديد"], ["a", "book"]), "q=1&h=1")
    reader, read = (browser.run(BOX, name)["x"] for name in ("readers-0", "read-0"))
    assert reader > read
    assert browser.run("return transduce.page.lines") == 3


def test_a_long_row_from_right_to_left_shows_the_lines_of_the_words_in_view(browser):
    words = ["كلمة"] * 150
    weights = np.full((1, 1, 151, 151), 1 / 151, dtype=np.float32)  # too little for a line
    weights[0, 0, :30] = np.eye(30, 151)
    view = make_view(words, words, layers=1, heads=1, kinds=["encoder"])
    browser.resize(900, 700)
    open_view(browser, replace(view, weights={"encoder": weights}), "v=rows&h=1&e=1")
    assert browser.run("return transduce.page.lines") == 30
    browser.run("document.getElementById('stage').scrollBy(-99999, 0)")
    browser.wait("transduce.page.lines === 0")


ARABIC, ENGLISH = ["هذا", "كتاب", "جديد"], ["a", "new", "book"]
GAPS = """
const box = (selector) => document.querySelector(selector).getBoundingClientRect();
const [readers, read, gap] = ["#readers bdi", "#read bdi", "#between"].map(box);
const beside = (left, right) => [gap.left - left.right, right.left - gap.right];
return [beside(readers, read), beside(read, readers).reverse()];
"""


@pytest.mark.parametrize(("source", "output"), [(ARABIC, ENGLISH), (ENGLISH, ARABIC)])
def test_words_of_both_directions_stand_beside_their_lines(browser, source, output):
    open_view(browser, make_view(source, output), "k=cross&v=lines")
    assert browser.run(GAPS)[output is ARABIC] == pytest.approx([4, 4], abs=1)


CHANGES = ", ".join(f"training.checkpoint_minutes_of_run_{i}=5.25" for i in range(19))


def test_on_a_phone_nothing_is_wider_than_the_screen(browser):
    name = f"tatoeba-en-de with {CHANGES}"
    open_view(browser, replace(VIEW, model=replace(VIEW.model, name=name)))
    heading = browser.run("return document.getElementById('heading').textContent")
    assert heading == "Attention of tatoeba-en-de with 19 changed settings"
    for width in (320, 390):
        browser.resize(width, 800)
        for link in ("v=lines", "v=align", "v=rows", "v=matrix", "v=grid"):
            follow(browser, f"{link}&l={width // 70}")
            assert browser.run("return document.documentElement.scrollWidth") <= width
    browser.resize(1200, 900)


def test_long_inputs_open_as_a_matrix_and_draw_what_is_in_view_only(browser):
    words = [f"w{i}" for i in range(200)]
    open_view(browser, make_view(words, ["a"], layers=1, heads=2))
    assert state(browser, "view") == "matrix"
    follow(browser, "v=lines")
    assert 0 < browser.run("return transduce.page.lines") < len(list_lines(browser)) / 2


def test_one_piece_and_an_empty_source_have_a_page(browser):
    for source in ([], ["one"]):
        open_view(browser, make_view(source, ["a"], layers=1, heads=1), "q=1")
        press(browser, "v", "v", "v", "v", "v", "e", "w", "k")
        assert browser.console() == []


def test_the_link_of_a_figure_shows_its_layer_heads_and_word(browser):
    word = VIEW.source.words[8].text
    figure = FigureOptions(figure="4", layer=5, heads=(5, 6), word=word)
    open_view(browser, VIEW, find_link(VIEW, figure))
    shown = {name: state(browser, name) for name in ("view", "layer", "heads", "words", "marks")}
    assert shown == {"view": "rows", "layer": 5, "heads": [5, 6], "words": True, "marks": True}
    assert state(browser, "readers") == [8]


@pytest.mark.parametrize("width", [1280, 900])
def test_a_row_of_the_matrix_stays_beside_its_word(browser, width):
    browser.resize(width)
    load_view(browser, make_view([f"w{i}" for i in range(60)], ["a"], layers=1), "v=matrix")
    browser.move("#between", 10, 3)
    browser.next_frame()
    drawn = "return transduce.page.scene.layout.cell"
    assert browser.run(BOX, "readers-1")["height"] == browser.run(drawn)
    browser.run("document.getElementById('overview').style.flex = '0 0 500px'")
    browser.next_frame(), browser.next_frame()
    assert browser.run(BOX, "readers-1")["height"] == browser.run(drawn)
    browser.resize(1200, 900)


def test_a_head_of_the_encoder_opens_from_the_grid_as_no_alignment(browser):
    open_view(browser, VIEW, "v=align")
    click(browser, "[data-value=grid]")
    click(browser, "[data-value=encoder]")
    click(browser, "#grid button:nth-child(3)")
    assert (state(browser, "kind"), state(browser, "view")) == ("encoder", "lines")
    assert browser.run("return document.getElementById('readout').textContent") == ""


def test_the_legend_says_of_each_view_how_it_is_drawn(browser):
    text = "return document.getElementById(arguments[0]).textContent"
    for name, divided, hidden in (
        ("lines", True, True),
        ("matrix", False, True),
        ("grid", False, False),
    ):
        open_view(browser, VIEW, f"v={name}&t=0.0002")
        assert ("divided by" in browser.run(text, "legend")) == divided
        assert ("Weights below 0.0002 are not drawn" in browser.run(text, "mass")) == hidden


def test_the_key_that_goes_back_in_the_browser_moves_no_word(browser):
    open_view(browser, VIEW, "v=rows&q=3")
    browser.run("document.getElementById('readers').focus()")
    browser.run(
        "document.getElementById('readers').dispatchEvent(new KeyboardEvent('keydown', "
        "{ key: 'ArrowLeft', altKey: true, bubbles: true }))"
    )
    settle(browser)
    assert state(browser, "readers") == [2]


def test_a_printed_plot_is_as_wide_as_it_was_drawn(browser):
    browser.resize(700)
    open_view(browser, VIEW, "v=lines")
    drawn = browser.run(BOX, "plot")["width"]
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.resize(500)
    assert browser.run(BOX, "plot")["width"] == drawn
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(BOX, "plot")["width"] < drawn
    browser.resize(1200, 900)
