"""`transduce score`: score translations against references by BLEU, chrF or TER."""

import json
from collections.abc import Sequence
from typing import Any

import click

from transduce.cli import display, options
from transduce.errors import InputError
from transduce.scores import METRICS, Score
from transduce.scores.bootstrap import SAMPLES, SEED
from transduce.scores.score_texts import USUAL_METRICS, score

KINDS = "; ".join(f"{name}: {metric.description}" for name, metric in METRICS.items())


@click.command("score")
@click.argument("hypotheses")
@click.argument("references", metavar="REFERENCE...", nargs=-1, required=True)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    default=USUAL_METRICS,
    help=f"What to compute; may be repeated (default: {', '.join(USUAL_METRICS)}). {KINDS}.",
)
@click.option(
    "--language",
    default="",
    metavar="CODE",
    help="The language of the text, such as de: bleu-paper is for German only.",
)
@click.option(
    "--against",
    metavar="OTHER",
    help="Another output of the same lines: is the difference more than chance?",
)
@click.option(
    "--samples", default=SAMPLES, show_default=True, help="How many test sets --against draws."
)
@click.option("--seed", default=SEED, show_default=True, help="What they are drawn by.")
@options.as_json
def command(
    *,
    hypotheses: str,
    references: Sequence[str],
    metrics: Sequence[str],
    language: str,
    against: str | None,
    as_json: bool,
    **draws: int,
) -> None:
    """Score translations: BLEU, chrF, TER, each with its signature.

    HYPOTHESES and every REFERENCE are text files of as many lines, plain, .gz, .xz or .zst; one of
    them may be - for standard input. A score names the test set, where its hash is known, and says
    whether it may stand beside a figure of the paper. --against compares two outputs by paired
    bootstrap resampling: the scores of both, their difference, where 95 % of it lie, and p.
    """
    files = (hypotheses, *([against] if against else []), *references)
    if files.count("-") > 1:
        raise InputError("standard input can be one of the files only", "name the others")
    chosen: dict[str, Any] = {"metrics": metrics, "language": language}
    if against is None:
        for one in score(hypotheses, *references, **chosen):
            print_result(one.as_json(), [str(one)], one, as_json=as_json)
        return
    chosen |= draws
    for found in score(hypotheses, *references, against=against, **chosen):
        lines = [f"{found.ours} | {hypotheses}", f"{found.theirs} | {against}", str(found)]
        print_result(found.as_json(), lines, found.ours, as_json=as_json)


def print_result(result: object, lines: Sequence[str], score: Score, *, as_json: bool) -> None:
    """Print a result as JSON or as lines, and whether its score is comparable to the paper's."""
    for line in [json.dumps(result, ensure_ascii=False)] if as_json else lines:
        display.print_result(line)
    if score.paper_comparability and not as_json:
        display.print_message(f"  {score.name}: {score.paper_comparability}")
