"""The report of a table of trained rows: Markdown, HTML, CSV, JSON and a plot by matplotlib."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mode
from textwrap import wrap
from typing import TYPE_CHECKING, Any, final

from transduce.checkpoint.card import format_markdown_table
from transduce.durable.files import write_atomically
from transduce.durable.folder import require_own_folder
from transduce.errors import TransduceError
from transduce.recipes.catalogue import by_name, difference, find_original_name
from transduce.recipes.scale import PAPER, scale_by_name
from transduce.reproduce.job import ROWS
from transduce.reproduce.result import RowResult
from transduce.reproduce.table import Measurements, ResultTable
from transduce.runs.plots import encode_image
from transduce.runs.training_run import RESOLVED
from transduce.settings import Recipe
from transduce.view.tables.page import build_tables_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT_FORMATS = ("png", "svg")
BASE = "base"
Cells = Sequence[Sequence[str]]  # rows of a table; the first is its header
TEXTS = ("md", "html", "csv", "json")
TABLES = ("table2", "table3", "claims")
OURS = ("store", "lock", *(f"{name}.{kind}" for name in TABLES for kind in (*TEXTS, *PLOT_FORMATS)))
MACHINE_SETTINGS = frozenset(  # settings that change how a run is executed, not what is learned
    f"training.{name}"
    for name in (
        *("precision", "compile", "pad_to_tokens"),
        *("checkpoint_minutes", "validate_every", "validate_lines"),
    )
)


@final
@dataclass(frozen=True)
class Panel:
    """A panel of a plot: the values of one measure for every row that has them."""

    title: str
    figures: Mapping[str, Measurements]  # from row name to the row's values
    is_logarithmic: bool = False


@final
@dataclass(frozen=True)
class Plot:
    """A plot of a table: panels side by side that share the rows as their vertical axis."""

    title: str
    rows: Sequence[str]
    panels: Sequence[Panel]
    settings: Sequence[str] = ()  # settings that the scale or the caller changed in every row

    def render(self) -> dict[str, bytes]:
        """Render the plot as PNG and SVG images; return their bytes by file type."""
        from matplotlib.figure import Figure

        size = (2 + 3 * len(self.panels), 1.6 + 0.28 * len(self.rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(self.panels), sharey=True, squeeze=False)[0]
        for one, panel in zip(axes, self.panels, strict=True):
            draw_panel(one, panel, self.rows)
        axes[0].set_yticks(range(len(self.rows)), self.rows)
        axes[0].set_ylim(len(self.rows) - 0.5, -0.5)
        figure.suptitle(self.title)
        legend = "small dots: seeds; bar: standard deviation between seeds; dashes: base"
        remark = f"not a row's own: {', '.join(self.settings)}" if self.settings else ""
        figure.supxlabel("\n".join([legend, *wrap(remark, 17 * round(size[0]))]), size=7.5)
        return {kind: encode_image(figure, kind) for kind in PLOT_FORMATS}


def require_table_folder(folder: Path) -> None:
    """Raise InputError if a folder without rows/ holds files that are not a table's."""
    require_own_folder(folder, ROWS, OURS, "folder of a table's rows")


