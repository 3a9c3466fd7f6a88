"""`transduce score --brackets`: print the scores of trees against gold trees."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from transduce.cli import display
from transduce.scores.brackets import BracketReport, BracketSummary
from transduce.scores.brackets.files import compare_trees, score_trees

MESSAGES = 10  # the most of EVALB's messages that are printed
TAGGING = "tagging accuracy"

FIGURES: dict[str, Callable[[BracketSummary], float]] = {
    "recall": lambda one: one.recall,
    "precision": lambda one: one.precision,
    "F1 of EVALB": lambda one: one.f1,
    "F1, failed and skipped counted": lambda one: one.f1_of_all_sentences,
    "complete match": lambda one: one.complete_match,
    "crossing brackets a sentence": lambda one: one.crossing / one.valid if one.valid else 0.0,
    TAGGING: lambda one: one.tag_accuracy,
}
COUNTS: dict[str, Callable[[BracketSummary], int]] = {
    "sentences": lambda one: one.sentences,
    "failed": lambda one: one.errors,
    "skipped": lambda one: one.skipped,
    "gold brackets": lambda one: one.gold,
    "output brackets": lambda one: one.test,
    "matched": lambda one: one.matched,
}


def print_tree_scores(gold: str, output: str, option_values: dict[str, Any]) -> None:
    """Print the scores of a file of trees: as a short table, in EVALB's layout, or as JSON."""
    as_json, table = option_values.pop("as_json"), option_values.pop("table")
    report = score_trees(gold, output, **option_values)
    if as_json:
        values = {**report.as_json(), "tags": "gold" if option_values["gold_tags"] else "output"}
        display.print_result(json.dumps(values, ensure_ascii=False))
        return
    summaries = format_summaries(report, has_own_tags=not option_values["gold_tags"])
    for line in [report.as_text()] if table else summaries:
        display.print_result(line)
    print_evalb_messages(report, gold_tags=option_values["gold_tags"])


def print_tree_comparison(gold: str, files: tuple[str, str], option_values: dict[str, Any]) -> None:
    """Print how two tree files compare by F1 over all sentences, against the gold trees."""
    as_json = option_values.pop("as_json")
    display.print_comparison(compare_trees(gold, files, **option_values), files, as_json=as_json)


def format_summaries(report: BracketReport, *, has_own_tags: bool) -> Iterator[str]:
    """Yield the lines of a table of EVALB's counts and scores, for all and for short sentences.

    Short sentences are those within EVALB's cut-off length. Tagging accuracy is left out if the
    outputs have the gold tags.
    """
    columns = {"all": report.every_sentence}
    if short := report.short_sentences:
        columns[f"<= {report.parameters.cutoff} words"] = short
    rows = [[report.parameters.name, *columns]]
    for name, count in COUNTS.items():
        rows.append([name, *(f"{count(one):,}" for one in columns.values())])
    for name, figure in FIGURES.items():
        if name != TAGGING or has_own_tags:
            rows.append([name, *(format_number(figure(one)) for one in columns.values())])
    yield from display.align_columns(display.align_right(rows))


def format_number(number: float) -> str:
    """Format a number with two decimals; return "-" for nan."""
    return "-" if math.isnan(number) else f"{number:.2f}"


def print_evalb_messages(report: BracketReport, *, gold_tags: bool) -> None:
    """Print EVALB's first messages and where EVALB would stop; hint at --gold-tags if not used."""
    for message in report.messages[:MESSAGES]:
        display.print_message(f"  line {message}")
    if len(report.messages) > MESSAGES:
        display.print_message(f"  and {len(report.messages) - MESSAGES:,} messages more")
    if report.exit_status:
        display.print_message(
            f"  EVALB itself ends at line {len(report.sentences) + 1:,} without a summary:"
            f" MAX_ERROR is {report.parameters.max_errors}"
        )
    if any(report.unlabelled_roots):
        gold, output = report.unlabelled_roots
        removal = ". --clean removes the gold ones" if gold else ""
        display.print_message(
            f"  EVALB counts outer brackets without a label, {gold:,} gold and {output:,} of the"
            f" output; it does not count (TOP ...){removal}"
        )
    if not gold_tags and any("Length unmatch" in message for message in report.messages):
        display.print_message("  EVALB deletes punctuation by its tag: try --gold-tags")
