"""`transduce.draw_positions` and `draw_rate`: formulas of sections 3.5 and 5.3 as SVG."""

import math
from collections import defaultdict
from itertools import groupby

from jaxtyping import Float
from torch import Tensor

from transduce.paper.model import compute_sinusoids
from transduce.paper.training import scaled_learning_rate
from transduce.recipes.choice import find_recipe
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.text.arguments import require_count
from transduce.view.drawings.axes import (
    BASE,
    CATEGORY10,
    QUIET,
    Axis,
    Frame,
    Number,
    build_svg,
    draw_text,
)

POSITIONS = 100
MAX_POSITIONS = 2_000  # a file with more would have many megabytes
MAX_NUMBERS = 4_000_000  # sines and cosines in a picture
WIDTH, LEFT, RIGHT = 720, 64, 690
TOP, CELLS, GAP, WAVES = 62, 280, 110, 110  # heights: margin, cells, gap, waves
SHADES = 8  # for numbers above 0, and as many for numbers below 0
BLUE, ORANGE = (10, 88, 202), (179, 89, 0)  # above 0 and below 0, as in the explainer
WAVE_EIGHTHS = (0, 1, 2, 4)  # the columns drawn as waves, in eighths of d_model
RATE_HEIGHT, RATE_TOP, RATE_LOW = 360, 70, 300  # of the drawing of learning rates
POINTS = 240  # points of each line after its warm-up
WARMUPS = 5  # the drawing ends by default at this multiple of the longest warm-up


def draw_positions(recipe: str | Recipe = BASE, *, positions: int = POSITIONS) -> str:
    """Return a recipe's sinusoids of the first `positions` positions as SVG    (section 3.5)

        svg = transduce.draw_positions("demo", positions=60)

    Raises InputError for a recipe that has other positions.
    """
    require_count("positions", positions)
    fact = f"positions must be at most {MAX_POSITIONS:,}, not {positions:,}"
    require(positions <= MAX_POSITIONS, fact)
    chosen = find_recipe(recipe)
    require(
        chosen.architecture.positions == "sinusoidal",
        f"architecture.positions of {chosen.name} is {chosen.architecture.positions}, and the "
        "paper's sinusoids are drawn",
        f"a recipe that has them, such as {BASE}",
    )
    d_model = chosen.architecture.d_model
    fact = f"{positions:,} positions of {d_model:,} numbers are too many to draw"
    require(positions * d_model <= MAX_NUMBERS, fact, f"--positions {MAX_NUMBERS // d_model}")

    # In the upper plot a row is a position and a column one of the d_model numbers; numbers above 0
    # are blue, numbers below 0 orange. The lower plot has some of the numbers as waves.
    table = compute_sinusoids(positions, d_model)
    title = "PE(pos, 2i) = sin(a), PE(pos, 2i+1) = cos(a), with a = pos / 10000^(2i/d_model)"
    dimension = Axis(0, d_model, LEFT, RIGHT, f"one of the d_model = {d_model} numbers")
    down = Axis(0, positions, TOP, TOP + CELLS, "")
    elements = [
        draw_text(title, LEFT, 28, bold=True),
        draw_text("position", LEFT - 6, TOP - 10, anchor="end", fill=QUIET),
        draw_legend(RIGHT - 150, TOP - 22),
        *draw_position_axes(dimension, down),
        *draw_cells(table, dimension, CELLS / positions),
        *draw_waves(table, TOP + CELLS + GAP),
    ]
    about = f"Sines and cosines of {positions} positions; wavelengths grow from 2π to 10000 · 2π."
    return build_svg((WIDTH, TOP + CELLS + GAP + WAVES + 50), title, about, elements)


def draw_position_axes(dimension: Axis, down: Axis) -> list[str]:
    """Return the SVG ticks and labels of the cells' two axes; position 0 is the top row."""
    found = [
        draw_text(f"{value:g}", LEFT - 6, down.to_pixel(value) + 10, anchor="end", fill=QUIET)
        for value in down.ticks()[:-1]
    ]
    low = down.end
    for value in dimension.ticks(9):
        x = dimension.to_pixel(value)
        found.append(f'<path d="M{x:g} {low:g}v5" stroke="{QUIET}"/>')
        found.append(draw_text(f"{value:g}", x, low + 19, anchor="middle", fill=QUIET))
    return [*found, draw_text(dimension.title, RIGHT, low + 36, anchor="end", fill=QUIET)]