@final
@dataclass(frozen=True, kw_only=True)
class Report:
    """A report on the trained rows of a table: conditions, tables, a record of each run, a plot."""

    name: str  # base name of the report's files
    title: str
    conditions: Sequence[str]  # sentences on scale, corpus, scoring, seeds, machines
    parts: Sequence[tuple[str, str, Cells]]  # each a heading, a remark and a table
    rows: Sequence[Mapping[str, Any]]  # one flat record per run, with unrounded scores
    picture: Plot = Plot("", (), ())
    errors: Sequence[TransduceError] = ()  # errors of failed rows and of unreadable results

    def write(self, folder: Path, *, plot: bool) -> list[Path]:
        """Write Markdown, HTML, CSV, JSON, and images if `plot`; return the paths of the files."""
        images = self.picture.render() if plot else {}
        image = f"\n![{self.title}]({self.name}.png)\n" if images else ""
        files = {
            "md": (self.markdown() + image).encode(),
            "html": build_tables_page(self.title, self.conditions, self.filled_parts).encode(),
            "csv": self.csv().encode(),
            "json": (json.dumps(self.as_json(), ensure_ascii=False, indent=1) + "\n").encode(),
            **images,
        }
        for kind, content in files.items():
            write_atomically(folder / f"{self.name}.{kind}", content)
        return [folder / f"{self.name}.{kind}" for kind in files]

    def markdown(self) -> str:
        """Return the report as a page of Markdown."""
        blocks = [f"# {self.title}", "\n".join(f"- {line}" for line in self.conditions)]
        for heading, remark, cells in self.filled_parts:
            blocks += [f"## {heading}", remark, format_markdown_table(cells[0], cells[1:])]
        return "\n\n".join(blocks) + "\n"

    def _repr_markdown_(self) -> str:  # how a notebook shows a report
        return self.markdown()

    @property
    def filled_parts(self) -> list[tuple[str, str, Cells]]:
        """The parts of the report (heading, remark, table) whose tables are not empty."""
        return [part for part in self.parts if len(part[2]) > 1]

    def csv(self) -> str:
        """Return the records of the runs as CSV, one line per run, without the recipes."""
        return format_csv([{k: v for k, v in one.items() if k != "recipe"} for one in self.rows])

    def as_json(self) -> dict[str, Any]:
        """Return the whole report as an object that JSON can store."""
        return {
            "table": self.name,
            "title": self.title,
            "how": self.conditions,
            "runs": self.rows,
            "parts": [{"heading": h, "remark": r, "cells": cells} for h, r, cells in self.parts],
        }


def describe_conditions(table: ResultTable) -> Iterator[str]:
    """Yield sentences on how a table was made: scale, corpus, scoring, seeds, machines."""
    scale, one = scale_by_name(table.scale), table.runs[0]
    search, bleu = one.recipe.search, one.bleu
    yield f"scale {scale.name}: {scale.about}"
    if scale.settings:
        yield f"not a row's own at this scale: {', '.join(scale.settings)}"
    yield f"visible at this scale: {scale.visible_findings}"
    yield (
        f"corpus {one.recipe.data.corpus}, scored on {bleu['lines']:,} lines ({bleu['test_set']}), "
        f"beam {search.beam}, alpha {search.alpha}"
    )
    yield f"BLEU: `{bleu['signature']}`; the paper's is tokenised and compound-split"
    for signature in dict.fromkeys(r.paper_bleu["signature"] for r in table.runs if r.paper_bleu):
        yield f"BLEU-paper: `{signature}`"
    missing = ", ".join(name for name in table.recipes if name not in table.rows)
    yield f"rows: {f'without {missing}, not measured yet' if missing else 'all'}"
    usual = mode(len(row.runs) for row in table.rows.values())
    others = [
        f"{row.name} {len(row.runs)}" for row in table.rows.values() if len(row.runs) != usual
    ]
    but = f", but {', '.join(others)}" if others else ""
    count = "one" if usual == 1 else usual
    yield f"seeds: {count} a row{but}; ± is the standard deviation between them"
    days = sorted({run.date for run in table.runs})
    made = " to ".join(dict.fromkeys((days[0], days[-1])))
    machines = {
        f"{e['processor'] if e['device'] == 'cpu' else e['device']}, threads {e['threads']}, "
        f"transduce {e['transduce']}, torch {e['torch']}"
        for e in (run.environment for run in table.runs)
    }
    yield f"made {made} with {'; '.join(sorted(machines))}"
    if table.changes:
        changes = ", ".join(f"{path}={value}" for path, value in table.changes.items())
        yield f"changed in every row: {changes}"


