"""`transduce translate --format`: translate a document and keep its structure."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import click

from transduce.cli import display
from transduce.cli.line_search import open_output, show_line_count
from transduce.cli.processes import Processes
from transduce.cli.searching import TranslatorChoice, WarningPrinter
from transduce.settings.fields import require
from transduce.text.documents.read import FORMATS, SUFFIXES
from transduce.text.file_kinds import MARKUP_SUFFIXES, name_markup
from transduce.text.files import display_name

document_option = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Translate INPUT as a document of this format: its sentences, not its lines; all else "
    "stays.",
)


def suggest_format(file: Path) -> None:
    """Print a note if a file to translate line by line has a document's ending, such as .html."""
    form = find_ending(file, SUFFIXES)
    if form is not None:
        display.print_note(
            f"note: {file} is translated line by line; --format {form} keeps its structure"
        )


def find_ending(file: Path, meanings: Mapping[str, str]) -> str | None:
    """Return what the ending of a file's name means, if `meanings` has it, else None."""
    endings = [ending.lower() for ending in file.suffixes[-2:]]  # a compressed file has two endings
    return next((meanings[ending] for ending in endings if ending in meanings), None)


def note_markup(
    file: Path, lines: Iterable[str], numbers: Iterable[int] | None = None
) -> Iterator[str]:
    """Yield lines unchanged; print a note if the file's name or a line shows LaTeX or Markdown.

    `numbers` are the numbers of the lines in the file, by default 1, 2, 3 and so on.
    """
    told = False
    for line, number in zip(lines, numbers or count(1), strict=False):
        if not told and (kind := find_ending(file, MARKUP_SUFFIXES) or name_markup(line)):
            display.print_note(
                f"note: {display_name(file)}, line {number}: this is {kind}, and its markup is "
                "translated like text; pandoc makes HTML of it, which --format html keeps"
            )
            told = True
        yield line


def require_document_options(
    option_values: Mapping[str, Any], *, nbest: int, as_json: bool
) -> None:
    """Refuse options of `translate` that apply only to lines, such as --nbest and --prefix."""
    wrong = {
        "--nbest": nbest > 1,
        "--json": as_json,
        "--align": option_values["align"],
        "--prefix": option_values["prefix"] is not None,
        "--line-buffered": option_values["line_buffered"],
    }
    for option, is_given in wrong.items():
        require(
            not is_given,
            f"{option} is for lines, and --format for documents",
            "give one of them",
        )


def write_document(
    models: TranslatorChoice,
    processes: Processes,
    files: tuple[Path, Path | None],
    form: str,
    *,
    live: bool,
) -> None:
    """Translate a document from `files[0]` to `files[1]` or standard output; print counts."""
    from transduce.inference.documents import join_outputs, parse_for, translate_sentences
    from transduce.machine.process_settings import keep_freed_memory, use_threads

    (source, output), on_warning = files, WarningPrinter()
    keep_freed_memory()
    use_threads(processes.threads)
    translator = models.load()
    document = parse_for(translator, source, form)
    if form == "text":
        deque(note_markup(source, document.sentences, document.lines), maxlen=0)
    sentences = len(document.sentences)
    workers = processes.choose(lambda most: min(most, sentences), models)
    translator = replace(translator, workers=workers, on_warning=on_warning)
    outputs = translate_sentences(translator, document)
    found = join_outputs(document, show_line_count(outputs, live=live))
    with open_output(output) as file:
        file.write(found.text)
    on_warning.print_count("translated in parts, joined again; --strict refuses such sentences")
    for doubt in found.for_review:
        display.print_message(f"warning: {doubt}")
    display.print_note(describe(found.sentences, found.kept, len(found.for_review)))


def describe(sentences: int, kept: int, doubtful: int) -> str:
    """Return a sentence with the numbers of sentences translated, kept and marked for review."""
    parts = [f"{sentences:,} {'sentence' if sentences == 1 else 'sentences'} translated"]
    if kept:
        parts.append(f"{kept:,} {'entry was' if kept == 1 else 'entries were'} translated before")
    if doubtful:
        parts.append(f"{doubtful:,} {'is' if doubtful == 1 else 'are'} marked for review")
    return "; ".join(parts)
