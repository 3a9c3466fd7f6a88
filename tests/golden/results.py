"""Fill the blocks of docs/records/results.md with measured figures.

<!-- scores NAME -->    from results/NAME.json, which `evaluate --json` or `demo --json` wrote
<!-- learned NAME -->   from results/NAME.csv, which `curves -o` wrote
<!-- took NAME -->      its first line alone, above a picture of the curve
<!-- compared NAME -->  from results/NAME.jsonl: parsers that were trained alike but for one thing

A block ends with <!-- end -->.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.golden.compared import table_of_parsers

from transduce.checkpoint.card import format_markdown_table
from transduce.scores.test_sets import find_current_name

PAGE = Path(__file__).parents[2] / "docs/records/results.md"
RECORDED = PAGE.with_suffix("")
BLOCK = re.compile(r"^(<!-- (\w+) (\S+) -->)\n.*?^(<!-- end -->)$", re.MULTILINE | re.DOTALL)
MAX_COLUMNS = 6  # of a learning curve


def page() -> str:
    """Return the whole page, its blocks made anew."""

    def fill(found: re.Match[str]) -> str:
        begin, kind, name, end = found.groups()
        return f"{begin}\n{block(kind, name)}\n{end}"

    return BLOCK.sub(fill, PAGE.read_text(encoding="utf-8"))


def block(kind: str, name: str) -> str:
    """Return what stands in a block."""
    match kind:
        case "scores":
            lines = (RECORDED / f"{name}.json").read_text(encoding="utf-8").splitlines()
            return "\n\n".join(part for line in lines for part in score_tables(json.loads(line)))
        case "learned":
            return learning_curve(RECORDED / f"{name}.csv")
        case "took":
            return learning_curve(RECORDED / f"{name}.csv").split("\n")[0]
        case "compared":
            return table_of_parsers(RECORDED / f"{name}.jsonl")
        case _:
            raise ValueError(f"no block is called {kind}")


def score_tables(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of scores, and the model, data, date and machine that they are from."""
    if "split" in found:
        yield f"*{found['split'].capitalize()}.*"
    rows = [(one["name"], f"{one['value']:.2f}", one["signature"]) for one in found["scores"]]
    if "untrained" in found:
        before = found["untrained"]
        rows.append(("before training", f"{before['value']:.2f}", f"{before['lines']} lines"))
    if "perplexity" in found:
        ppl = found["perplexity"]
        rows.append(("PPL a piece", f"{ppl['per_piece']:.3f}", f"{ppl['pieces']:,} pieces"))
        if ppl["per_word"] is not None:
            rows.append(("PPL a word", f"{ppl['per_word']:.2f}", f"{ppl['words']:,} words"))
    yield format_markdown_table(("score", "value", "how"), rows)
    yield provenance(found)


def provenance(found: Mapping[str, Any]) -> str:
    """Return one sentence: lines, model, search, date, machine, torch's version."""
    one, recipe, where = found["scores"][0], found["recipe"], found["environment"]
    search = recipe["search"]
    test_set = find_current_name(one["test_set"])
    test_set = re.sub(r"test set of (sha256 .+)", r"\1", test_set)
    return (
        f"{one['lines']:,} lines ({test_set}); model `{found['models'][0][:12]}` of "
        f"`{recipe['name']}`; beam {search['beam']}, alpha {search['alpha']}, "
        f"{found['precision']}; {found['date']}, {where['processor']}, threads {where['threads']}, "
        f"torch {where['torch']}."
    )


def score_name(row: Mapping[str, str]) -> str:
    """Return the name of a run's score, which files of early versions do not say."""
    return row.get("score_name") or "BLEU"


def format_score(row: Mapping[str, str]) -> str:
    """Return the score of a validation with one decimal, or "" if none was computed."""
    value = row.get("score", row.get("bleu"))
    return f"{float(value):.1f}" if value else ""


def learning_curve(file: Path) -> str:
    """Return what a run cost, and a table of its validations."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    validations = [row for row in rows if row["perplexity"]]
    every = -(-len(validations) // MAX_COLUMNS)
    chosen = validations[every - 1 :: every]
    last, minutes = rows[-1], float(rows[-1]["seconds"]) / 60
    took = (
        f"{int(last['step']):,} updates, {int(last['target_tokens']) / 1e6:.1f} million target "
        f"tokens, {minutes:.1f} minutes."
    )
    head = ("update", *(f"{int(row['step']):,}" for row in chosen))
    cells = [
        ("minutes", *(f"{float(row['seconds']) / 60:.0f}" for row in chosen)),
        ("perplexity a piece", *(f"{float(row['perplexity']):.2f}" for row in chosen)),
        (score_name(chosen[-1]), *(format_score(row) for row in chosen)),
    ]
    return f"{took}\n\n{format_markdown_table(head, cells)}"