def describe_comparability(table: ResultTable, run: RowResult) -> str:
    """Return a sentence on whether a run's BLEU is comparable to the paper's, and if not, why."""
    other = set(table.changes) - MACHINE_SETTINGS
    if table.scale != PAPER.name or other:
        changed = ", settings changed" if other else ""
        return f"not comparable: {run.recipe.data.corpus}, scale {table.scale}{changed}"
    known = run.paper_bleu.get("paper_comparability") or run.bleu.get("paper_comparability")
    wanted = table.recipes[run.row].data.corpus
    if known and run.recipe.data.corpus != wanted:
        return f"not comparable: trained on {run.recipe.data.corpus}, not {wanted}"
    return known or "not comparable: scored on another test set"


def build_record(run: RowResult) -> dict[str, Any]:
    """Return the record of one run, a flat mapping with its recipe as the only nested value."""
    made = run.environment
    return {
        "row": run.row,
        "seed": run.seed,
        "scale": run.scale,
        "settings_not_the_row_s_own": describe_other_settings(run.recipe),
        "perplexity": run.perplexity["per_piece"],
        "bleu": run.bleu["value"],
        "signature": run.bleu["signature"],
        "bleu_of_paper_words": run.paper_bleu.get("value"),
        "test_set": run.bleu["test_set"],
        "lines": run.bleu["lines"],
        "parameters": run.parameters,
        "averaged": len(run.averaged),
        "updates": run.updates,
        "target_tokens": run.target_tokens,
        "seconds": round(run.seconds, 1),
        "operations_estimated": run.cost.get("estimated"),
        "operations_counted": run.cost.get("counted"),
        "devices": run.cost.get("devices"),
        **{name: made[name] for name in ("device", "processor", "threads", "transduce", "torch")},
        "date": run.date,
        "model": run.model,
        "recipe": run.recipe.as_json(),
    }


def describe_other_settings(recipe: Recipe) -> str:
    """Return the settings changed from a recipe's original recipe, as "path=value, …"."""
    differ = difference(by_name(find_original_name(recipe)), recipe)
    return ", ".join(f"{path}={value}" for path, _, value in differ if path not in RESOLVED)


def format_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Return one or more records as CSV: a header of the first's keys, then a line per record."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


# --- The plot -------------------------------------------------------------------------------------


def draw_panel(axes: "Axes", panel: Panel, rows: Sequence[str]) -> None:
    """Draw each row's mean, deviation and seeds, and a dashed line at the mean of row "base"."""
    from matplotlib.ticker import NullFormatter

    axes.set_title(panel.title, size=10)
    if panel.is_logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())  # minor labels would overlap
    names = [row.partition("-")[0] for row in rows]  # A of the group of "A-h1", "base" of "base"
    groups = list(dict.fromkeys(names))
    for y, row in enumerate(rows):
        if groups.index(names[y]) % 2:
            axes.axhspan(y - 0.5, y + 0.5, color="gray", alpha=0.1, linewidth=0)
        if row in panel.figures:
            one = panel.figures[row]
            seeds = one.values if len(one.values) > 1 else ()
            axes.scatter(seeds, [y + 0.28] * len(seeds), s=5, color="C0", alpha=0.6)
            axes.errorbar(one.mean, y, xerr=one.spread or None, fmt="o", color="C0", capsize=3)
    if BASE in panel.figures:
        axes.axvline(panel.figures[BASE].mean, color="gray", linestyle="--", linewidth=0.8)
    if panel.is_logarithmic:
        low, high = map(math.log10, axes.get_xlim())
        # the axis ends at powers of ten, because only these have labels
        axes.set_xlim(10.0 ** math.floor(low), 10.0 ** math.ceil(high))
    axes.grid(visible=True, alpha=0.3)


def wrap_single_values(figures: Mapping[str, float]) -> dict[str, Measurements]:
    """Convert one number per row, such as the paper's, to `Measurements` of a single value."""
    return {row: Measurements([figure]) for row, figure in figures.items()}
