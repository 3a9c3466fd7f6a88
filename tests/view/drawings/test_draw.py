"""The pictures of the positional encoding and the learning rate show the formulas' values."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

import transduce
from transduce.errors import InputError
from transduce.recipes import by_name
from transduce.settings import Architecture
from transduce.view.drawings.axes import Axis
from transduce.view.drawings.formulas import mix_colour

SPACE = "{http://www.w3.org/2000/svg}"
SHADES = {mix_colour(shade): shade / 8 for shade in range(-8, 9)}


def read_cells(svg, positions, d_model):
    """Return the value of each cell of a picture: what is not drawn is white, a 0."""
    found = np.zeros((positions, d_model))
    (group,) = ElementTree.fromstring(svg).findall(f"{SPACE}g")
    for path in group:
        for column, first, count in re.findall(r"M(\d+)\.5 (\d+)v(\d+)", path.attrib["d"]):
            rows = slice(int(first), int(first) + int(count))
            found[rows, int(column)] = SHADES[path.attrib["stroke"]]
    return found


def read_line(element, across, up):
    """Return the values of a line's points by where two pairs (pixel, value) lie on each axis."""
    points = re.findall(r"[ML](\S+?) ([^L]+)", element.get("d"))
    places = np.array(points, dtype=float)
    ends = [np.array(axis, dtype=float).T for axis in (across, up)]
    return [np.interp(places[:, i], *ends[i]) for i in (0, 1)]


def lines_of(svg):
    paths = ElementTree.fromstring(svg).findall(f"{SPACE}path")
    return [path for path in paths if path.get("fill") == "none"]


@pytest.mark.parametrize(
    ("name", "d_model", "positions"), [("demo", 128, 60), ("table3/base", 512, 7)]
)
def test_each_cell_has_the_shade_of_its_number(name, d_model, positions):
    position, number = np.mgrid[:positions, :d_model]
    angle = position / 10_000 ** (number // 2 * 2 / d_model)
    expected = np.where(number % 2, np.cos(angle), np.sin(angle))
    found = read_cells(transduce.draw_positions(name, positions=positions), positions, d_model)
    assert np.abs(found - expected).max() <= 1 / 16 + 1e-6


def test_the_waves_are_those_of_the_numbers_that_are_named():
    svg = transduce.draw_positions("demo", positions=50)
    names = re.findall(r"number (\d+):</text>\s*<text[^>]*>wavelength ([\d.,]+)", svg)
    assert [int(number) for number, _ in names] == [0, 16, 32, 64]
    heights = [(62 + 280 + 110 + 110, -1), (62 + 280 + 110, 1)][::-1]
    for (number, length), line in zip(names, lines_of(svg), strict=True):
        x, y = read_line(line, [(64, 0), (690, 49)], heights)
        assert x == pytest.approx(range(50), abs=0.01)
        power = 10_000 ** (int(number) / 128)
        assert float(length.replace(",", "")) == pytest.approx(2 * np.pi * power, abs=0.06)
        assert y == pytest.approx(np.sin(x / power), abs=0.001), number


@pytest.mark.parametrize("steps", [None, 9_000, 2])
def test_the_rates_are_those_of_equation_3(steps):
    names = ["table3/base", "table3/big", "demo"]
    recipes = [by_name(name) for name in names]
    svg = transduce.draw_rate(*names, steps=steps)
    last = steps or 20_000
    rates = lambda recipe, step: (  # noqa: E731
        recipe.training.learning_rate_factor
        * recipe.architecture.d_model**-0.5
        * np.minimum(step**-0.5, step * recipe.training.warmup**-1.5)
    )
    peak = max(rates(one, np.float64(min(last, one.training.warmup))) for one in recipes)
    for recipe, line in zip(recipes, lines_of(svg), strict=True):
        step, rate = read_line(line, [(64, 0), (690, last)], [(70, 1.1 * peak), (300, 0)])
        assert (round(step[0]), round(step[-1])) == (1, last)
        assert rate == pytest.approx(rates(recipe, np.round(step)), abs=0.01 * peak)
        if recipe.training.warmup < last:
            assert np.argmax(rate) == np.argmin(np.abs(step - recipe.training.warmup))
    assert all(f"{name}: d_model" in svg for name in names)


def test_a_factor_is_drawn_and_said():
    base = by_name("table3/base")
    twice = replace(base, training=replace(base.training, learning_rate_factor=2.0))
    assert "warmup 4,000 × 2, at most 0.0014" in transduce.draw_rate(twice)


def test_equal_recipes_give_equal_bytes_and_one_position_has_a_picture():
    assert transduce.draw_positions("demo") == transduce.draw_positions(by_name("demo"))
    assert read_cells(transduce.draw_positions("demo", positions=1), 1, 128)[0, :3].tolist() == [
        0,
        1,
        0,
    ]


@pytest.mark.parametrize(
    ("draw", "fact"),
    [
        (lambda: transduce.draw_positions("table3/E-learned"), "table3/E-learned is learned"),
        (lambda: transduce.draw_positions("demo", positions=0), "at least 1, not 0"),
        (lambda: transduce.draw_positions("demo", positions=2_001), "at most 2,000, not 2,001"),
        (
            lambda: transduce.draw_positions(
                replace(by_name("demo"), architecture=Architecture(d_model=65_536))
            ),
            "100 positions of 65,536 numbers are too many to draw",
        ),
        (lambda: transduce.draw_rate("nothing"), "nothing"),
        (lambda: transduce.draw_rate(steps=1), "at least 2"),
        (lambda: transduce.draw_rate(*["demo"] * 11), "these are 11"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, fact):
    with pytest.raises(InputError, match=fact):
        draw()


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 100, [0, 20, 40, 60, 80, 100]),
        (0, 7e-4, [0, 2e-4, 4e-4, 6e-4]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_ticks_are_round(low, high, ticks):
    assert Axis(low, high, 0, 1, "").ticks() == pytest.approx(ticks)


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("symbols", [5, (5,), (5, 6, 7)])
def test_symbols_that_are_not_two_sizes_are_refused(symbols):
    with pytest.raises(InputError, match="symbols must be the sizes of two vocabularies, not"):
        transduce.draw_model(symbols=symbols)


@pytest.mark.usefixtures("unchecked_types")
def test_a_recipe_that_is_no_name_is_refused():
    with pytest.raises(InputError, match="recipe: a name"):
        transduce.draw_positions(3)  # type: ignore[arg-type]
