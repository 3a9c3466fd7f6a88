"""The report that compares the measured Table 1 with the printed one: Markdown, JSON and CSV."""

import json
from collections.abc import Callable
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

from transduce.checkpoint.card import markdown_table
from transduce.durable.folder import atomic_folder
from transduce.reproduce.layer_costs.findings import describe_findings
from transduce.reproduce.layer_costs.measure import LayerRow, LayerTable, MeasuredPoint
from transduce.reproduce.report import format_csv

NAME = "table1"
Cells = list[list[str]]


def write_report(folder: Path, table: LayerTable, picture: bytes | None) -> None:
    """Write the report of Table 1 as a folder of Markdown, JSON, CSV and, if given, the PNG."""
    about = {"date": table.date, "transduce": table.environment["transduce"]}
    with atomic_folder(folder, kind=NAME, about=about) as writer:
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


def format_markdown(table: LayerTable, picture: bytes | None = None) -> str:
    """Return the report as a page of Markdown."""
    parts = ["# Table 1, measured", "\n".join(f"- {line}" for line in describe_conditions(table))]
    for title, cells in build_sections(table):
        parts += [f"## {title}", markdown_table(cells[0], cells[1:])]
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
    ]


def build_sections(table: LayerTable) -> list[tuple[str, Cells]]:
    """Return the tables of the report, each with its title."""
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
    """Return the summary: each column of the paper's Table 1, followed by our measurements."""
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
    n, d = table.plan.middle
    head = ["layer", "counted", "by hand", "differ", "with projections", "by hand", "grows"]
    rows = []
    for row in table.rows:
        at = next(p for p in row.points if (p.n, p.d) == (n, d))
        whole, by_hand = at.with_projections, at.by_hand + at.projections_by_hand
        difference = f"{abs(at.operations / at.by_hand - 1):.2%}"
        counts = [f"{at.operations:,}", f"{at.by_hand:,}", difference, f"{whole:,}", f"{by_hand:,}"]
        rows.append([row.kind.name, *counts, format_powers(row, lambda p: p.with_projections)])
    return [head, *rows]


def tabulate_chains(table: LayerTable) -> Cells:
    """Tabulate the longest chain of dependent operations by kind of layer and sentence length."""
    head = ["layer", "paper", *(f"n = {p.n}" for p in table.rows[0].points_by("n")), "grows"]
    rows = [
        [
            row.kind.name,
            row.kind.printed.sequential,
            *(str(p.chain) for p in row.points_by("n")),
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
    head = ["layer", *(f"n = {p.n}" for p in table.rows[0].points_by("n")), "with n", "with d"]
    rows = []
    for row in table.rows:
        figures = [f"{value(p):.2f}" for p in row.points_by("n")]
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
