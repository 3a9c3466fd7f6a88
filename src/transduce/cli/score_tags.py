"""`transduce score --spans`: print the scores of labelled tokens against gold labels."""

import json
from collections.abc import Iterator
from typing import Any

from transduce.cli import display
from transduce.scores.spans import SpanReport
from transduce.scores.spans.files import compare_tags, score_tags


def print_tag_scores(gold: str, output: str, option_values: dict[str, Any]) -> None:
    """Print a label file's accuracy and its span F1, by type and on average, as text or JSON."""
    as_json = option_values.pop("as_json")
    report = score_tags(gold, output, **option_values)
    lines = [json.dumps(report.as_json(), ensure_ascii=False)]
    for line in lines if as_json else format_report(report):
        display.print_result(line)


def format_report(report: SpanReport) -> Iterator[str]:
    """Yield lines: the accuracy; the span F1; a table of precision, recall and F1 by type."""
    yield (
        f"accuracy {100 * report.accuracy:.2f} | {report.correct_tokens:,} of {report.tokens:,}"
        f" labels | {report.sentences:,} sentences"
    )
    yield f"span F1 {100 * report.micro.f1:.2f} | scheme {report.scheme}"
    values = report.as_json()
    averages = {name: values[name] for name in ("micro", "macro", "weighted")}
    rows = [["", "precision", "recall", "F1", "gold spans"]]
    for name, one in [*values["types"].items(), *averages.items()]:
        figures = [f"{100 * one[key]:.2f}" for key in ("precision", "recall", "f1")]
        rows.append([name, *figures, f"{one['support']:,}"])
    yield from display.align_columns(display.align_right(rows))


def print_tag_comparison(gold: str, files: tuple[str, str], option_values: dict[str, Any]) -> None:
    """Print how two label files compare by span F1 and by accuracy, against the gold labels."""
    as_json = option_values.pop("as_json")
    for found in compare_tags(gold, files, **option_values):
        display.print_comparison(found, files, as_json=as_json)
