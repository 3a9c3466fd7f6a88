"""The geometry and colours of the paper's figures, as read from the vector pictures."""

from xml.etree import ElementTree

import numpy as np
import pytest

from transduce.view.attention.figures import Panel, draw_figure, head_colour, lighten

WORDS = tuple(f"word{n}" for n in range(27))
ON = ["1f77b4", "ff7f0e", "2ca02c", "d62728", "9467bd", "8c564b", "e377c2", "7f7f7f"]
OFF = ["aec7d8", "f1cdac", "b5cfb5", "e0b8b8", "d4cdd9", "c4c4c4", "edcfe4", "cccccc"]
TOP, BOTTOM = 30 + 20 + 80, 30 + 20 + 80 + 100


def panel(*, heads=(5, 6), chosen=8, count=8, words=WORDS, heading="Input-Input Layer 5"):
    """Figure 4, bottom: `its` reads `Law` and `application` with heads 5 and 6."""
    weights = np.zeros((len(heads), len(words), len(words)), dtype=np.float32)
    weights[0, 8, 1], weights[0, 8, 9] = 0.914, 0.035
    if len(heads) > 1:
        weights[1, 8, 9], weights[1, 8, 1], weights[1, 8, 0] = 0.502, 0.412, 0.020
    weights[:, 0, 3] = 0.6
    weights[:, 0, 4] = 0.0156
    return Panel(heading, words, count, heads, weights, chosen)


def draw(*panels):
    return ElementTree.fromstring(draw_figure(panels, "title", "description"))


def find(root, tag):
    return list(root.iter("{http://www.w3.org/2000/svg}" + tag))


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


def boxes(root, *, height, fill=None):
    found = [r for r in find(root, "rect") if r.get("height") == height]
    return [r for r in found if fill is None or r.get("fill") == fill]


def test_colours_of_heads_that_are_on_and_off_are_those_of_the_paper():
    assert [head_colour(number) for number in range(1, 9)] == [f"#{one}" for one in ON]
    assert [lighten(f"#{one}") for one in ON] == [f"#{one}" for one in OFF]
    assert [head_colour(number) for number in (9, 10, 11)] == ["#bcbd22", "#17becf", "#1f77b4"]


def test_squares_are_20_wide_side_by_side_from_x_20_and_light_for_heads_that_are_off():
    squares = boxes(draw(panel()), height="20")
    assert [numbers(s, "x", "y", "width") for s in squares] == [
        [20 * n, 30, 20] for n in range(1, 9)
    ]
    pairs = enumerate(zip(ON, OFF, strict=True), start=1)
    shown = [f"#{on if n in (5, 6) else off}" for n, (on, off) in pairs]
    assert [square.get("fill") for square in squares] == shown


def test_lines_join_the_middles_of_columns_over_a_height_of_100():
    lines = find(draw(panel()), "line")
    assert [numbers(one, "x1", "x2", "y1", "y2") for one in lines[:2]] == [
        [15 * 9 + 7.5, 15 * 2 + 7.5, TOP, BOTTOM],
        [15 * 9 + 7.5, 15 * 10 + 7.5, TOP, BOTTOM],
    ]


def test_the_opacity_is_the_weight_if_one_word_reads_and_shared_by_the_heads_if_all_do():
    one = [numbers(line, "stroke-opacity")[0] for line in find(draw(panel()), "line")]
    assert one == [0.914, 0.035, 0.020, 0.412, 0.502]
    every = [numbers(line, "stroke-opacity")[0] for line in find(draw(panel(chosen=None)), "line")]
    assert every == [0.3, 0.457, 0.018, 0.3, 0.206, 0.251]
    alone = [
        numbers(line, "stroke-opacity")[0]
        for line in find(draw(panel(chosen=None, heads=(5,))), "line")
    ]
    assert alone == [0.6, 0.914, 0.035]


def test_lines_are_2_wide_and_have_the_colour_of_their_head():
    groups = [g for g in find(draw(panel()), "g") if g.get("stroke", "#ffffff") != "#ffffff"]
    assert [(g.get("stroke"), g.get("stroke-width")) for g in groups] == [
        ("#9467bd", "2"),
        ("#8c564b", "2"),
    ]
    assert [len(group) for group in groups] == [2, 3]


