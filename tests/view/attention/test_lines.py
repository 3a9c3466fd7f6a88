"""The two columns of words with lines, in a browser: what is drawn is what the tensor holds."""

import pytest
from tests.view.attention.opened import (
    assert_lines,
    click,
    expected_lines,
    list_lines,
    load_view,
    open_view,
    press,
    settle,
    state,
)
from tests.view.attention.samples import make_view
from tests.view.hostile import attacks

from transduce.view.attention.page import WeightEncoding

pytestmark = pytest.mark.browser
VIEW = make_view()
ALL = range(1, 9)


def test_the_lines_of_all_heads_are_those_of_the_tensor(browser):
    open_view(browser, VIEW, "l=5&e=1&t=0.02")
    weights = VIEW.weights["encoder"][4]
    found = {key: 8 * opacity for key, opacity in list_lines(browser).items()}
    assert_lines(found, expected_lines(weights, ALL, 0.02, parts=1), 0.02)
    assert browser.run("return transduce.page.lines") == len(found)


@pytest.mark.parametrize("numbers", ["step8", "float16"])
@pytest.mark.parametrize("compression", ["zlib", "none"])
def test_every_encoding_gives_the_same_lines(browser, numbers, compression):
    open_view(browser, VIEW, "k=cross&l=2&h=3&q=4&e=1", WeightEncoding(numbers, 0.0, compression))
    expected = expected_lines(VIEW.weights["cross"][1], [3], readers=[4])
    assert_lines(list_lines(browser), expected)


def test_a_word_under_the_mouse_shows_its_lines_only(browser):
    open_view(browser, VIEW, "k=dec&l=1&e=1")
    browser.move("#readers-6")
    browser.next_frame()
    assert_lines(
        list_lines(browser), expected_lines(VIEW.weights["decoder"][0], ALL, readers=[7], parts=1)
    )
    assert "reads" in browser.run("return document.querySelector('#chosen caption').textContent")
    browser.move("#heading")
    browser.next_frame()
    assert len(list_lines(browser)) > 100


def test_a_chosen_line_is_on_the_screen_in_its_heads_colour(browser):
    open_view(browser, VIEW, "l=1&h=8&q=3&e=1")
    row = VIEW.weights["encoder"][0, 7, 2]
    pixel = """
    const canvas = document.getElementById('canvas'), page = transduce.page;
    const [x, y] = page.scene.layout.end(arguments[0]);
    const context = canvas.getContext('2d'), { left, top } = page.region;
    return [...context.getImageData(x - 3 - left, y - top, 1, 1).data];
    """
    red, green, blue, alpha = browser.run(pixel, int(row.argmax()))
    assert alpha / 255 == pytest.approx(row.max(), abs=0.35)
    assert max(red, green, blue) - min(red, green, blue) < 12  # the eighth colour is a grey
    assert 110 < red < 145


def test_a_click_chooses_shift_adds_and_a_second_click_lets_go(browser):
    open_view(browser, VIEW)
    click(browser, "#readers-2")
    assert state(browser, "readers") == [2]
    browser.click("#readers-4", held="Shift")
    settle(browser)
    assert state(browser, "readers") == [2, 4]
    assert browser.run("return location.hash").count("q=3,5") == 1
    click(browser, "#read-1")
    assert (state(browser, "readers"), state(browser, "read")) == ([], [1])
    click(browser, "#read-1")
    assert state(browser, "read") == []


def test_squares_turn_heads_off_and_a_double_click_leaves_one(browser):
    open_view(browser, VIEW)
    click(browser, "#heads button:nth-child(3)")
    assert state(browser, "heads") == [1, 2, 4, 5, 6, 7, 8]
    click(browser, "#heads button:nth-child(5)", 2)
    assert state(browser, "heads") == [5]
    click(browser, "#heads button:nth-child(5)")
    assert state(browser, "heads") == [*ALL]


def test_marks_are_hidden_until_asked_for(browser):
    open_view(browser, VIEW)
    count = "return document.querySelectorAll('#readers .unit').length"
    assert browser.run(count) == 13
    press(browser, "e")
    assert browser.run(count) == 14
    assert "</s>" in browser.run("return document.getElementById('readers').textContent")


def test_no_request_and_no_message_of_the_console(browser):
    load_view(browser, VIEW)
    press(browser, "k", "k", "]", "v", "c", "d", "d", "?", "?")
    assert browser.requests() == []
    assert browser.console() == []


def test_hostile_words_are_shown_as_they_are_and_run_nothing(browser):
    strings = [text for text in attacks() if "\ud800" not in text and "\udfff" not in text]
    open_view(browser, make_view(strings, ["a"], layers=1, heads=1), "v=lines")
    shown = browser.run(
        "return [...document.querySelectorAll('#readers .unit')].map(e => e.textContent)"
    )
    plain = [text.isprintable() for text in strings]
    assert [a for a, keep in zip(shown, plain, strict=True) if keep] == [
        a for a, keep in zip(strings, plain, strict=True) if keep
    ]
    assert browser.run("return window.stolen || 0") == 0
    assert browser.requests() == []
    assert browser.console() == []
