"""`transduce tag`: label every token of tokenised sentences."""

import json
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.cli import options
from transduce.cli.line_outputs import WarningPrinter, open_output, read_words, write_lines
from transduce.cli.options import INPUT, argument, flag, group
from transduce.cli.searching import BeamOptions, ModelOptions, TranslatorChoice, warn_of_language
from transduce.text.words import split_words

if TYPE_CHECKING:
    from transduce.inference.outputs import Output


@options.make_command("tag", options.quiet, options.no_progress)
def command(
    *,
    model: Path = argument(),
    input: Path = argument(type=INPUT, default="-"),  # noqa: A002 - the argument's name in the help
    output: Path | None = options.output("The file to write (default: standard output)."),
    tokenise: bool = flag("INPUT is raw text: split its lines into tokens."),
    unconstrained: bool = flag(
        "Do not force one label per token; outputs with too many or too few labels are repaired "
        "and counted."
    ),
    beam: BeamOptions = group(),
    models: ModelOptions = group(),
    as_json: bool = options.as_json,
) -> None:
    """Label every token of the sentences of INPUT with MODEL.

    INPUT is a file or standard input: a sentence a line, its tokens separated by spaces. Prints a
    token, a tab and its label on each line, and a blank line after each sentence; with --json one
    object for each sentence. A sentence longer than the model takes is labelled in parts, with a
    warning.
    """
    from transduce.tasks.tagging import Tagging, format_labels

    options.require_writable(output, input)
    choice = TranslatorChoice(
        model, models, beam, constrained=not unconstrained, task=Tagging, command="tag"
    )
    on_warning = WarningPrinter()
    translator = choice.open(on_warning, input)
    words = read_words(input, tokenise=tokenise)
    sentences, for_search = tee(warn_of_language(translator, words))
    labels = translator.nbest_lines(for_search)

    def format_line(number: int, found: "tuple[list[Output], str]") -> str:
        (best, *_), line = found
        if not as_json:
            return format_labels(line, best.text)
        labelled = {
            "line": number,
            "tokens": split_words(line),
            "labels": split_words(best.text),
            "log_prob": best.as_json()["log_prob"],
        }
        return json.dumps(labelled, ensure_ascii=False) + "\n"

    write_lines(open_output(output), zip(labels, sentences, strict=True), format_line, "tag")
    on_warning.print_count("labelled in parts, joined again; --strict refuses such lines")
