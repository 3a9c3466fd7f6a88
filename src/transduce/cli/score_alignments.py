"""`transduce score --alignments`: print the error rate of word alignments against gold links."""

import json
from typing import Any

from transduce.cli import display
from transduce.scores.alignments import compare_alignments, score_alignments
from transduce.scores.score import Score


def print_alignment_scores(
    gold: str, files: tuple[str, str], option_values: dict[str, Any]
) -> None:
    """Print the error rate of alignment file `files[0]`, or compare it with `files[1]` if named."""
    as_json = option_values.pop("as_json")
    if files[1]:
        found = compare_alignments(gold, files, **option_values)
        display.print_comparison(found, files, as_json=as_json)
        return
    score = score_alignments(gold, files[0])
    if as_json:
        display.print_result(json.dumps(score.as_json(), ensure_ascii=False))
        return
    display.print_result(str(score))
    display.print_result(describe_links(score))


def describe_links(score: Score) -> str:
    """Return precision, recall and the numbers of links as a line."""
    found = score.details
    return (
        f"precision {found['precision']:.2f} | recall {found['recall']:.2f}"
        f" | {found['links']:,} links | {found['sure']:,} sure of {found['gold']:,} gold links"
    )
