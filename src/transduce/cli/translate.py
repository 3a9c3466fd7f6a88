"""`transduce translate`: translate the lines of a text, or a document with its structure."""

import hashlib
import io
import os
import shlex
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, final

import click

from transduce.cli import display, options
from transduce.cli.line_outputs import (
    TextCounter,
    WarningPrinter,
    as_text,
    format_outputs,
    means_standard_output,
    open_output,
    show_line_count,
    write_lines,
)
from transduce.cli.options import INPUT, argument, flag, group, option
from transduce.cli.searching import (
    BeamOptions,
    ModelOptions,
    SamplingOptions,
    TranslatorChoice,
    no_keep,
    warn_of_language,
)
from transduce.durable.files import PACKED
from transduce.durable.folder import atomic_folder
from transduce.settings.fields import require
from transduce.text.documents.read import FORMATS, SUFFIXES, detect_format
from transduce.text.files import (
    FEWEST_LINES,
    MARKUP_SUFFIXES,
    describe_records,
    display_name,
    name_markup,
    read_lines,
    read_short_lines,
)

if TYPE_CHECKING:
    from transduce.inference.outputs import Output
    from transduce.inference.shards import ShardText

HEAD_LINES = 1_000  # of a file that is named as a document, to see whether it is one
OF_LINES = ("nbest", "as_json", "align", "prefix", "line_buffered", "shard", "on")


@options.make_command("translate", options.quiet, options.no_progress)
def command(  # noqa: PLR0915 - all steps of a translation, in order
    *,
    model: Path = argument(),
    input: Path = argument(type=INPUT, default="-"),  # noqa: A002 - the argument's name in the help
    output: Path | None = options.output("The file to write (default: standard output)."),
    prefix: Path | None = option(
        "A file with the forced beginning of each line's output.", type=INPUT
    ),
    beam: BeamOptions = group(),
    sampling: SamplingOptions = group(),
    nbest: int = option(
        "Up to N outputs per line, printed with scores; fewer if the search finds fewer.",
        type=click.IntRange(min=1),
        default=1,
    ),
    align: bool = flag(
        "Add the links between source and output words, TEXT ||| 0-0 1-2, as `transduce align` "
        "prints them."
    ),
    line_buffered: bool = flag(
        "Write each line before the next is read, for programs that wait for it; slower."
    ),
    form: str | None = option(
        "Treat INPUT as a document in this format: translate its sentences and keep everything "
        "else.",
        "--format",
        type=click.Choice(list(FORMATS)),
    ),
    shard: str | None = option(
        "Translate only shard I of N of the lines, such as 2/8, into the folder OUTPUT, for "
        "`transduce merge`; slurm takes both numbers from the task of a Slurm array.",
        metavar="I/N",
    ),
    on: str | None = option(
        "With --shard all/N: translate all N shards as tasks of Ray, on this machine or on the "
        "cluster at ADDRESS.",
        metavar="ray[=ADDRESS]",
    ),
    no_keep: bool = no_keep,
    models: ModelOptions = group(),
    as_json: bool = options.as_json,
) -> None:
    """Translate INPUT, or standard input, line by line, with MODEL.

    MODEL is a model folder, or a run folder, whose newest checkpoint is used.

    Prints one line for each input line, empty for an empty one. With --nbest N above 1 each output
    has its own line: number of the input line, score, log-probability, text, separated by tabs. A
    sentence longer than the model takes is split at clauses or words, with a warning. Placeholders
    such as {0}, URLs and e-mail addresses come back as they were; warnings name the first 10
    lines whose translation lacks one of them, or a number (--json has all). An output file is
    written completely or not at all, and replaces one of the same name. A model of pictures or
    sounds takes a path on each line; pictures that it writes become PNG files in the new folder
    OUTPUT.
    """
    from transduce.inference.shards import describe_translator, find_shard_text, parse_shard
    from transduce.inference.translator import LINES_AT_ONCE
    from transduce.tasks import TextToText
    from transduce.tasks.signal import SignalTask, read_signal_sources

    options.require_one_standard_input(input, prefix)
    require(
        models.workers in (None, 1) or not line_buffered,
        "--workers and --line-buffered exclude each other: workers read many lines at once",
        "give one of them",
    )
    if shard is None:
        options.require_writable(output, input, prefix)
    else:
        fact = "--shard needs a folder, OUTPUT, and excludes --line-buffered"
        require(output is not None and not line_buffered, fact, "--shard 1/8 -o FOLDER")
    choice = TranslatorChoice(
        model,
        models,
        beam,
        sampling.choose(beam),
        nbest,
        keep=not no_keep,
        task=(TextToText, SignalTask),
        command="translate",
    )
    if form is not None:
        fact = "is for lines, and --format for documents"
        options.refuse_given(OF_LINES, fact, "give one of them")
        write_document(choice, input, output, form)
        return
    is_document = note_structure(input)
    is_typed = str(input) == "-" and sys.stdin is not None and sys.stdin.isatty()
    interactive = line_buffered or is_typed
    on_warning = WarningPrinter(most=sys.maxsize) if interactive else WarningPrinter()
    if on is not None:
        from transduce.cli.on_ray import run_shards

        require(shard is not None, "--on translates shards", "--shard all/8 -o FOLDER")
        run_shards(click.get_current_context(), on, str(shard))
        return
    text = None if shard is None else find_shard_text(input, parse_shard(shard, os.environ))
    translator = choice.open(on_warning, None if interactive else input)
    if align:
        translator = translator.aligning()
    task = translator.task
    rows = task.rows if isinstance(task, SignalTask) else None  # row sizes of both sides; 0: text
    part = TextPart(open_output(output), block=1 if interactive else LINES_AT_ONCE)
    if text is not None:
        how = {"json": as_json, "nbest": nbest} | describe_translator(translator)
        how["prefix"] = None if prefix is None else find_prefixes(prefix, text).sha256
        how |= {"signals": hash_lines(read_signal_sources(input, rows[0]))} if rows else {}
        part = build_shard_part(text, how, output)
    lines = part.cut(read_signal_sources(input, rows[0]) if rows else read_short_lines(input))
    noted = lines if is_document else note_markup(input, lines, count(part.first))
    texts = TextCounter()
    prefixes = None if prefix is None else part.cut(read_short_lines(prefix))
    noted = warn_of_language(translator, texts.read(noted))
    search = partial(translator.nbest_lines, block=part.block, first=part.first)
    outputs = texts.write(search(noted, nbest, prefixes=prefixes))
    is_folder = output is not None and not (means_standard_output(output) or as_json or shard)
    if rows and rows[1] and output and is_folder:
        write_pictures(output, outputs, nbest)
    else:
        line = partial(format_outputs, nbest=nbest, as_json=as_json)
        write_lines(part.opened, outputs, line, "translate", first=part.first, flush=interactive)
    on_warning.print_count("translated in parts, joined again; --strict refuses such lines")
    texts.warn_if_empty()


