"""How many times as fast as its peers transduce is, one column for each kind of processor."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import search, training
from benchmarks.figures import ratios, spread, table
from benchmarks.on_gpu import page as gpu
from benchmarks.page import name_kind
from benchmarks.shapes import SHAPES
from benchmarks.turns import Turn

ABOUT = [
    "# Speed",
    "",
    "Made by `benchmarks/run` from the figures in `benchmarks/results/`; do not edit. How many "
    "times as fast as a peer transduce is, with the same weights, tokens and threads: the median "
    "of rounds, the lowest and highest in brackets; above 1 transduce is faster. In training the "
    "peer is the fastest one, in search CTranslate2 (in int8 if transduce is, else in float32).",
    "",
]
UNEQUAL = f" ({search.LENGTH + 1} steps for {search.LENGTH})"
ABOUT_UNEQUAL = [
    f'Columns with "{UNEQUAL.strip(" ()")}" were measured before 2026-11-26: in the search of '
    "random weights transduce took a step for END, and CTranslate2 none. There transduce is up to "
    "a twentieth faster than its ratios say.",
    "",
]
MEASURED = [  # what the pages of all processors have in common
    "## How a processor is measured",
    "",
    "Trust the ratios rather than the figures, as the machines are shared. All variants of a table "
    "ran in turn in the same minutes on the same tokens, each in its own process. Figures are "
    "medians over rounds, the lowest and highest in brackets; ratios are taken within each round.",
    "",
    training.ABOUT,
    "",
    search.ABOUT,
    "",
    *(f"- {name}: {training.sizes(SHAPES[name])}" for name in SHAPES),
    "",
]
PEER_PRECISION = {"float32": "float32", "bfloat16": "float32", "int8": "int8"}
NOT_MEASURED = "not measured"


def page(machines: Mapping[Path, Mapping[str, Any]], on_gpu: Mapping[str, Any] | None) -> str:
    """The page that compares machines; each column's heading links to the page of its figures."""
    columns = [dict(list_rows(found["parts"])) for found in machines.values()]
    labels = sorted({label for column in columns for label in column})
    heads = [name_column(at, found) for at, found in machines.items()]
    unequal = ABOUT_UNEQUAL if any(head.endswith(UNEQUAL) for head in heads) else []
    body = [[label, *(column.get(label, NOT_MEASURED) for column in columns)] for label in labels]
    compared = table(["", *heads], body)
    return "\n".join([*ABOUT, *compared, *unequal, *MEASURED, *gpu.section(on_gpu)])


def name_column(at: Path, found: Mapping[str, Any]) -> str:
    """Return a column's heading: the processor, a link to its page, and what was unequal."""
    searched = found["parts"].get("search")
    unequal = UNEQUAL if searched and not search.took_equal_steps(searched["figures"]) else ""
    return f"[{name_kind(found['machine'])}]({at}){unequal}"


def list_rows(parts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the label and ratio of each comparison that was measured on one machine."""
    if "training" in parts:
        yield from list_training(parts["training"]["figures"]["shapes"])
    if "search" in parts:
        threads = parts["search"]["threads"]
        for shape, ways in parts["search"]["figures"]["shapes"].items():
            for way, measured in ways.items():
                for label, ratio in list_search(measured["turns"], threads):
                    yield f"search, {shape}, {way}, {label}", ratio


def list_training(shapes: Mapping[str, Mapping[str, Sequence[Turn]]]) -> Iterator[tuple[str, str]]:
    """Yield each shape's ratio to the fastest of the peers."""
    for shape, turns in shapes.items():
        trained = {name: some for name, some in turns.items() if name != training.CEILING}
        faster = ratios(trained, training.OURS, training.rate)
        measured = [faster[peer] for peer in training.PEERS if peer in faster]
        if measured:
            nearest = min(measured, key=lambda some: sorted(some)[len(some) // 2])
            yield f"training, {shape}", spread(nearest, 2)


def list_search(turns: Mapping[str, Sequence[Turn]], threads: int) -> Iterator[tuple[str, str]]:
    """Yield the ratios to CTranslate2 with as many processes and threads."""
    ways = {
        f", {search.PAIR}": f"{threads} × 1",
        ", one thread": "1 × 1",
        "": f"1 × {threads}",
    }
    for precision, peer_precision in PEER_PRECISION.items():
        for ours, theirs in ways.items():
            mine = f"transduce, {precision}{ours}"
            peer = f"CTranslate2, {peer_precision}, {theirs} threads"
            if mine in turns and peer in turns:
                ratio = spread(ratios(turns, mine, search.rate)[peer], 2)
                yield f"{precision}, {theirs} threads", ratio
