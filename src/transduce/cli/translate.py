"""`transduce translate`: translate the lines of a file or of standard input."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import options
from transduce.cli.documents import (
    document_option,
    note_markup,
    require_document_options,
    suggest_format,
    write_document,
)
from transduce.cli.file_path import FilePath
from transduce.cli.line_search import (
    FILE,
    SearchInput,
    format_outputs,
    open_output,
    search_lines,
    show_line_count,
)
from transduce.cli.processes import Processes, count_file_lines, process_options
from transduce.cli.searching import (
    TranslatorChoice,
    WarningPrinter,
    choose_translator,
    ensemble_option,
    keep_option,
    precision_option,
    search_options,
    strict_option,
    warn_if_unfinished,
)
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.inference.outputs import Output


@click.command("translate")
@click.argument("model", type=FilePath(path_type=Path))
@click.argument("input", type=FILE, default="-")
@options.output("The file to write (default: standard output).")
@ensemble_option
@click.option("--prefix", type=FILE, help="A file with the forced beginning of each line's output.")
@search_options
@precision_option
@click.option(
    "--nbest",
    type=click.IntRange(min=1),
    default=1,
    help="Number of outputs per line, printed with scores.",
)
@click.option(
    "--align",
    is_flag=True,
    help="Add the links between source and output words: TEXT ||| 0-0 1-2, as `transduce align`.",
)
@click.option(
    "--line-buffered",
    is_flag=True,
    help="Write each line before the next is read, for programs that wait for it; slower.",
)
@document_option
@strict_option
@keep_option
@process_options
@options.as_json
@options.quiet
@options.no_progress
def command(
    *,
    model: Path,
    ensemble: tuple[Path, ...],
    output: Path | None,
    nbest: int,
    as_json: bool,
    processes: Processes,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Translate INPUT, or standard input, line by line, with MODEL.

    MODEL is a model folder, or a run folder, whose newest checkpoint is used.

    Prints one line for each input line, in order, and an empty line for an empty line. With --nbest
    N above 1 each output has its own line: number of the input line, score, log-probability, text,
    separated by tabs. A sentence longer than the model takes is split at clauses or words, with a
    warning. Placeholders such as {0}, URLs and e-mail addresses come back as they were; a warning
    names each line whose translation lacks one of them, or a number. An output file is written
    completely or not at all. With --format INPUT is a document, and the output keeps its structure.
    """
    from transduce.tasks import TextToText

    require(
        not str(option_values["input"]) == str(option_values["prefix"]) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    require(
        processes.workers in (None, 1) or not option_values["line_buffered"],
        "--workers and --line-buffered exclude each other: workers read many lines at once",
        "give one of them",
    )
    options.require_writable(output, option_values["input"], option_values["prefix"])
    models = choose_translator((model, *ensemble), option_values, nbest)
    aligning: dict[str, Any] | None = {} if option_values["align"] else None
    models = replace(
        models,
        task=TextToText,
        command="translate",
        aligning=aligning,
        keep=not option_values["no_keep"],
    )
    warn_if_unfinished(models.folders)
    live = options.is_live(option_values) and output is not None
    if option_values["form"] is not None:
        require_document_options(option_values, nbest=nbest, as_json=as_json)
        document = (option_values["input"], output)
        write_document(models, processes, document, option_values["form"], live=live)
        return
    suggest_format(option_values["input"])
    typed = str(option_values["input"]) == "-" and sys.stdin is not None and sys.stdin.isatty()
    interactive = option_values["line_buffered"] or typed
    on_warning = WarningPrinter()
    files = (option_values["input"], option_values["prefix"])
    outputs = translate_text(models, files, processes, on_warning, interactive=interactive)
    with open_output(output) as file:
        for number, best in enumerate(show_line_count(outputs, live=live), start=1):
            file.write(format_outputs(number, best, nbest=nbest, as_json=as_json))
            if interactive:
                file.flush()
    on_warning.print_count("translated in parts, joined again; --strict refuses such lines")


def translate_text(
    models: TranslatorChoice,
    files: tuple[Path, Path | None],
    processes: Processes,
    on_warning: WarningPrinter,
    *,
    interactive: bool,
) -> "Iterator[list[Output]]":
    """Yield each line's outputs in order; `files` are the text and, optionally, forced prefixes."""
    from transduce.text.files import read_lines

    source, prefix = files
    text = SearchInput(
        note_markup(source, read_lines(source)),
        None if prefix is None else read_lines(prefix),
        partial(count_file_lines, source),
        interactive=interactive,
    )
    return search_lines(models, text, processes, on_warning)
