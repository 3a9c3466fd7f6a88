"""`transduce likelihood`: compute the probability that a model gives to given translations."""

import json
from pathlib import Path
from typing import Any

import click

from transduce.cli import options
from transduce.cli.file_path import FilePath
from transduce.cli.line_search import open_output, show_line_count
from transduce.cli.pair_search import run_on_files
from transduce.cli.processes import Processes, process_options
from transduce.cli.searching import (
    TranslatorChoice,
    WarningPrinter,
    ensemble_option,
    gamma_option,
    precision_option,
    strict_option,
    warn_if_unfinished,
)
from transduce.settings.fields import require
from transduce.settings.search import PENALTIES

PENALTY = ("alpha", "gamma", "penalty")


@click.command("likelihood")
@click.argument("model", type=FilePath(path_type=Path))
@click.argument("source", type=FilePath(path_type=Path, allow_dash=True))
@click.argument("target", type=FilePath(path_type=Path, allow_dash=True))
@options.output("The file to write (default: standard output).")
@ensemble_option
@click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the length penalty.")
@gamma_option
@click.option("--penalty", type=click.Choice(list(PENALTIES)), help="Which length penalty.")
@precision_option
@strict_option
@process_options
@options.as_json
@options.quiet
@options.no_progress
def command(
    *,
    model: Path,
    source: Path,
    target: Path,
    output: Path | None,
    ensemble: tuple[Path, ...],
    processes: Processes,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Compute the probability of each line of TARGET, given SOURCE, by MODEL.

    Prints a line for each pair: the score that the search would give the target, its
    log-probability in nats, and the target itself, separated by tabs. A pair longer than the model
    takes has nan for both (null with --json), and a warning.
    """
    require(
        not str(source) == str(target) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    options.require_writable(output, source, target)
    penalty = {name: option_values[name] for name in PENALTY if option_values[name] is not None}
    choice = TranslatorChoice(
        (model, *ensemble),
        penalty,
        precision=option_values["precision"],
        strict=option_values["strict"],
    )
    warn_if_unfinished(choice.folders)
    on_warning = WarningPrinter()
    found = run_on_files(choice, "score_block", (source, target), processes, on_warning)
    live = options.is_live(option_values) and output is not None
    with open_output(output) as file:
        for number, one in enumerate(show_line_count(found, live=live, verb="score"), start=1):
            if option_values["as_json"]:
                row = {"line": number, **one.as_json()}
                file.write(f"{json.dumps(row, ensure_ascii=False)}\n")
            else:
                file.write(f"{one.score:.4f}\t{one.log_prob:.4f}\t{one.text}\n")
    on_warning.print_count("not scored (nan); --strict refuses such pairs")
