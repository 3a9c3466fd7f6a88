"""The report that compares the measured Table 1 with the printed one, and what it finds.

It is written as Markdown, JSON and CSV, with an optional picture by matplotlib.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transduce.checkpoint.card import format_markdown_table
from transduce.durable.folder import atomic_folder
from transduce.reproduce.layer_costs.measure import (
    LayerRow,
    LayerTable,
    MeasuredPath,
    MeasuredPoint,
)
from transduce.reproduce.report import format_csv
from transduce.runs.plots import encode_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "table1"
Cells = list[list[str]]
MAX_DEVIATION = 0.25  # larger differences between powers of time and operations are reported
MEASURES = ("operations", "seconds", "peak", "length")
TITLES = ("operations, d = {}", "seconds, d = {}", "bytes, d = {}", "maximum path length, encoder")


def write_report(
    folder: Path,
    measure: Callable[[], LayerTable],
    draw: Callable[[LayerTable], bytes] | None = None,
) -> LayerTable:
    """Measure Table 1 and write its report as a folder of Markdown, JSON, CSV; return the table.

    With `draw`, which returns a PNG image of the table, the folder has the image also. A folder
    that cannot be made is refused before anything is measured.
    """
    about: dict[str, str] = {}
    with atomic_folder(folder, kind=NAME, about=about) as writer:
        table = measure()
        about |= {"date": table.date, "transduce": table.environment["transduce"]}
        picture = draw(table) if draw else None
        writer.write(f"{NAME}.md", format_markdown(table, picture).encode())
        writer.write(f"{NAME}.json", (json.dumps(build_json(table), indent=1) + "\n").encode())
        for name in ("points", "paths"):
            records = [
                {"layer": row.kind.name, **asdict(one)}
                for row in table.rows
                for one in getattr(row, name)
            ]
            writer.write(f"{name}.csv", format_csv(records).encode())
        if picture is not None:
            writer.write(f"{NAME}.png", picture)
    return table


def format_markdown(table: LayerTable, picture: bytes | None = None) -> str:
    """Return the report as a page of Markdown."""
    parts = ["# Table 1, measured", "\n".join(f"- {line}" for line in describe_conditions(table))]
    for title, cells in build_sections(table):
        parts += [f"## {title}", format_markdown_table(cells[0], cells[1:])]
    parts += ["## What was found", "\n".join(f"- {line}" for line in describe_findings(table))]
    if picture is not None:
        parts.append(f"![operations, time, memory and paths as n grows]({NAME}.png)")
    return "\n\n".join(parts) + "\n"


def describe_conditions(table: LayerTable) -> list[str]:
    """Return sentences on how Table 1 was measured: machine, sizes, methods."""
    plan, made = table.plan, table.environment
    n, d = plan.middle
    return [
        f"made {table.date} on {made['processor']}, threads {made['threads']}, "
        f"{made['instructions']}, transduce {made['transduce']}, torch {made['torch']}",
        f"one sentence of n words through one layer; n grows at d = {d}, d grows at n = {n}; "
        f"k = {plan.k}, r = {plan.r}, 8 heads",
        "x^p: the power that fits what was measured at all sizes, by least squares on logarithms",
        "operations and chains: forward in float64, in which torch runs an LSTM step by step; "
        "in float32, which is timed, it may be one call",
        f"time and memory: forward and back in float32; time is the median of {plan.rounds} rounds",
        "m: how many positions a layer sees on a side, (r - 1) / 2, or (k - 1) / 2 in the encoder "
        "and k - 1 in the decoder, which sees one side only",
        "self-attention (restricted): the kernel of models, in which neighbours share a window; it "
        "computes more than is counted by hand (last section)",
    ]


def build_sections(table: LayerTable) -> list[tuple[str, Cells]]:
    """Return (title, cells) of each table of the report."""
    n, d = table.plan.middle
    return [
        ("The paper's table, and ours", tabulate_summary(table)),
        (f"Operations of a layer, at n = {n}, d = {d}", tabulate_operations(table)),
        ("Longest chain of operations that wait for one another", tabulate_chains(table)),
        ("Maximum path length", tabulate_path_lengths(table)),
        ("Milliseconds, forward and back", tabulate_growth(table, lambda p: p.seconds * 1e3)),
        (
            "MiB of tensors at once, forward and back",
            tabulate_growth(table, lambda p: p.peak / 2**20),
        ),
    ]


def tabulate_summary(table: LayerTable) -> Cells:
    """Return the summary: each column of the paper's Table 1, with our measurement after it."""
    head = ["layer", "complexity", "counted", "sequential", "counted", "maximum path", "measured"]
    rows = [
        [
            row.kind.name,
            row.kind.printed.operations,
            format_powers(row, lambda p: p.operations),
            row.kind.printed.sequential,
            f"n^{row.fit_power('n', lambda p: p.chain)}",
            row.kind.printed.path,
            row.kind.path_formula if row.matches_formula else "see below",
        ]
        for row in table.rows
    ]
    return [head, *rows]


