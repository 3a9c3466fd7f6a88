"""A frame with axes, ticks and lines, as the elements of an SVG document."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from transduce.text.xml import escape_xml

BASE = "table3/base"  # the recipe of a drawing that none is named for
FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
INK, QUIET, EDGE = "#1f2328", "#57606a", "#d0d7de"
CATEGORY10 = (  # colours of lines, and of heads in the paper's figures: those of d3
    *("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd"),
    *("#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"),
)
TICK = 12  # font size of numbers
Number = int | float


@final
@dataclass(frozen=True)
class Axis:
    """An axis of a plot: values from `low` to `high`, drawn from pixel `begin` to pixel `end`."""

    low: Number
    high: Number
    begin: Number
    end: Number
    title: str

    def to_pixel(self, value: Number) -> float:
        """Return the pixel at which a value is drawn, rounded to two decimals."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.begin + share * (self.end - self.begin), 2)

    def ticks(self, most: int = 6) -> list[Number]:
        """Return up to `most` round, evenly spaced values between `low` and `high`."""
        rough = (self.high - self.low) / (most - 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [step * number for number in range(first, last + 1)]


@final
@dataclass(frozen=True)
class Frame:
    """The two axes of a plot, and functions that format the numbers at their ticks."""

    across: Axis
    up: Axis
    write_up: Callable[[Number], str] = lambda value: f"{value:g}".replace("-", "−")

    def draw(self) -> Iterator[str]:
        """Yield the SVG elements of both axes: grid lines, numbers at the ticks, and titles."""
        left, right, low, high = self.across.begin, self.across.end, self.up.begin, self.up.end
        for value in self.up.ticks():
            y = self.up.to_pixel(value)
            yield f'<path d="M{left:g} {y:g}H{right:g}" stroke="{EDGE}"/>'
            yield draw_text(self.write_up(value), left - 6, y + 4, anchor="end", fill=QUIET)
        for value in self.across.ticks():
            x = self.across.to_pixel(value)
            yield f'<path d="M{x:g} {low:g}v5" stroke="{QUIET}"/>'
            yield draw_text(f"{value:,.0f}", x, low + 19, anchor="middle", fill=QUIET)
        yield f'<path d="M{left:g} {low:g}H{right:g}" stroke="{QUIET}"/>'
        yield draw_text(self.across.title, right, low + 36, anchor="end", fill=QUIET)
        yield draw_text(self.up.title, left, high - 10, fill=QUIET)

    def draw_line(self, points: Iterable[tuple[Number, Number]], colour: str) -> str:
        """Return an SVG line through points, each (value across, value up)."""
        pixels = (f"{self.across.to_pixel(x):g} {self.up.to_pixel(y):g}" for x, y in points)
        return (
            f'<path d="M{"L".join(pixels)}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-linejoin="round"/>'
        )


def draw_text(  # noqa: PLR0913 - a text's place and its form
    text: str,
    x: Number,
    y: Number,
    *,
    anchor: str = "start",
    fill: str = INK,
    bold: bool = False,
    size: int = TICK,
) -> str:
    """Return an SVG text element; `anchor` says whether its start, middle or end is at x."""
    form = ' font-weight="bold"' if bold else ""
    form += f' font-size="{size}"' if size != TICK else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}"{form}>'
        f"{escape_xml(text)}</text>"
    )


def build_svg(
    size: tuple[int, int],
    title: str,
    description: str,
    elements: Sequence[str],
    font: tuple[str, int] = (FONT, TICK),
) -> str:
    """Return an SVG document with these elements on white; equal arguments give equal bytes."""
    width, height = size
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" font-family="{font[0]}" '
            f'font-size="{font[1]}">',
            f"<title>{escape_xml(title)}</title>",
            *([f"<desc>{escape_xml(description)}</desc>"] if description else []),
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *elements,
            "</svg>",
            "",
        ]
    )
