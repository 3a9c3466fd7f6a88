"""The report of Table 3: Markdown to read, CSV and JSON to go on with."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from transduce.durable import write_whole
from transduce.recipes.printed import TABLE_3
from transduce.recipes.scale import scale_by_name
from transduce.reproduce.findings import findings
from transduce.reproduce.result import Result
from transduce.reproduce.table3 import Table, cells

NAME = "table3"
COUNTS = (
    "The paper prints parameters in millions for its own vocabulary; 41,004 to 41,208 symbols give "
    "all its counts but big's."
)


def write_report(folder: Path, table: Table) -> list[Path]:
    """Three files, each whole or as it was."""
    files = {
        f"{NAME}.md": as_markdown(table),
        f"{NAME}.csv": as_csv(table),
        f"{NAME}.json": json.dumps(as_object(table), ensure_ascii=False, indent=1) + "\n",
    }
    for name, text in files.items():
        write_whole(folder / name, text.encode())
    return [folder / name for name in files]


def as_markdown(table: Table) -> str:
    """A page: how it was made, the table, what the paper found in it."""
    parts = [
        f"# Table 3 at the scale {table.scale}",
        "\n".join(f"- {line}" for line in how(table)),
        markdown(cells(table)),
        f"{COUNTS} PPL is a piece, without label smoothing.",
        f"## What the paper found\n\n{chance_note(table)}",
        markdown(findings(table)),
    ]
    return "\n\n".join(parts) + "\n"


def how(table: Table) -> list[str]:
    """What one must know to read the table."""
    scale, one = scale_by_name(table.scale), table.runs[0]
    lines = [
        f"scale {scale.name}: {scale.about}",
        f"to be seen at this scale: {scale.visible}",
        f"corpus {one.recipe.data.corpus}, scored on {one.bleu['lines']:,} development lines "
        f"({one.bleu['test_set']}), beam {one.recipe.search.beam}, "
        f"alpha {one.recipe.search.alpha}, last weights, nothing averaged "
        "(the paper: newstest2013)",
        f"BLEU: `{one.bleu['signature']}`; the paper's is tokenised and compound-split",
        f"rows: {missing(table)}",
        f"seeds: {seeds(table)}; ± is the standard deviation between them",
        f"made {dates(table.runs)} with {machines(table.runs)}",
    ]
    if table.changes:
        said = ", ".join(f"{path}={value}" for path, value in table.changes.items())
        lines.append(f"changed in every row: {said}")
    return lines


def missing(table: Table) -> str:
    """Which are not there."""
    absent = [name for name in TABLE_3 if name not in table.rows]
    return f"without {', '.join(absent)}, not measured yet" if absent else "all of the paper's"


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


def chance_note(table: Table) -> str:
    """What a verdict rests on."""
    base = table.rows.get("base")
    if base is None or len(base.runs) < 2:
        return (
            "Base was trained from one seed, so chance is unknown: `--rows base --seeds 3` tells."
        )
    return (
        f"A difference counts if it is above two standard errors, by the spread of base over "
        f"{len(base.runs)} seeds."
    )


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_csv(table: Table) -> str:
    """A line a run, with full digits."""
    lines = [record(run, table) for run in table.runs]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def as_object(table: Table) -> dict[str, object]:
    """How it was made, every run, and the findings."""
    return {
        "table": NAME,
        "scale": table.scale,
        "changes": dict(table.changes),
        "how": how(table),
        "runs": [record(run, table) | {"recipe": run.recipe.as_json()} for run in table.runs],
        "findings": findings(table),
    }


def record(run: Result, table: Table) -> dict[str, object]:
    """One run, flat."""
    printed = table.rows[run.row].printed
    return {
        "row": run.row,
        "seed": run.seed,
        "scale": run.scale,
        "perplexity": run.perplexity["per_piece"],
        "bleu": run.bleu["value"],
        "signature": run.bleu["signature"],
        "test_set": run.bleu["test_set"],
        "lines": run.bleu["lines"],
        "parameters": run.parameters,
        "updates": run.updates,
        "target_tokens": run.target_tokens,
        "seconds": round(run.seconds, 1),
        "device": run.environment["device"],
        "processor": run.environment["processor"],
        "threads": run.environment["threads"],
        "transduce": run.environment["transduce"],
        "torch": run.environment["torch"],
        "date": run.date,
        "model": run.model,
        "printed_perplexity": printed.perplexity,
        "printed_bleu": printed.bleu,
    }
