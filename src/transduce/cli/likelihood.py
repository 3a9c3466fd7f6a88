"""`transduce likelihood`: compute the probability that a model gives to given translations."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.cli import options
from transduce.cli.line_outputs import WarningPrinter, open_output, write_lines
from transduce.cli.options import INPUT, argument, group
from transduce.cli.searching import BeamOptions, ModelOptions, TranslatorChoice, warn_of_sides
from transduce.text.files import read_pairs, read_short_lines

if TYPE_CHECKING:
    from transduce.inference.outputs import Output


@options.make_command("likelihood", options.quiet, options.no_progress)
def command(
    *,
    model: Path = argument(),
    source: Path = argument(type=INPUT),
    target: Path = argument(type=INPUT),
    output: Path | None = options.output("The file to write (default: standard output)."),
    beam: BeamOptions = group("alpha", "gamma", "penalty"),
    models: ModelOptions = group(),
    as_json: bool = options.as_json,
) -> None:
    """Compute the probability of each line of TARGET, given SOURCE, by MODEL.

    Prints a line for each pair: the score that the search would give the target, its
    log-probability in nats, and the target itself, separated by tabs. A pair longer than the model
    takes has nan for both (null with --json), and a warning.
    """
    options.require_one_standard_input(source, target)
    options.require_writable(output, source, target)
    on_warning = WarningPrinter()
    translator = TranslatorChoice(model, models, beam).open(on_warning, source)
    pairs = warn_of_sides(translator, read_pairs(source, target, read_short_lines))
    found = translator.likelihood(pairs)

    def format_line(number: int, one: "Output") -> str:
        if as_json:
            return json.dumps({"line": number, **one.as_json()}, ensure_ascii=False) + "\n"
        return f"{one.score:.4f}\t{one.log_prob:.4f}\t{one.text}\n"

    write_lines(open_output(output), found, format_line, "score")
    on_warning.print_count("not scored (nan); --strict refuses such pairs")
