"""The report of Table 4 as Markdown and JSON: our parser, the baselines, the paper's rows."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from transduce.checkpoint.card import markdown_table
from transduce.durable.files import ensure_folder, write_atomically
from transduce.recipes.printed import TABLE_4
from transduce.reproduce.parsing_table import ParsingTable

NOT_COMPARABLE = (
    "Not comparable: the paper's rows are trained on sections 02 to 21 of the Wall Street Journal "
    "and tested on section 23; ours here are not."
)
COMPARABLE = "Both are tested on section 23 of the Wall Street Journal."
NOTES = (
    "Labelled F1 in percent by EVALB's rules (COLLINS.prm) with the gold part-of-speech tags. A "
    "sentence that EVALB refuses counts as an output without brackets. The baselines read the gold "
    "tags, the Transformer reads words alone."
)


def format_table(table: ParsingTable) -> str:
    """Return the report of Table 4 as Markdown text."""
    head = ("parser", "trained on", "F1", "F1, up to 40 words", "F1, root S", "complete", "failed")
    ours = [
        (
            row.parser,
            row.trained_on,
            *(f"{f1:.2f}" for f1 in (row.f1, row.f1_up_to_40, row.f1_of_sentences, row.complete)),
            f"{row.failed:,}",
        )
        for row in table.rows
    ]
    paper = [(one.parser, one.training, one.f1) for one in TABLE_4]
    trees = table.rows[0].trees if table.rows else 0
    return "\n".join(
        [
            "# Table 4: English constituency parsing",
            "",
            f"Tested on {table.test_set}, {trees:,} trees.",
            "",
            "## Our parser and the baselines",
            "",
            markdown_table(head, ours),
            "",
            NOTES,
            "",
            "## The paper's rows",
            "",
            COMPARABLE if table.is_comparable else NOT_COMPARABLE,
            "",
            markdown_table(("parser", "training", "F1 on WSJ 23"), paper),
            "",
        ]
    )


def build_json(table: ParsingTable) -> dict[str, object]:
    """Return Table 4 as plain values for JSON: our rows, the baselines, the paper's rows."""
    return {
        "test_set": table.test_set,
        "is_comparable": table.is_comparable,
        "rows": [asdict(row) for row in table.rows],
        "paper": [
            {"parser": one.parser, "training": one.training, "f1": one.f1} for one in TABLE_4
        ],
    }


def write_report(folder: Path, table: ParsingTable, trees: Sequence[str]) -> list[Path]:
    """Write table4.md, table4.json and our parser's trees as trees.txt; return their paths."""
    ensure_folder(folder)
    contents = {
        "table4.md": format_table(table),
        "table4.json": json.dumps(build_json(table), indent=2, ensure_ascii=False) + "\n",
        "trees.txt": "".join(f"{tree}\n" for tree in trees),
    }
    for name, content in contents.items():
        write_atomically(folder / name, content.encode())
    return [folder / name for name in contents]