def draw_cells(table: Float[Tensor, "P d_model"], dimension: Axis, height: Number) -> list[str]:
    """Return a table of P positions as SVG cells, coloured by value and `height` pixels high.

    Neighbours of one shade in a column are one line. Lines are drawn in units of one position and
    one dimension; the group around them is scaled to pixels.
    """
    paths = defaultdict[int, list[str]](list)
    for column, values in enumerate((table.T * SHADES).round().int().tolist()):
        first = 0
        for shade, run in groupby(values):
            length = len(list(run))
            paths[shade].append(f"M{column}.5 {first}v{length}")
            first += length
    width = (dimension.end - dimension.begin) / dimension.high
    group = f'<g transform="translate({LEFT} {TOP}) scale({width:.5g} {height:.5g})">'
    lines = [
        f'<path d="{"".join(path)}" stroke="{mix_colour(shade)}" stroke-width="1.03"/>'
        for shade, path in sorted(paths.items())
        if shade
    ]
    return [group, *lines, "</g>"]


def mix_colour(shade: int) -> str:
    """Return the colour of a shade, from -SHADES (orange) through 0 (white) to SHADES (blue)."""
    share = abs(shade) / SHADES
    full = BLUE if shade > 0 else ORANGE
    return "#" + "".join(f"{round(255 + share * (one - 255)):02x}" for one in full)


def draw_legend(x: int, y: int) -> str:
    """Return the SVG of a bar of all shades at (x, y), labelled −1 and 1 at its ends."""
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
    """Return SVG elements that plot four columns of a table over P positions below y = `top`."""
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


# --- The learning rate ----------------------------------------------------------------------------


def write_rate(rate: float) -> str:
    """Return a rate with up to six decimals, such as 0.0007; with three digits if it has more."""
    found = f"{rate:.6f}".rstrip("0").rstrip(".")
    return found if math.isclose(float(found), rate) else f"{rate:.3g}"


def draw_rate(*recipes: str | Recipe, steps: int | None = None) -> str:
    """Return each recipe's learning rate over the training steps as SVG    (equation 3)

        svg = transduce.draw_rate("table3/base", "table3/big", steps=20_000)

    Without a recipe the paper's base model is drawn. The last step is `steps`, by default five
    times the longest warm-up or the end of the longest training, whichever comes first.
    """
    if steps is not None:
        require_count("steps", steps)
        require(steps > 1, "steps must be at least 2, not 1")
    chosen, most = [find_recipe(one) for one in recipes or (BASE,)], len(CATEGORY10)
    fact = f"at most {most} recipes have a colour of their own, and these are {len(chosen)}"
    require(len(chosen) <= most, fact)
    longest = max(one.training.steps for one in chosen)
    warmup = max(one.training.warmup for one in chosen)
    last = steps or max(2, min(longest, WARMUPS * warmup))
    peaks = [rate_at(recipe, min(last, recipe.training.warmup)) for recipe in chosen]
    across = Axis(0, last, LEFT, RIGHT, "training step")
    up = Axis(0, 1.1 * max(peaks) or 1, RATE_LOW, RATE_TOP, "learning rate")
    frame = Frame(across, up, write_up=write_rate)
    lines = [
        frame.draw_line(compute_points(recipe, last), colour)
        for recipe, colour in zip(chosen, CATEGORY10, strict=False)
    ]
    title = "Learning rate by equation 3: d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)"
    names = [describe_line(recipe, peak) for recipe, peak in zip(chosen, peaks, strict=True)]
    labels = [
        draw_text(name, RIGHT, RATE_TOP + 18 * (number + 1), anchor="end", fill=CATEGORY10[number])
        for number, name in enumerate(names)
    ]
    heading = draw_text(title, LEFT, 28, bold=True)
    elements = [heading, *frame.draw(), *lines, *labels]
    return build_svg((WIDTH, RATE_HEIGHT), title, "; ".join(names), elements)


def compute_points(recipe: Recipe, last: int) -> list[tuple[Number, Number]]:
    """Return the points (step, learning rate) of a recipe's line, up to step `last`.

    The warm-up is a straight line between two points; the points after it are evenly spaced.
    """
    peak_step = min(last, recipe.training.warmup)
    after = [peak_step + (last - peak_step) * number / POINTS for number in range(1, POINTS + 1)]
    steps = sorted({1, peak_step, *(round(step) for step in after)})
    return [(step, rate_at(recipe, step)) for step in steps]


def rate_at(recipe: Recipe, step: int) -> float:
    """Return a recipe's learning rate at a step."""
    return scaled_learning_rate(step, recipe.architecture, recipe.training)


def describe_line(recipe: Recipe, peak: Number) -> str:
    """Return the legend of a recipe: its name, d_model, warm-up, and the highest rate drawn."""
    training = recipe.training
    factor = training.learning_rate_factor
    times = f" × {factor:g}" if factor != 1 else ""
    return (
        f"{recipe.name}: d_model {recipe.architecture.d_model:,}, warmup {training.warmup:,}"
        f"{times}, at most {peak:.2g}"
    )
