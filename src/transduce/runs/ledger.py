"""The ledger of a run: what is the paper's, what is not, how large it is and what it cost.

Section 6.1 estimates the cost of training as time x devices x what a device sustains. Beside that
stands what the products of all matrices come to, counted by formula.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import final

import numpy as np
import torch
from jaxtyping import Int32

from transduce.checkpoint.card import shown
from transduce.machine.environment import environment
from transduce.machine.rate import sustained_rate
from transduce.recipes.names import find_paper_run
from transduce.recipes.operations import Text, training
from transduce.recipes.parameters import count, embeddings
from transduce.recipes.printed import TABLE_3 as PRINTED
from transduce.recipes.table3 import TABLE_3
from transduce.settings import Architecture, Recipe
from transduce.settings.deviations import BASE, Deviation, deviations
from transduce.training.journal import LOG, Journal, read_journal

Lengths = Int32[np.ndarray, " N"]  # of N pairs
MACHINE = "machine"  # the journal's event: what computes from this step on
SYMBOLS = {"big": "35,368 to 36,344"}  # that give the printed count
OF_THE_OTHERS = "41,004 to 41,208"


def differs(recipe: Recipe) -> list[str]:
    """Which run of the paper a recipe is, where it leaves what the paper states of it, and why."""
    run = find_paper_run(recipe) or BASE
    in_paper, here = stated(deviations(run)), stated(deviations(recipe, run))
    if not in_paper and not here:
        return ["every setting that the paper states is that of its base model"]
    why = [f"because: {recipe.because}"] if recipe.because else []
    if not in_paper:
        return [f"the paper's base model, but for {here}", *why]
    table, row = run.name.removeprefix("table").split("/")
    own = f"row {row} of Table {table}, its base model but for {in_paper}"
    if not here:
        return [f"the paper's own: {own}", *why]
    return [f"made from the paper's {own}", f"not as there: {here}", *why]


def stated(found: Sequence[Deviation]) -> str:
    """The settings among them that the paper states, here and (there)."""
    return ", ".join(
        f"{one.path.split('.')[1]} {shown(one.here)} ({shown(one.paper)})"
        for one in found
        if one.is_stated
    )


def size(a: Architecture, source_symbols: int, target_symbols: int) -> str:
    """The parameters as a sum, beside what Table 3 prints of the same model, if it does."""
    total = count(a, source_symbols, target_symbols)
    of_symbols = embeddings(a, source_symbols, target_symbols)
    rows = (of_symbols // a.d_model, a.d_model)
    sum_of = f"{total:,} parameters = {total - of_symbols:,} + {rows[0]:,} symbols x {rows[1]:,}"
    row = row_like(a)
    if row is None or not PRINTED[row].millions:
        return sum_of
    symbols = SYMBOLS.get(row, OF_THE_OTHERS)
    return f"{sum_of}; Table 3 prints {PRINTED[row].millions} million, which {symbols} symbols give"


def row_like(a: Architecture) -> str | None:
    """The row of Table 3 with this architecture."""
    return next((name for name, row in TABLE_3.items() if row.architecture == a), None)


def text_of(source_lengths: Lengths, target_lengths: Lengths) -> Text:
    """Lengths of a corpus, summed."""
    n, m = (lengths.astype(np.float64) for lengths in (source_lengths, target_lengths))
    return Text(*map(float, (n.sum(), m.sum(), n @ n, m @ m, n @ m)))


@final
@dataclass(frozen=True)
class Computing:
    """What computes from some step on; kept in the journal."""

    device: str
    devices: int
    rate: float  # operations a second of a device, measured
    a_piece: float  # operations for each target piece of this corpus, by formula


def computing(recipe: Recipe, text: Text, symbols: int, where: torch.device, n: int) -> Computing:
    """Measure the device; n of them work together on a text like this."""
    known = environment(where)
    return Computing(
        device=known["processor"] if known["device"] == "cpu" else known["device"],
        devices=n,
        rate=sustained_rate(where, recipe.training.precision),
        a_piece=training(recipe.architecture, symbols, text) / text.target,
    )


def note(folder: Path, step: int, what: Computing) -> None:
    """Into the journal, for the card."""
    with closing(Journal(folder / LOG)) as journal:
        journal.write(MACHINE, step=step, **asdict(what))


@final
@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a training took."""

    device: str  # the last that computed
    devices: int
    rate: float  # operations a second of each, measured
    seconds: float
    estimated: float  # operations: time x devices x rate, as the paper estimates them
    counted: float  # operations: products of matrices, forward and backward


def spent(folder: Path) -> Spent | None:
    """What a run took so far, from its journal: each stretch at the rate of what computed then."""
    now: Computing | None = None
    seconds = estimated = counted = 0.0
    for event in read_journal(folder / LOG):
        if event["event"] == MACHINE:
            now = Computing(**{field.name: event[field.name] for field in fields(Computing)})
        elif event["event"] == "update" and now is not None:
            estimated += (event["seconds"] - seconds) * now.devices * now.rate
            counted += event["target_tokens"] * now.a_piece
            seconds = float(event["seconds"])
    if not estimated or now is None:
        return None
    return Spent(
        device=now.device,
        devices=now.devices,
        rate=now.rate,
        seconds=seconds,
        estimated=estimated,
        counted=counted,
    )


def cost(folder: Path) -> list[str]:
    """The same in sentences, beside the paper's."""
    run = spent(folder)
    if run is None:
        return []
    return [
        f"hardware: {run.devices} x {run.device}, {run.rate:.1e} operations/s measured on each; "
        "the paper: 8 P100 at 9.5e12",
        f"cost as the paper estimates it (time x devices x rate): {run.seconds:,.0f} s, "
        f"{run.estimated:.1e} operations; the paper: base 3.3e18, big 2.3e19",
        f"cost as counted (products of matrices, forward and backward): {run.counted:.1e} "
        f"operations, {run.counted / run.estimated:.0%} of the estimate",
    ]
