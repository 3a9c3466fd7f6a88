"""`transduce likelihood`: compute the probability that a model gives to given translations."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import options
from transduce.cli.line_outputs import SHOWN, WarningPrinter, open_output, write_lines
from transduce.cli.options import FILE, INPUT, add_options
from transduce.cli.searching import BeamOptions, ModelOptions, TranslatorChoice, warn_of_sides

if TYPE_CHECKING:
    from transduce.inference.outputs import Output


@click.command("likelihood")
@click.argument("model", type=FILE)
@click.argument("source", type=INPUT)
@click.argument("target", type=INPUT)
@options.output("The file to write (default: standard output).")
@add_options(BeamOptions, "beam", ("alpha", "gamma", "penalty"))
@add_options(ModelOptions, "models")
@options.as_json
@options.quiet
@options.no_progress
def command(
    *,
    model: Path,
    source: Path,
    target: Path,
    output: Path | None,
    beam: BeamOptions,
    models: ModelOptions,
    as_json: bool,
) -> None:
    """Compute the probability of each line of TARGET, given SOURCE, by MODEL.

    Prints a line for each pair: the score that the search would give the target, its
    log-probability in nats, and the target itself, separated by tabs. A pair longer than the model
    takes has nan for both (null with --json), and a warning.
    """
    from transduce.text.files import read_pairs, read_short_lines

    options.require_one_standard_input(source, target)
    options.require_writable(output, source, target)
    on_warning = WarningPrinter(most=SHOWN)
    translator = TranslatorChoice(model, models, beam).open(on_warning, source)
    pairs = warn_of_sides(translator, read_pairs(source, target, read_short_lines))
    found = translator.likelihood(pairs)

    def format_line(number: int, one: "Output") -> str:
        if as_json:
            return json.dumps({"line": number, **one.as_json()}, ensure_ascii=False) + "\n"
        return f"{one.score:.4f}\t{one.log_prob:.4f}\t{one.text}\n"

    write_lines(open_output(output), found, format_line, "score")
    on_warning.print_count("not scored (nan); --strict refuses such pairs")
