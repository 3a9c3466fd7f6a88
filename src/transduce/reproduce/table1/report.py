"""Table 1 to read and to go on with: what the paper prints, and beside it what was measured."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transduce.checkpoint.card import markdown_table
from transduce.durable import atomic_folder
from transduce.reproduce.spreadsheet import as_csv
from transduce.reproduce.table1.findings import findings
from transduce.reproduce.table1.measure import Point, Row, Table

NAME = "table1"
Cells = list[list[str]]


def write_report(folder: Path, table: Table, picture: bytes | None) -> None:
    """A folder with all of it, whole or absent."""
    about = {"date": table.date, "transduce": table.environment["transduce"]}
    with atomic_folder(folder, kind=NAME, about=about) as writer:
        writer.write(f"{NAME}.md", as_markdown(table, picture).encode())
        writer.write(f"{NAME}.json", (json.dumps(as_object(table), indent=1) + "\n").encode())
        writer.write("points.csv", as_csv(points(table)).encode())
        writer.write("paths.csv", as_csv(paths(table)).encode())
        if picture is not None:
            writer.write(f"{NAME}.png", picture)


def as_markdown(table: Table, picture: bytes | None = None) -> str:
    """A page."""
    parts = ["# Table 1, measured", "\n".join(f"- {line}" for line in how(table))]
    for title, cells in sections(table):
        parts += [f"## {title}", markdown_table(cells[0], cells[1:])]
    parts += ["## What was found", "\n".join(f"- {line}" for line in findings(table))]
    if picture is not None:
        parts.append(f"![operations, time, memory and paths as n grows]({NAME}.png)")
    return "\n\n".join(parts) + "\n"


def how(table: Table) -> list[str]:
    """What one must know to read the figures."""
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
    ]


def sections(table: Table) -> list[tuple[str, Cells]]:
    """The tables of the page, each with its title."""
    n, d = table.plan.middle
    return [
        ("The paper's table, and ours", in_short(table)),
        (f"Operations of a layer, at n = {n}, d = {d}", operations(table)),
        ("Longest chain of operations that wait for one another", chains(table)),
        ("Maximum path length", lengths(table)),
        ("Milliseconds, forward and back", growing(table, lambda p: p.seconds * 1e3)),
        ("MiB of tensors at once, forward and back", growing(table, lambda p: p.peak / 2**20)),
    ]


def in_short(table: Table) -> Cells:
    """Shaped as the paper's."""
    head = ["layer", "complexity", "counted", "sequential", "counted", "maximum path", "measured"]
    rows = [
        [
            row.kind.name,
            row.kind.printed.operations,
            f"n^{row.in_n(of_mixing)} d^{row.in_d(of_mixing)}",
            row.kind.printed.sequential,
            f"n^{row.in_n(lambda p: p.chain)}",
            row.kind.printed.path,
            row.kind.path_formula if row.as_derived else "see below",
        ]
        for row in table.rows
    ]
    return [head, *rows]


def operations(table: Table) -> Cells:
    """As torch counted them and as a formula has them; then with the projections of attention."""
    n, d = table.plan.middle
    head = ["layer", "counted", "by hand", "differ", "with projections", "by hand", "grows"]
    rows = []
    for row in table.rows:
        at = next(p for p in row.points if (p.n, p.d) == (n, d))
        whole, by_hand = at.operations + at.around, at.by_hand + at.around_by_hand
        difference = f"{abs(at.operations / at.by_hand - 1):.2%}"
        counts = [f"{at.operations:,}", f"{at.by_hand:,}", difference, f"{whole:,}", f"{by_hand:,}"]
        rows.append([row.kind.name, *counts, f"n^{row.in_n(of_layer)} d^{row.in_d(of_layer)}"])
    return [head, *rows]


def chains(table: Table) -> Cells:
    """At every n."""
    head = ["layer", "paper", *(f"n = {p.n}" for p in table.rows[0].along_n()), "grows"]
    rows = [
        [
            row.kind.name,
            row.kind.printed.sequential,
            *(str(p.chain) for p in row.along_n()),
            f"n^{row.in_n(lambda p: p.chain)}",
        ]
        for row in table.rows
    ]
    return [head, *rows]


def lengths(table: Table) -> Cells:
    """As gradients show them, in both stacks."""
    titles = [f"{path.stack} n = {path.n}" for path in table.rows[0].paths]
    rows = []
    for row in table.rows:
        measured = [str(path.length) for path in row.paths]
        said = row.kind.path_formula if row.as_derived else f"not {row.kind.path_formula}"
        rows.append([row.kind.name, row.kind.printed.path, *measured, said])
    return [["layer", "paper", *titles, "exactly"], *rows]


def growing(table: Table, value: Callable[[Point], float]) -> Cells:
    """A figure at every n, and how it grows."""
    head = ["layer", *(f"n = {p.n}" for p in table.rows[0].along_n()), "with n", "with d"]
    rows = []
    for row in table.rows:
        figures = [f"{value(p):.2f}" for p in row.along_n()]
        n, d = row.in_n(value), row.in_d(value)
        powers = [f"n^{n} ± {n.error:.2f}", f"d^{d} ± {d.error:.2f}"]
        rows.append([row.kind.name, *figures, *powers])
    return [head, *rows]


def of_mixing(point: Point) -> float:
    """What the paper's O(…) speaks of."""
    return float(point.operations)


def of_layer(point: Point) -> float:
    """With the projections of attention."""
    return float(point.operations + point.around)


def as_object(table: Table) -> dict[str, Any]:
    """All that was measured, with full digits."""
    return {
        "table": NAME,
        "date": table.date,
        "environment": table.environment,
        "plan": asdict(table.plan),
        "rows": [as_row(row) for row in table.rows],
        "findings": findings(table),
    }


def as_row(row: Row) -> dict[str, Any]:
    """One kind of layer."""
    measures: dict[str, Callable[[Point], float]] = {
        "operations": of_mixing,
        "with_projections": of_layer,
        "chain": lambda p: p.chain,
        "seconds": lambda p: p.seconds,
        "peak": lambda p: p.peak,
    }
    return {
        "layer": row.kind.name,
        "paper": asdict(row.kind.printed),
        "grows_with_n": {name: asdict(row.in_n(value)) for name, value in measures.items()},
        "grows_with_d": {name: asdict(row.in_d(value)) for name, value in measures.items()},
        "points": [asdict(one) for one in row.points],
        "paths": [asdict(one) for one in row.paths],
        "path_formula": row.kind.path_formula,
    }


def points(table: Table) -> list[dict[str, Any]]:
    """A line for each layer and size."""
    return [{"layer": row.kind.name, **asdict(p)} for row in table.rows for p in row.points]


def paths(table: Table) -> list[dict[str, Any]]:
    """A line for each layer, stack and n."""
    return [{"layer": row.kind.name, **asdict(p)} for row in table.rows for p in row.paths]