def test_the_word_that_reads_has_a_grey_box_over_its_whole_column():
    (grey,) = boxes(draw(panel()), height="80")
    assert numbers(grey, "x", "y", "width") == [15 * 9, 50, 15]
    assert grey.get("fill") == "#d3d3d3"
    assert boxes(draw(panel(chosen=None)), height="80") == []


def test_words_that_are_read_have_a_box_for_each_head_stacked_in_their_order():
    found = boxes(draw(panel()), height="40")
    assert [(*numbers(b, "x", "y", "width", "fill-opacity"), b.get("fill")) for b in found] == [
        (30, BOTTOM, 15, 0.914, "#9467bd"),
        (150, BOTTOM, 15, 0.035, "#9467bd"),
        (15, BOTTOM + 40, 15, 0.020, "#8c564b"),
        (30, BOTTOM + 40, 15, 0.412, "#8c564b"),
        (150, BOTTOM + 40, 15, 0.502, "#8c564b"),
    ]


def test_words_are_turned_upwards_and_end_2_from_the_lines():
    root = draw(panel())
    groups = [group for group in find(root, "g") if group.get("text-anchor")]
    assert [group.get("text-anchor") for group in groups] == ["start", "end"]
    for group, y in zip(groups, (TOP - 2, BOTTOM + 2), strict=True):
        assert [text.text for text in group] == list(WORDS)
        assert group[3].get("transform") == f"translate({15 * 4 + 7.5 + 3.5:g} {y}) rotate(-90)"


def test_the_heading_is_arial_bold_21():
    heading = find(draw(panel()), "text")[0]
    assert (heading.text, heading.get("fill")) == ("Input-Input Layer 5", "#212121")
    assert (heading.get("font-size"), heading.get("font-weight")) == ("21", "bold")
    assert draw(panel()).get("font-family").startswith("Arial")


def test_panels_stand_one_below_the_other():
    root = draw(panel(chosen=None), panel())
    tops = [g.get("transform") for g in find(root, "g") if g.get("transform")]
    assert tops == ["translate(0 0)", "translate(0 330)"]
    assert numbers(root, "height") == [660]


def test_words_that_look_like_markup_stay_words_and_long_ones_fit():
    words = ("<script>alert(1)</script>", "a&b", "\x00\ufffe", "x" * 40, *WORDS[4:])
    root = draw(panel(words=words))
    assert find(root, "script") == []
    texts = [text.text for text in find(root, "text")][1:5]
    assert texts == ["<script>alert(1)</script>", "a&b", "\ufffd\ufffd", "x" * 40]
    assert [text.get("textLength") for text in find(root, "text")][1:5] == ["76", None, None, "76"]


def test_heads_after_the_tenth_repeat_the_colours_with_numbers_on_the_squares():
    root = draw(panel(count=16, heads=(15, 16)))
    squares = boxes(root, height="20")
    assert squares[0].get("fill") == lighten("#1f77b4")
    assert [text.text for text in find(root, "text")][1:17] == [str(n) for n in range(1, 17)]
    assert [text.text for text in find(draw(panel()), "text")][1] == "word0"


@pytest.mark.parametrize("count", [1, 27])
def test_everything_is_inside_of_the_picture(count):
    words = WORDS[:count] if count > 9 else WORDS[:9]
    root = draw(panel(words=(*words, "end") if count == 1 else words))
    width = numbers(root, "width")[0]
    assert width >= 15 * (len(words) + 1) + 15
    assert all(numbers(r, "x", "width")[0] < width for r in find(root, "rect") if r.get("x"))


def test_a_picture_of_27_words_and_8_heads_has_below_200_kilobytes():
    generator = np.random.default_rng(1)
    weights = generator.dirichlet(np.full(27, 0.2), size=(8, 27)).astype(np.float32)
    full = Panel("Input-Input Layer 5", WORDS, 8, tuple(range(1, 9)), weights)
    text = draw_figure([full], "title", "description")
    assert len(text.encode()) <= 200_000
    assert text == draw_figure([full], "title", "description")
