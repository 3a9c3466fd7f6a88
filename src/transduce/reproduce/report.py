"""The report of a table of trained rows: Markdown and a picture to look at, CSV and JSON to use."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from transduce.checkpoint.card import markdown_table
from transduce.durable import write_atomically
from transduce.recipes.scale import PAPER, scale_by_name
from transduce.reproduce.job import ROWS
from transduce.reproduce.picture import KINDS, Picture
from transduce.reproduce.result import Result
from transduce.reproduce.spreadsheet import as_csv
from transduce.reproduce.table import Table
from transduce.runs.output_folder import require_own

TEXTS = ("md", "csv", "json")
TABLES = ("table2", "table3")
OURS = ("store", "lock", *(f"{name}.{kind}" for name in TABLES for kind in (*TEXTS, *KINDS)))
MACHINES = frozenset(  # settings of how a run is made and watched, not of what is learned
    f"training.{name}"
    for name in (
        "precision",
        "compile",
        "pad_to_tokens",
        "checkpoint_minutes",
        "validate_every",
        "validate_lines",
    )
)
Cells = Sequence[Sequence[str]]  # the first is the head


def require_place(folder: Path) -> None:
    """Refuse a folder of something else."""
    require_own(folder, ROWS, OURS, "folder of a table's rows")


@final
@dataclass(frozen=True, kw_only=True)
class Report:
    """What is said of a table, for people and for programs."""

    name: str  # of the files
    title: str
    how: Sequence[str]  # what one must know to read it
    parts: Sequence[tuple[str, str, Cells]]  # a heading, a remark, a table
    records: Sequence[Mapping[str, Any]]  # one a run, with all digits
    picture: Picture

    def write(self, folder: Path, *, plot: bool) -> list[Path]:
        """Each file whole or as it was."""
        drawn = self.picture.drawn() if plot else {}
        image = f"\n![{self.title}]({self.name}.png)\n" if drawn else ""
        files = {
            "md": (self.as_markdown() + image).encode(),
            "csv": self.as_csv().encode(),
            "json": (json.dumps(self.as_object(), ensure_ascii=False, indent=1) + "\n").encode(),
            **drawn,
        }
        for kind, content in files.items():
            write_atomically(folder / f"{self.name}.{kind}", content)
        return [folder / f"{self.name}.{kind}" for kind in files]

    def as_markdown(self) -> str:
        """A page."""
        blocks = [f"# {self.title}", "\n".join(f"- {line}" for line in self.how)]
        for heading, remark, cells in self.filled:
            blocks += [f"## {heading}", remark, markdown_table(cells[0], cells[1:])]
        return "\n\n".join(blocks) + "\n"

    @property
    def filled(self) -> list[tuple[str, str, Cells]]:
        """The parts that have rows."""
        return [part for part in self.parts if len(part[2]) > 1]

    def as_csv(self) -> str:
        """A line a run."""
        return as_csv([{k: v for k, v in one.items() if k != "recipe"} for one in self.records])

    def as_object(self) -> dict[str, Any]:
        """What a program wants of it."""
        return {
            "table": self.name,
            "title": self.title,
            "how": self.how,
            "runs": self.records,
            "parts": [{"heading": h, "remark": r, "cells": cells} for h, r, cells in self.parts],
        }


def conditions(table: Table) -> Iterator[str]:
    """What one must know to read any table of trained rows."""
    scale, one = scale_by_name(table.scale), table.runs[0]
    search, bleu = one.recipe.search, one.bleu
    yield f"scale {scale.name}: {scale.about}"
    yield f"to be seen at this scale: {scale.visible_findings}"
    yield (
        f"corpus {one.recipe.data.corpus}, scored on {bleu['lines']:,} lines ({bleu['test_set']}), "
        f"beam {search.beam}, alpha {search.alpha}"
    )
    yield f"BLEU: `{bleu['signature']}`; the paper's is tokenised and compound-split"
    for signature in dict.fromkeys(r.paper_bleu["signature"] for r in table.runs if r.paper_bleu):
        yield f"BLEU-paper: `{signature}`"
    absent = f"without {', '.join(table.missing)}, not measured yet"
    yield f"rows: {absent if table.missing else 'all'}"
    yield f"seeds: {seeds(table)}; ± is the standard deviation between them"
    yield f"made {dates(table.runs)} with {machines(table.runs)}"
    if table.changes:
        said = ", ".join(f"{path}={value}" for path, value in table.changes.items())
        yield f"changed in every row: {said}"


def beside(table: Table, run: Result) -> str:
    """Whether a run's BLEU may stand beside the paper's figures."""
    other = set(table.changes) - MACHINES
    if table.scale != PAPER.name or other:
        changed = ", settings changed" if other else ""
        return f"not comparable: {run.recipe.data.corpus}, scale {table.scale}{changed}"
    known = run.paper_bleu.get("paper_comparability") or run.bleu.get("paper_comparability")
    return known or f"not comparable: scored on {run.bleu['test_set']}"


def seeds(table: Table) -> str:
    """How many runs stand behind the rows."""
    several = [f"{row.name} {len(row.runs)}" for row in table.rows.values() if len(row.runs) > 1]
    return f"one a row, but {', '.join(several)}" if several else "one a row"


def dates(runs: Sequence[Result]) -> str:
    """From the first day to the last."""
    days = sorted({run.date for run in runs})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def machines(runs: Sequence[Result]) -> str:
    """Devices and versions, each kind once."""
    kinds = {
        f"{e['processor'] if e['device'] == 'cpu' else e['device']}, threads {e['threads']}, "
        f"transduce {e['transduce']}, torch {e['torch']}"
        for e in (run.environment for run in runs)
    }
    return "; ".join(sorted(kinds))


def record(run: Result) -> dict[str, Any]:
    """One run, flat but for its recipe."""
    made = run.environment
    return {
        "row": run.row,
        "seed": run.seed,
        "scale": run.scale,
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
