"""The tables of a report as one HTML file: the paper beside ours, with bars for differences."""

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from transduce.view.page.document import build_page, list_parts

PARTS = list_parts("tables", [], ["dom"])
MARK = "<!--report-->"
BARS = (
    "A bar to the right: our figure is larger than the paper's. Bars of a column have one scale; "
    "in a table of claims, those of one measure have."
)
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?")
CODE = re.compile("`([^`]*)`")
WIDTH, HEIGHT = 60, 14  # pixels of a bar's cell

Cells = Sequence[Sequence[str]]  # rows of a table; the first is its header
Part = tuple[str, str, Cells]  # heading, remark and table


class Comparison(NamedTuple):
    """The indices of a column of our values and of the paper's column for the same quantity."""

    ours: int
    paper: int


def build_tables_page(title: str, conditions: Sequence[str], parts: Sequence[Part]) -> str:
    """Return an HTML page of tables, each with a heading and a remark; the page requests nothing.

    A column "PPL printed" has the paper's figures for "PPL", and "paper" those for "ours".
    """
    body = [f"<h1>{html.escape(title)}</h1>", *write_list(conditions), *write_parts(parts)]
    if any("<rect" in one for one in body):
        body.append(f'<p class="quiet">{BARS}</p>')
    page = build_page(title, PARTS, [])
    return page.replace(MARK, "\n".join(body))


def write_list(sentences: Sequence[str]) -> Iterator[str]:
    """Yield a list of sentences as HTML."""
    yield from ("<ul>", *(f"<li>{write_text(one)}</li>" for one in sentences), "</ul>")


def write_parts(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the headings, remarks and tables of a report as HTML."""
    for heading, remark, cells in parts:
        yield from (f"<h2>{html.escape(heading)}</h2>", f"<p>{write_text(remark)}</p>")
        yield from ('<div class="scroll" tabindex="0">', *write_table(cells), "</div>")


def write_text(text: str) -> str:
    """Return a sentence as HTML, in which text between backticks is marked as code."""
    return CODE.sub(r"<code>\1</code>", html.escape(text))


def write_table(cells: Cells) -> Iterator[str]:
    """Yield an HTML table in parts, with a column of bars after each pair of compared columns."""
    head, *rows = cells
    compared = list(find_comparisons(head))
    papers, order = {one.paper for one in compared}, list[int | Comparison]()
    for index in range(len(head)):
        pair = next((one for one in compared if one.ours == index), None)
        order += [index] if index not in papers and not pair else []
        order += [pair.ours, pair.paper, pair] if pair else []
    scales = {one: find_scales(rows, one, head) for one in compared}
    titles = "".join(
        f'<th scope="col">{html.escape(head[one] if isinstance(one, int) else "ours − paper")}</th>'
        for one in order
    )
    yield f"<table><thead><tr>{titles}</tr></thead><tbody>"
    for row in rows:
        html_cells = "".join(
            f"<td>{html.escape(row[one])}</td>"
            if isinstance(one, int)
            else f"<td>{draw_difference(row, one, scales[one][find_measure(row, head)])}</td>"
            for one in order
        )
        yield f"<tr>{html_cells}</tr>"
    yield "</tbody></table>"


def find_comparisons(head: Sequence[str]) -> Iterator[Comparison]:
    """Yield the columns to compare: "ours" with "paper", and NAME with "NAME printed"."""
    for index, name in enumerate(head):
        other = "paper" if name == "ours" else f"{name} printed"
        if other in head:
            yield Comparison(index, head.index(other))


def find_measure(row: Sequence[str], head: Sequence[str]) -> str:
    """Return a row's cell in the column "measure", or "" if the table has no such column."""
    return row[head.index("measure")] if "measure" in head else ""


def find_scales(rows: Cells, pair: Comparison, head: Sequence[str]) -> dict[str, float]:
    """Return for each measure the largest absolute difference between two columns."""
    scales = dict[str, float]()
    for row in rows:
        group, difference = find_measure(row, head), subtract(row, pair)
        scales[group] = max(scales.get(group, 0.0), abs(difference or 0.0))
    return scales


def subtract(row: Sequence[str], pair: Comparison) -> float | None:
    """Return our number minus the paper's, or None if either is missing."""
    found = [NUMBER.match(row[index]) for index in pair]
    ours, paper = (one and float(one[0].replace(",", "")) for one in found)
    return None if ours is None or paper is None else ours - paper


def draw_difference(row: Sequence[str], pair: Comparison, scale: float) -> str:
    """Return a difference in HTML, a bar (full at `scale`) and a number; "" if one is missing."""
    difference = subtract(row, pair)
    if difference is None:
        return ""
    length = WIDTH / 2 * abs(difference) / (scale or 1.0)
    x = WIDTH / 2 - (length if difference < 0 else 0)
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" aria-hidden="true">'
        f'<path d="M{WIDTH / 2:g} 0v{HEIGHT}"/>'
        f'<rect x="{x:.1f}" y="2" width="{length:.1f}" height="{HEIGHT - 4}"/></svg> '
        f"{difference:+.2f}"
    )
