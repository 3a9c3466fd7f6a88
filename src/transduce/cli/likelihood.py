"""`transduce likelihood`: compute the probability that a model gives to given translations."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.processes import Processes, count_file_lines, process_options
from transduce.cli.searching import (
    TranslatorChoice,
    WarningPrinter,
    ensemble_option,
    gamma_option,
    load_in_worker,
    precision_option,
    strict_option,
    warn_if_unfinished,
)
from transduce.settings.fields import require
from transduce.settings.search import PENALTIES

if TYPE_CHECKING:
    from transduce.inference.outputs import Output

PENALTY = ("alpha", "gamma", "penalty")


@click.command("likelihood")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("source", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
@ensemble_option
@click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the length penalty.")
@gamma_option
@click.option("--penalty", type=click.Choice(list(PENALTIES)), help="Which length penalty.")
@precision_option
@strict_option
@process_options
@options.as_json
def command(
    *,
    model: Path,
    source: Path,
    target: Path,
    ensemble: tuple[Path, ...],
    as_json: bool,
    processes: Processes,
    **asked: Any,  # noqa: ANN401 - penalty, precision, strict
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
    penalty = {name: asked[name] for name in PENALTY if asked[name] is not None}
    choice = TranslatorChoice(
        (model, *ensemble), penalty, precision=asked["precision"], strict=asked["strict"]
    )
    warn_if_unfinished(choice.folders)
    on_warning = WarningPrinter()
    for number, one in enumerate(score_text(choice, (source, target), processes, on_warning), 1):
        if as_json:
            row = {"line": number, **one.as_json()}
            display.print_result(json.dumps(row, ensure_ascii=False))
        else:
            display.print_result(f"{one.score:.4f}\t{one.log_prob:.4f}\t{one.text}")
    on_warning.print_count("not scored (nan); --strict refuses such pairs")


def score_text(
    models: TranslatorChoice,
    files: tuple[Path, Path],
    processes: Processes,
    on_warning: WarningPrinter,
) -> "Iterator[Output]":
    """Yield each target line with its score and log-probability; `files` are source and target."""
    from transduce.inference.blocks import report_warnings, score_in_workers
    from transduce.inference.pairs import number_pairs
    from transduce.machine.process_settings import keep_freed_memory, use_threads
    from transduce.text.files import read_pairs

    workers = processes.choose(partial(count_file_lines, files[0]), models)
    if workers > 1:
        pairs, load = number_pairs(read_pairs(*files)), partial(load_in_worker, models)
        results = report_warnings(score_in_workers(load, pairs, workers), on_warning)
        return (output for (output,) in results)
    keep_freed_memory()
    use_threads(processes.threads)
    return replace(models.load(), on_warning=on_warning).likelihood(read_pairs(*files))
