"""transduce score: what a translation is worth beside one by people."""

import json
from collections.abc import Sequence

import click

from transduce.cli import display, options
from transduce.errors import InputError
from transduce.scores import METRICS, Score, compare_outputs, compute_score
from transduce.scores.bootstrap import SAMPLES, SEED
from transduce.text.files import read_lines

USUAL = ("bleu", "chrf", "ter")
KINDS = "; ".join(f"{name}: {metric.description}" for name, metric in METRICS.items())


@click.command("score")
@click.argument("hypotheses")
@click.argument("references", metavar="REFERENCE...", nargs=-1, required=True)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    default=USUAL,
    help=f"What to compute; may be repeated (default: {', '.join(USUAL)}). {KINDS}.",
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
    ours, *texts = (list(read_lines(file)) for file in files)
    if against is None:
        for metric in metrics:
            score = compute_score(metric, ours, *texts, language=language)
            say(score.as_json(), [str(score)], score, as_json=as_json)
        return
    theirs, *texts = texts
    for metric in metrics:
        found = compare_outputs(metric, (ours, theirs), *texts, language=language, **draws)
        lines = [f"{found.ours} | {hypotheses}", f"{found.theirs} | {against}", str(found)]
        say(found.as_json(), lines, found.ours, as_json=as_json)


def say(result: object, lines: Sequence[str], score: Score, *, as_json: bool) -> None:
    """A result for a program, or for people, with what they should know about the score."""
    for line in [json.dumps(result, ensure_ascii=False)] if as_json else lines:
        display.result(line)
    if score.paper_comparability and not as_json:
        display.tell(f"  {score.name}: {score.paper_comparability}")
