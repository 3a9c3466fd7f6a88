"""`transduce tag`: label every token of tokenised sentences."""

import json
from dataclasses import replace
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import options
from transduce.cli.file_path import FilePath
from transduce.cli.line_search import (
    FILE,
    SearchInput,
    open_output,
    search_lines,
    show_line_count,
    suggest_tokenise,
)
from transduce.cli.processes import Processes, count_file_lines, process_options
from transduce.cli.searching import (
    WarningPrinter,
    beam_options,
    choose_translator,
    ensemble_option,
    precision_option,
    strict_option,
    warn_if_unfinished,
)

if TYPE_CHECKING:
    from transduce.inference.outputs import Output


@click.command("tag")
@click.argument("model", type=FilePath(path_type=Path))
@click.argument("input", type=FILE, default="-")
@options.output("The file to write (default: standard output).")
@ensemble_option
@click.option("--tokenise", is_flag=True, help="INPUT is raw text: split its lines into tokens.")
@click.option(
    "--unconstrained",
    is_flag=True,
    help="Do not restrict the search to one label a token; wrong numbers are repaired, counted.",
)
@beam_options
@precision_option
@strict_option
@process_options
@options.as_json
@options.quiet
@options.no_progress
def command(
    *,
    model: Path,
    ensemble: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
    processes: Processes,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Label every token of the sentences of INPUT with MODEL.

    INPUT is a file or standard input: a sentence a line, its tokens separated by blanks. Prints a
    token, a tab and its label on each line, and a blank line after each sentence; with --json one
    object for each sentence. A sentence longer than the model takes is labelled in parts, with a
    warning.
    """
    from transduce.tasks.tagging import Tagging, format_labels
    from transduce.text.files import read_lines
    from transduce.text.tokenise import tokenise

    options.require_writable(output, option_values["input"])
    option_values["constrained"] = not option_values["unconstrained"]
    models = choose_translator((model, *ensemble), option_values, 1)
    models = replace(models, task=Tagging, command="tag")
    warn_if_unfinished(models.folders)
    on_warning = WarningPrinter()
    lines = read_lines(option_values["input"])
    lines = (
        (" ".join(tokenise(line)) for line in lines)
        if option_values["tokenise"]
        else suggest_tokenise(lines)
    )
    sentences, for_search = tee(lines)
    text = SearchInput(for_search, None, partial(count_file_lines, option_values["input"]))
    found = search_lines(models, text, processes, on_warning)
    shown = show_line_count(
        found, live=options.is_live(option_values) and output is not None, verb="tag"
    )
    with open_output(output) as file:
        for number, (best, line) in enumerate(zip(shown, sentences, strict=True), start=1):
            if as_json:
                file.write(encode_labels(number, line, best[0]))
            else:
                file.write(format_labels(line, best[0].text))
    on_warning.print_count("labelled in parts, joined again; --strict refuses such lines")


def encode_labels(number: int, line: str, output: "Output") -> str:
    """Encode a sentence's tokens and labels, with their log-probability, as a JSON line."""
    from transduce.text.words import split_words

    found = {
        "line": number,
        "tokens": split_words(line),
        "labels": split_words(output.text),
        "log_prob": output.as_json()["log_prob"],
    }
    return json.dumps(found, ensure_ascii=False) + "\n"
