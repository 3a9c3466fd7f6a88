"""Draws equation 3: the learning rates of recipes over the training steps    (section 5.3)"""

from collections.abc import Sequence

from transduce.paper.training import scaled_learning_rate
from transduce.settings import Recipe
from transduce.view.attention.figures import CATEGORY10
from transduce.view.drawings.axes import Axis, Frame, Number, build_svg, draw_text

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, LOW = 64, 690, 70, 300
POINTS = 240  # points of each line after its warm-up
WARMUPS = 5  # the drawing ends by default at this multiple of the longest warm-up


def draw_rates(recipes: Sequence[Recipe], steps: int | None = None) -> str:
    """Draw the learning rate of each recipe as SVG, from step 1 to `steps`.

    By default the last step is five times the longest warm-up, or the longest training if that
    is shorter.
    """
    longest, warmup = (
        max(getattr(one.training, name) for one in recipes) for name in ("steps", "warmup")
    )
    last = steps or max(2, min(longest, WARMUPS * warmup))
    peaks = [rate_at(recipe, min(last, recipe.training.warmup)) for recipe in recipes]
    across = Axis(0, last, LEFT, RIGHT, "training step")
    up = Axis(0, 1.1 * max(peaks), LOW, TOP, "learning rate")
    frame = Frame(across, up, write_up=lambda y: f"{y:.6f}".rstrip("0").rstrip(".") or "0")
    lines = [
        frame.draw_line(compute_points(recipe, last), colour)
        for recipe, colour in zip(recipes, CATEGORY10, strict=False)
    ]
    title = "Learning rate by equation 3: d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)"
    names = [describe_line(recipe, peak) for recipe, peak in zip(recipes, peaks, strict=True)]
    labels = [
        draw_text(name, RIGHT, TOP + 18 * (number + 1), anchor="end", fill=CATEGORY10[number])
        for number, name in enumerate(names)
    ]
    heading = draw_text(title, LEFT, 28, bold=True)
    elements = [heading, *frame.draw(), *lines, *labels]
    return build_svg((WIDTH, HEIGHT), title, "; ".join(names), elements)


def compute_points(recipe: Recipe, last: int) -> list[tuple[Number, Number]]:
    """Return the points (step, learning rate) of a recipe's line, up to step `last`.

    The warm-up is a straight line between two points; the points after it are evenly spaced.
    """
    peak = min(last, recipe.training.warmup)
    after = [peak + (last - peak) * number / POINTS for number in range(1, POINTS + 1)]
    steps = sorted({1, peak, *(round(step) for step in after)})
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