def hash_lines(lines: Iterable[str]) -> str:
    """Return the sha256 of lines, as of the pictures that a list of files names."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def write_pictures(folder: Path, found: "Iterator[list[Output]]", nbest: int) -> None:
    """Write each output picture into a new folder as N.png for line N, or N-RANK.png for n-best."""
    from transduce.text.signals import Signal, write_png

    with atomic_folder(folder, kind="pictures", about={}) as writer:
        for number, outputs in enumerate(show_line_count(found, "translate"), start=1):
            for rank, one in enumerate(outputs, start=1):
                name = f"{number}.png" if nbest == 1 else f"{number}-{rank}.png"
                if signal := Signal.from_line(one.text):  # None for an empty line
                    writer.write(name, write_png(signal.to_pixels()))


@final
@dataclass(frozen=True)
class TextPart:
    """The lines of a text to translate, the output to write, and the size of a block of lines."""

    opened: AbstractContextManager[IO[str]]  # opens the output
    block: int  # number of lines that are searched together
    first: int = 1  # number of the first line
    cut: Callable[[Iterator[str]], Iterator[str]] = iter  # maps all lines to this part's


def find_prefixes(file: Path, text: "ShardText") -> "ShardText":
    """Return the prefixes of a shard's lines; refuse a file without one for each line of text."""
    from transduce.inference.shards import find_shard_text

    found = find_shard_text(file, text.shard)
    fact = f"there are {found.total:,} prefixes for {text.total:,} lines"
    require(found.total == text.total, fact, "an empty prefix leaves its line's output free")
    return found


