"""transduce likelihood: how likely a model finds translations that are given."""

import json
from collections.abc import Mapping
from pathlib import Path

import click

from transduce.cli import display, options
from transduce.cli.searching import (
    Ready,
    ensemble_option,
    gamma_option,
    precision_option,
    tell_if_unfinished,
)
from transduce.settings.fields import require
from transduce.settings.search import PENALTIES


@click.command("likelihood")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("source", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
@ensemble_option
@click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the length penalty.")
@gamma_option
@click.option("--penalty", type=click.Choice(list(PENALTIES)), help="Which length penalty.")
@precision_option
@options.as_json
def command(
    *,
    model: Path,
    source: Path,
    target: Path,
    ensemble: tuple[Path, ...],
    precision: str,
    as_json: bool,
    **penalty: float | str | None,
) -> None:
    """Say how likely MODEL finds TARGET as a translation of SOURCE, line by line.

    A line for a line: the score that the search would give it, the log-probability in nats, and
    the target itself, separated by tabs.
    """
    from transduce.machine.process_settings import keep_freed_memory
    from transduce.text.files import read_pairs

    require(
        not str(source) == str(target) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    keep_freed_memory()
    models = Ready((model, *ensemble), chosen(penalty), draws=None, nbest=1, precision=precision)
    tell_if_unfinished(models.folders)
    found = models().likelihood(read_pairs(source, target))
    for number, one in enumerate(found, start=1):
        if as_json:
            display.result(json.dumps({"line": number, **vars(one)}, ensure_ascii=False))
        else:
            display.result(f"{one.score:.4f}\t{one.log_prob:.4f}\t{one.text}")


def chosen(options: Mapping[str, float | str | None]) -> dict[str, float | str]:
    """Those that were given."""
    return {name: value for name, value in options.items() if value is not None}
