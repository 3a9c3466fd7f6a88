"""Tables and a picture of parsers that were trained alike but for one thing, from results/*.jsonl.

A line of such a file is a row of table4.json, which `reproduce table4 --model` wrote, with a name,
the number of training trees, and what `score --brackets --against` found beside another row.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from transduce.checkpoint.card import format_markdown_table
from transduce.view.drawings.axes import Axis, Frame, build_svg, draw_text

WIDTH, HEIGHT, LEFT, RIGHT, TOP, LOW = 560, 320, 64, 530, 60, 260
COLOUR = "#1f77b4"
TITLE = "Bracket F1 by the number of training trees, at equal updates"
HEAD = ("", "trees", "F1", "F1, up to 40 words", "F1, root S", "complete", "failed")
FIGURES = ("f1", "f1_up_to_40", "f1_of_sentences", "complete")

Row = Mapping[str, Any]


def read_rows(file: Path) -> list[Row]:
    """Return the rows of a file, one JSON object for each line."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def table_of_parsers(file: Path) -> str:
    """Return the parsers' scores as a table, and below it the differences that were tested."""
    rows = read_rows(file)
    cells = [
        (
            row["name"],
            f"{row['trees']:,}",
            *(f"{row[name]:.2f}" for name in FIGURES),
            f"{row['failed']:,}",
        )
        for row in rows
    ]
    return "\n\n".join([format_markdown_table(HEAD, cells), *describe_differences(rows)])


def describe_differences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a sentence with the differences that `score --against` tested, if there are any."""
    found = [
        f"{row['name']} less {row['against']['other']}: {row['against']['difference']:+.2f} "
        f"({row['against']['low']:+.2f} to {row['against']['high']:+.2f}, "
        f"p = {row['against']['p']:.3f})"
        for row in rows
        if "against" in row
    ]
    if found:
        yield f"F1, with 95 % of 1,000 resampled test sets: {'; '.join(found)}."


def draw_amounts(file: Path) -> str:
    """Return the picture of F1 over the number of training trees as SVG."""
    points = sorted((row["trees"], row["f1"], row["name"]) for row in read_rows(file))
    scores = [score for _, score, _ in points]
    most = 10 ** math.floor(math.log10(points[-1][0]))
    across = Axis(0, math.ceil(points[-1][0] / most) * most, LEFT, RIGHT, "training trees")
    bounds = 5 * math.floor(min(scores) / 5), 5 * math.ceil(max(scores) / 5 + 0.2)
    frame = Frame(across, Axis(*bounds, LOW, TOP, "bracket F1"))
    marks = [
        mark
        for trees, score, name in points
        for mark in draw_point(
            across.to_pixel(trees), frame.up.to_pixel(score), f"{score:.1f}", name
        )
    ]
    line = frame.draw_line([(trees, score) for trees, score, _ in points], COLOUR)
    heading = draw_text(TITLE, LEFT, 28, bold=True)
    about = "; ".join(f"{name}: {trees:,} trees, F1 {score:.2f}" for trees, score, name in points)
    return build_svg((WIDTH, HEIGHT), TITLE, about, [heading, *frame.draw(), line, *marks])


def draw_point(x: float, y: float, *labels: str) -> list[str]:
    """Return a dot and the lines of its label, below and to the right of it."""
    dot = f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{COLOUR}"/>'
    return [dot, *(draw_text(text, x + 6, y + 16 + 14 * n) for n, text in enumerate(labels))]
