"""transduce score: what a translation is worth beside one by people."""

import json
from collections.abc import Sequence

import click

from transduce.cli import display, options
from transduce.errors import InputError
from transduce.scores import METRICS, scored
from transduce.text.files import read_lines

USUAL = ("bleu", "chrf", "ter")
KINDS = "; ".join(f"{name}: {metric.about}" for name, metric in METRICS.items())


@click.command("score")
@click.argument("hypotheses")
@click.argument("references", metavar="REFERENCE...", nargs=-1, required=True)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    help=f"What to compute; may be repeated (default: {', '.join(USUAL)}). {KINDS}.",
)
@options.as_json
def command(
    *, hypotheses: str, references: Sequence[str], metrics: Sequence[str], as_json: bool
) -> None:
    """Score translations: BLEU, chrF, TER, each with its signature.

    HYPOTHESES and every REFERENCE are text files of as many lines, plain, .gz, .xz or .zst; one of
    them may be - for standard input. A score names the test set, where its hash is known.
    """
    files = (hypotheses, *references)
    if files.count("-") > 1:
        raise InputError("standard input can be one of the files only", "name the others")
    ours, *theirs = (list(read_lines(file)) for file in files)
    for metric in metrics or USUAL:
        score = scored(metric, ours, *theirs)
        said = json.dumps(score.as_json(), ensure_ascii=False) if as_json else str(score)
        display.result(said)
