"""Draws the positional encoding: all its numbers, and some as waves    (section 3.5)"""

import math
from collections import defaultdict

from jaxtyping import Float
from torch import Tensor

from transduce.paper.model import compute_sinusoids
from transduce.view.attention.figures import CATEGORY10
from transduce.view.drawings.axes import QUIET, Axis, Frame, Number, build_svg, draw_text

WIDTH, LEFT, RIGHT = 720, 64, 690
TOP, CELLS, GAP, WAVES = 62, 280, 110, 110  # heights: margin, cells, gap, waves
SHADES = 8  # for numbers above 0, and as many for numbers below 0
BLUE, ORANGE = (10, 88, 202), (179, 89, 0)  # above 0 and below 0, as in the explainer
WAVE_EIGHTHS = (0, 1, 2, 4)  # the columns drawn as waves, in eighths of d_model


def draw_sinusoids(d_model: int, positions: int) -> str:
    """Draw the sines and cosines of positions 0 to `positions` - 1 as SVG.

    In the upper plot a row is a position and a column one of the d_model numbers; numbers above 0
    are blue, numbers below 0 orange. The lower plot has some of the numbers as waves over the
    positions.
    """
    table = compute_sinusoids(positions, d_model)
    title = "PE(pos, 2i) = sin(a), PE(pos, 2i+1) = cos(a), with a = pos / 10000^(2i/d_model)"
    number = Axis(0, d_model, LEFT, RIGHT, f"one of the d_model = {d_model} numbers")
    position = Axis(0, positions, TOP + CELLS, TOP, "")
    elements = [
        draw_text(title, LEFT, 28, bold=True),
        draw_text("position", LEFT - 6, TOP - 10, anchor="end", fill=QUIET),
        draw_legend(RIGHT - 150, TOP - 22),
        *draw_position_axes(number, position),
        *draw_cells(table, number, CELLS / positions),
        *draw_waves(table, TOP + CELLS + GAP),
    ]
    about = f"Sines and cosines of {positions} positions; wavelengths grow from 2π to 10000 · 2π."
    return build_svg((WIDTH, TOP + CELLS + GAP + WAVES + 50), title, about, elements)


def draw_position_axes(number: Axis, position: Axis) -> list[str]:
    """Return the SVG labels of both axes of the table of cells; position 0 is the top row."""
    down = Axis(0, position.high, position.end, position.begin, "")
    found = [
        draw_text(f"{value:g}", LEFT - 6, down.to_pixel(value) + 10, anchor="end", fill=QUIET)
        for value in down.ticks()[:-1]
    ]
    low = position.begin
    for value in number.ticks(9):
        x = number.to_pixel(value)
        found.append(f'<path d="M{x:g} {low:g}v5" stroke="{QUIET}"/>')
        found.append(draw_text(f"{value:g}", x, low + 19, anchor="middle", fill=QUIET))
    return [*found, draw_text(number.title, RIGHT, low + 36, anchor="end", fill=QUIET)]


def draw_cells(table: Float[Tensor, "P d_model"], number: Axis, height: Number) -> list[str]:
    """Draw a table of P positions as SVG cells, coloured by value and `height` pixels high.

    Neighbours of one shade in a column are one line. Lines are drawn in units of one position and
    one number; the group around them is scaled to pixels.
    """
    paths = defaultdict[int, list[str]](list)
    for column, values in enumerate((table.T * SHADES).round().int().tolist()):
        for first, last, shade in find_runs(values):
            paths[shade].append(f"M{column}.5 {first}v{last - first}")
    width = (number.end - number.begin) / number.high
    group = f'<g transform="translate({LEFT} {TOP}) scale({width:.5g} {height:.5g})">'
    lines = [
        f'<path d="{"".join(path)}" stroke="{mix_colour(shade)}" stroke-width="1.03"/>'
        for shade, path in sorted(paths.items())
        if shade
    ]
    return [group, *lines, "</g>"]


def find_runs(values: list[int]) -> list[tuple[int, int, int]]:
    """Return (start, end, value) of each run of equal values; `end` is exclusive."""
    starts = [i for i, value in enumerate(values) if not i or values[i - 1] != value]
    ends = [*starts[1:], len(values)]
    return [(first, end, values[first]) for first, end in zip(starts, ends, strict=True)]


def mix_colour(shade: int) -> str:
    """Return the colour of a shade, from -SHADES (orange) over 0 (white) to SHADES (blue)."""
    share = abs(shade) / SHADES
    full = BLUE if shade > 0 else ORANGE
    return "#" + "".join(f"{round(255 + share * (one - 255)):02x}" for one in full)


def draw_legend(x: int, y: int) -> str:
    """Draw a bar of all shades as SVG at (x, y), labelled −1 and 1 at its ends."""
    shades = range(-SHADES, SHADES + 1)
    cells = (
        f'<path d="M{x + 22.5 + 5 * i:g} {y}v12" stroke="{mix_colour(shade)}" stroke-width="5"/>'
        for i, shade in enumerate(shades)
    )
    right = x + 20 + 5 * len(shades)
    numbers = [
        draw_text("−1", x + 16, y + 10, anchor="end", fill=QUIET),
        draw_text("1", right + 4, y + 10, fill=QUIET),
    ]
    return "".join([*cells, *numbers])


def draw_waves(table: Float[Tensor, "P d_model"], top: int) -> list[str]:
    """Return SVG elements: some columns of a table as waves over P positions, from `top` down."""
    count, d_model = table.shape
    across = Axis(0, max(count - 1, 1), LEFT, RIGHT, "position")
    frame = Frame(across, Axis(-1, 1, top + WAVES, top, ""))
    found = list(frame.draw())
    x = LEFT
    for colour, share in zip(CATEGORY10, WAVE_EIGHTHS, strict=False):
        number = 2 * round(share * d_model / 16)
        length = 2 * math.pi * 10_000 ** (number / d_model)
        points = list(enumerate(table[:, number].tolist()))
        found.append(frame.draw_line(points, colour))
        found.append(draw_text(f"number {number}:", x, top - 27, fill=colour))
        found.append(draw_text(f"wavelength {length:,.1f}", x, top - 12, fill=colour))
        x += 162
    return found