def tabulate_operations(table: LayerTable) -> Cells:
    """Return each layer's operations, by torch and by formula, and the powers they grow with."""
    head = ["layer", "counted", "by hand", "differ", "with projections", "by hand", "grows"]
    rows = []
    for row in table.rows:
        at = row.middle_point
        whole, by_hand = at.with_projections, at.by_hand + at.projections_by_hand
        difference = f"{abs(at.operations / at.by_hand - 1):.2%}"
        counts = [f"{at.operations:,}", f"{at.by_hand:,}", difference, f"{whole:,}", f"{by_hand:,}"]
        rows.append([row.kind.name, *counts, format_powers(row, lambda p: p.with_projections)])
    return [head, *rows]


def tabulate_chains(table: LayerTable) -> Cells:
    """Return the table of the longest operation chains, by kind of layer and sentence length."""
    head = ["layer", "paper", *(f"n = {p.n}" for p in table.rows[0].points_along("n")), "grows"]
    rows = [
        [
            row.kind.name,
            row.kind.printed.sequential,
            *(str(p.chain) for p in row.points_along("n")),
            f"n^{row.fit_power('n', lambda p: p.chain)}",
        ]
        for row in table.rows
    ]
    return [head, *rows]


def tabulate_path_lengths(table: LayerTable) -> Cells:
    """Return the table of measured path lengths in encoder and decoder, with their formulas."""
    titles = [f"{path.stack} n = {path.n}" for path in table.rows[0].paths]
    rows = []
    for row in table.rows:
        measured = [str(path.length) for path in row.paths]
        formula = row.kind.path_formula if row.matches_formula else f"not {row.kind.path_formula}"
        rows.append([row.kind.name, row.kind.printed.path, *measured, formula])
    return [["layer", "paper", *titles, "exactly"], *rows]


def tabulate_growth(table: LayerTable, value: Callable[[MeasuredPoint], float]) -> Cells:
    """Return the table of a quantity at each sentence length n, and its growth with n and d."""
    head = ["layer", *(f"n = {p.n}" for p in table.rows[0].points_along("n")), "with n", "with d"]
    rows = []
    for row in table.rows:
        figures = [f"{value(p):.2f}" for p in row.points_along("n")]
        fitted = [(letter, row.fit_power(letter, value)) for letter in "nd"]
        powers = [f"{letter}^{one} ± {one.error:.2f}" for letter, one in fitted]
        rows.append([row.kind.name, *figures, *powers])
    return [head, *rows]


def format_powers(row: LayerRow, value: Callable[[MeasuredPoint], float]) -> str:
    """Return how a value grows with sentence length n and width d, such as "n^1.00 d^2.00"."""
    return " ".join(f"{letter}^{row.fit_power(letter, value)}" for letter in "nd")


def build_json(table: LayerTable) -> dict[str, Any]:
    """Return all measurements at full precision as an object for JSON."""
    return {
        "table": NAME,
        "date": table.date,
        "environment": table.environment,
        "plan": asdict(table.plan),
        "rows": [build_json_row(row) for row in table.rows],
        "findings": describe_findings(table),
    }


def build_json_row(row: LayerRow) -> dict[str, Any]:
    """Return the row of one kind of layer as an object for JSON."""
    measures = ("operations", "with_projections", "chain", "seconds", "peak")
    return {
        "layer": row.kind.name,
        "paper": asdict(row.kind.printed),
        **{
            f"grows_with_{letter}": {
                name: asdict(row.fit_power(letter, attrgetter(name))) for name in measures
            }
            for letter in "nd"
        },
        "points": [asdict(one) for one in row.points],
        "paths": [asdict(one) for one in row.paths],
        "path_formula": row.kind.path_formula,
    }


# --- What was found -------------------------------------------------------------------------------


def describe_findings(table: LayerTable) -> list[str]:
    """Return the findings on a measured Table 1, each a sentence with numbers."""
    return [
        *describe_counts(table),
        describe_lstm_comparison(table),
        *describe_time_growth(table),
    ]