def build_shard_part(text: "ShardText", how: Mapping[str, object], output: Path | None) -> TextPart:
    """Return the part of `text` for a shard in `output`; it has no lines if it is written already.

    `how` has the models and options. A shard that was written with other ones is refused.
    """
    from transduce.inference.shards import create_shard, is_written
    from transduce.inference.translator import WORKER_BLOCK

    assert output is not None
    folder = output / text.shard.name
    if is_written(folder, text, how):
        display.print_note(f"{folder} is written already")
        return TextPart(nullcontext(io.StringIO()), WORKER_BLOCK, cut=lambda _: iter(()))

    @contextmanager
    def opened() -> Iterator[IO[str]]:
        with as_text(create_shard(folder, text, how)) as stream:
            yield stream
        display.print_note(f"the shard: {folder}")

    return TextPart(opened(), WORKER_BLOCK, text.lines.start + 1, text.cut)


def look_up_ending(file: Path, meanings: Mapping[str, str]) -> str | None:
    """Return the value in `meanings` for the ending of a file's name, such as .po or .po.gz."""
    unpacked = file.with_suffix("") if file.suffix.lower() in PACKED else file
    return meanings.get(unpacked.suffix.lower())


def note_structure(file: Path) -> bool:
    """Return whether a file is named as a document, such as a.po; if so, print a note.

    Raises InputError if its first lines show a document, too, or it is named as a translation
    memory.
    """
    from transduce.text.pair_files import require_one_side

    if form := look_up_ending(file, SUFFIXES):
        first = islice(read_lines(file), HEAD_LINES) if file.is_file() else ()
        fact = f"{file} is a document ({form}), whose structure is lost line by line"
        hint = f"--format {form} keeps it; < {shlex.quote(str(file))} translates it all the same"
        require(detect_format("\n".join(first)) != form, fact, hint)
        display.print_note(
            f"note: {file} is translated line by line; --format {form} keeps its structure"
        )
        return True
    clean = f"transduce clean --pairs {shlex.quote(str(file))} -o CLEAN"
    require_one_side(file, f"`{clean}`, then `cut -f1 CLEAN/pairs.tsv`")
    return False


def note_markup(
    file: Path, lines: Iterable[str], numbers: Iterable[int] | None = None
) -> Iterator[str]:
    """Yield lines unchanged; print a note if the file's name or a line shows markup.

    `numbers` are the numbers of the lines in the file, by default 1, 2, 3 and so on.
    """
    told, ending, first = False, look_up_ending(file, MARKUP_SUFFIXES), list[str]()
    for line, number in zip(lines, numbers or count(1), strict=False):
        if len(first) < FEWEST_LINES:
            first.append(line)
            if records := describe_records(first):
                display.print_note(f"note: {display_name(file)} is no plain text: {records}")
        if not told and (kind := ending or name_markup(line)):
            other = "pandoc makes HTML of it, which --format html keeps"
            display.print_note(
                f"note: {display_name(file)}, line {number}: this is {kind}, and its markup is "
                f"translated like text; {'--format html keeps it' if kind == 'HTML' else other}"
            )
            told = True
        yield line


def write_document(choice: TranslatorChoice, source: Path, output: Path | None, form: str) -> None:
    """Translate a document in the format `form`; write it, and print how many sentences it had."""
    from transduce.inference.documents import join_outputs, parse_document, translate_sentences

    on_warning = WarningPrinter(most=sys.maxsize)
    translator = choice.open(on_warning)
    document = parse_document(translator, source, form)
    if form == "text":
        deque(note_markup(source, document.sentences, document.lines), maxlen=0)  # for its note
    translator = choice.with_workers(translator, lambda _: len(document.sentences))
    outputs = translate_sentences(translator, document)
    shown = outputs if output is None else show_line_count(outputs, "translate")
    found = join_outputs(document, shown)
    with open_output(output) as file:
        file.write(found.text)
    on_warning.print_count("translated in parts, joined again; --strict refuses such sentences")
    for doubt in (*found.warnings, *found.for_review):
        display.print_message(f"warning: {doubt}")
    sentences, kept, doubtful = found.sentences, found.kept, len(found.for_review)
    counts = [f"{sentences:,} {'sentence' if sentences == 1 else 'sentences'} translated"]
    if kept:
        counts.append(f"{kept:,} {'entry was' if kept == 1 else 'entries were'} translated before")
    if doubtful:
        review = "marked for review" if form == "po" else "named above for review"
        counts.append(f"{doubtful:,} {'is' if doubtful == 1 else 'are'} {review}")
    display.print_note("; ".join(counts))
