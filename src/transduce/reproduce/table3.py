"""Table 3 as the paper shapes it, ours beside what it prints    (section 6.2)"""

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from transduce.errors import InputError
from transduce.recipes.names import difference
from transduce.recipes.printed import TABLE_3 as PRINTED
from transduce.recipes.printed import Printed
from transduce.recipes.scale import scale_by_name, scaled
from transduce.recipes.table3 import TABLE_3
from transduce.reproduce.job import SEED
from transduce.reproduce.result import MACHINES_OWN, Result
from transduce.settings.fields import demand
from transduce.settings.recipe import Value, with_changes

COLUMNS = {
    "N": "architecture.layers",
    "d_model": "architecture.d_model",
    "d_ff": "architecture.d_ff",
    "h": "architecture.heads",
    "d_k": "architecture.d_k",
    "d_v": "architecture.d_v",
    "P_drop": "architecture.dropout",
    "ε_ls": "training.label_smoothing",
    "steps": "training.steps",
    "positions": "architecture.positions",
}


@final
@dataclass(frozen=True)
class Measured:
    """A figure from one seed or several."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float | None:
        """The standard deviation between seeds; one seed does not tell."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    def shown(self, digits: int) -> str:
        """25.31 ± 0.12"""
        spread = "" if self.spread is None else f" ± {self.spread:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


@final
@dataclass(frozen=True)
class Row:
    """A row of the table: its runs, and what the paper prints."""

    name: str
    runs: Sequence[Result]
    printed: Printed

    @property
    def perplexity(self) -> Measured:
        """A piece, on the development set."""
        return Measured([run.perplexity["per_piece"] for run in self.runs])

    @property
    def bleu(self) -> Measured:
        """On the development set."""
        return Measured([run.bleu["value"] for run in self.runs])

    @property
    def parameters(self) -> int:
        """The same for every seed."""
        return self.runs[0].parameters

    @property
    def minutes(self) -> float:
        """Of training, on average."""
        return statistics.fmean(run.seconds for run in self.runs) / 60


@final
@dataclass(frozen=True)
class Table:
    """Every row that was measured, in the paper's order; all on one corpus at one scale."""

    scale: str
    rows: Mapping[str, Row]
    changes: Mapping[str, Value]  # settings in which these rows are not the scale's

    @property
    def runs(self) -> list[Result]:
        """All of them."""
        return [run for row in self.rows.values() for run in row.runs]


def table_of(results: Sequence[Result]) -> Table:
    """The table of these results, if they belong together."""
    if not results:
        raise InputError("no row has been measured yet", "`transduce reproduce table3` trains them")
    demand_one("scales", {result.scale for result in results})
    demand_one("corpora", {tuple(sorted(result.data.items())) for result in results})
    demand_one("settings", {tuple(sorted(changes_of(result).items())) for result in results})
    rows = {
        name: Row(name, runs, printed)
        for name, printed in PRINTED.items()
        if (runs := sorted((r for r in results if r.row == name), key=lambda r: r.seed))
    }
    return Table(results[0].scale, rows, changes_of(results[0]))


def demand_one(what: str, kinds: Collection[object]) -> None:
    """Rows stand in one table if nothing but the row differs."""
    demand(
        len(kinds) == 1,
        f"these results are of {len(kinds)} different {what}: they make no one table",
        "gather the folders of one at a time",
    )


def changes_of(result: Result) -> dict[str, Value]:
    """Where a result's recipe is not the row's at its scale."""
    expected = scaled(TABLE_3[result.row], scale_by_name(result.scale))
    differ = difference(expected, result.recipe)
    return {path: ours for path, _, ours in differ if path not in (*MACHINES_OWN, SEED)}


def cells(table: Table) -> list[tuple[str, ...]]:
    """Head and rows; as in the paper a row shows only what is not as in base."""
    base = with_changes(scaled(TABLE_3["base"], scale_by_name(table.scale)), table.changes).flat()
    head = ("row", *COLUMNS, "PPL", "BLEU", "params ×10⁶", "PPL printed", "BLEU printed", "params")
    lines = [head]
    for row in table.rows.values():
        own = row.runs[0].recipe.flat()
        sizes = [
            said(own[path]) if row.name == "base" or own[path] != base[path] else ""
            for path in COLUMNS.values()
        ]
        millions = "" if row.printed.millions is None else str(row.printed.millions)
        lines.append(
            (
                row.name,
                *sizes,
                row.perplexity.shown(2),
                row.bleu.shown(2),
                f"{row.parameters / 1e6:.2f}",
                f"{row.printed.perplexity:.2f}",
                f"{row.printed.bleu:.1f}",
                millions,
            )
        )
    return lines


def said(value: Value) -> str:
    """A setting in a narrow cell."""
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)