def describe_counts(table: LayerTable) -> Iterator[str]:
    """Yield sentences on operations and path lengths: as counted, by formula and in the paper."""
    differ = [
        abs(p.with_projections / (p.by_hand + p.projections_by_hand) - 1)
        for row in table.rows
        if not row.kind.restricted  # it computes more than the formula counts
        for p in row.points
    ]
    yield (
        f"operations counted from the running layers and by hand differ by at most "
        f"{max(differ):.2%}, over {len(differ)} layers and sizes without restricted attention"
    )
    restricted = next(row for row in table.rows if row.kind.restricted)
    points = restricted.points_along("n")
    times = ", ".join(f"{p.operations / p.by_hand:.1f} (n = {p.n})" for p in points)
    yield (
        f"{restricted.kind.name} computes {times} times the r = {table.plan.r} scores a position "
        "that are counted by hand: neighbours share a window, and short sentences are not cut"
    )
    paths = [path for row in table.rows for path in row.paths]
    right = sum(path.length == path.by_hand for path in paths)
    yield f"{right} of {len(paths)} path lengths are those of the formula"
    for row in table.rows:
        in_n, in_d = (row.fit_power(letter, lambda p: p.operations) for letter in "nd")
        n, d = row.kind.printed.powers
        if abs(in_n.power - n) > 0.01 or (d is not None and abs(in_d.power - d) > 0.01):
            yield (
                f"{row.kind.name}: operations grow as n^{in_n} d^{in_d}, where the paper has "
                f"{row.kind.printed.operations}"
            )
    attention = next(row for row in table.rows if row.kind.name == "self-attention")
    at = attention.middle_point
    yield (
        f"the paper's O(n² · d) leaves out the projections Q, K, V and O, which are O(n · d²): "
        f"{at.projections / at.with_projections:.0%} of a self-attention layer's operations at "
        f"n = {at.n}, d = {at.d}"
    )


def describe_lstm_comparison(table: LayerTable) -> str:
    """Return a sentence on the n where self-attention takes less time or operations than LSTM."""
    ours, theirs = (
        row.points_along("n")
        for row in table.rows
        if row.kind.name in ("self-attention", "recurrent (LSTM)")
    )
    both = list(zip(ours, theirs, strict=True))
    quicker = [a.n for a, b in both if a.seconds < b.seconds]
    fewer = [a.n for a, b in both if a.operations < b.operations]
    return (
        f"self-attention against the LSTM at d = {table.plan.middle[1]}: quicker at "
        f"{format_list(quicker)}, fewer operations without its projections at "
        f"{format_list(fewer)} (the paper: when n < d)"
    )


def format_list(numbers: list[int]) -> str:
    """Format values of n such as "n = 4, 8"; return "no n measured" if there are none."""
    return f"n = {', '.join(map(str, numbers))}" if numbers else "no n measured"


def describe_time_growth(table: LayerTable) -> Iterator[str]:
    """Yield one sentence on the layers whose time and operations grow differently, or nothing."""
    rows = [(row.kind.name, list(format_power_differences(row))) for row in table.rows]
    deviating = [f"{name}: {', '.join(differ)}" for name, differ in rows if differ]
    if deviating:
        yield (
            "time does not grow here as all operations of a layer do, for calls, memory and what "
            f"is not counted take time, too: {'; '.join(deviating)}"
        )


def format_power_differences(row: LayerRow) -> Iterator[str]:
    """Yield "n^p ± error for n^q" (time, operations) if the powers differ, for n and then d.

    In "n^0.60 ± 0.05 for n^1.00" the first power is that of time, with its standard error, and the
    second that of operations.
    """
    for letter in "nd":
        counted = row.fit_power(letter, lambda p: p.with_projections)
        timed = row.fit_power(letter, lambda p: p.seconds)
        if abs(counted.power - timed.power) > MAX_DEVIATION:
            yield f"{letter}^{timed} ± {timed.error:.2f} for {letter}^{counted}"


# --- The picture ----------------------------------------------------------------------------------


def plot_table(table: LayerTable) -> bytes:
    """Return a PNG image of operations, time, memory and path lengths by sentence length n."""
    from matplotlib.figure import Figure

    _, d = table.plan.middle
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).flatten()
    for panel, title, measure in zip(panels, TITLES, MEASURES, strict=True):
        draw_panel(panel, title.format(d), table, measure)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    made = table.environment
    figure.suptitle(f"Table 1 on {made['processor']}, threads {made['threads']}, {table.date}")
    return encode_image(figure, "png")


def draw_panel(panel: "Axes", title: str, table: LayerTable, measure: str) -> None:
    """Draw a curve of `measure` by n for each layer, with its own dashes, as curves may overlap."""
    from matplotlib.ticker import NullLocator

    panel.set(xscale="log", yscale="log", xlabel="n", title=title)
    panel.xaxis.set_minor_locator(NullLocator())
    for number, row in enumerate(table.rows):
        found: Sequence[MeasuredPath | MeasuredPoint] = row.points_along("n")
        if measure == "length":
            found = [path for path in row.paths if path.stack == "encoder"]
        n, values = [one.n for one in found], [getattr(one, measure) for one in found]
        panel.set_xticks(n, [str(one) for one in n])
        panel.plot(n, values, marker=".", dashes=(6 - number, number), label=row.kind.name)
    panel.grid(visible=True, which="major", alpha=0.3)
