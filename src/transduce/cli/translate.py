"""transduce translate: lines in, lines out."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.searching import (
    Ready,
    ensemble_option,
    in_worker,
    precision_option,
    ready,
    search_options,
    tell_if_unfinished,
)
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.inference.translator import Output

FILE = click.Path(path_type=Path, allow_dash=True)


@click.command("translate")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("input", type=FILE, default="-")
@options.output
@ensemble_option
@click.option(
    "--prefix", type=FILE, help="A file with a line for each of the input: how its output begins."
)
@search_options
@precision_option
@click.option(
    "--nbest", type=click.IntRange(min=1), default=1, help="So many outputs a line, with scores."
)
@click.option(
    "--line-buffered",
    is_flag=True,
    help="Write each line before the next is read, for programs that wait for it; slower.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    help="Processes of one thread each. The texts do not depend on it; memory does.",
)
@options.as_json
@options.no_progress
def command(
    *,
    model: Path,
    ensemble: tuple[Path, ...],
    output: Path | None,
    nbest: int,
    as_json: bool,
    no_progress: bool,
    **asked: Any,  # noqa: ANN401 - what `answers` and `ready` look at
) -> None:
    """Translate INPUT, or standard input, line by line, with MODEL.

    MODEL is a model folder, or a run: then its newest save translates.

    One line in, one line out, in order; an empty line for an empty line. With --nbest N above 1
    each output is a line of its own: number of the input line, score, log-probability, text,
    separated by tabs. An output file is whole or absent.
    """
    require(
        not str(asked["input"]) == str(asked["prefix"]) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    require(
        asked["workers"] == 1 or not asked["line_buffered"],
        "--workers take many lines at once, and --line-buffered answers each",
        "leave one",
    )
    options.require_writable(output, asked["input"], asked["prefix"])
    models = ready((model, *ensemble), asked, nbest)
    tell_if_unfinished(models.folders)
    waiting = asked["line_buffered"] or (str(asked["input"]) == "-" and sys.stdin.isatty())
    outputs = answers(models, asked["input"], asked["prefix"], asked["workers"], waiting=waiting)
    live = not no_progress and output is not None
    with sink(output) as file:
        for number, best in enumerate(watched(outputs, live=live), start=1):
            file.write(shown(number, best, nbest=nbest, as_json=as_json))
            if waiting:
                file.flush()


def answers(
    models: Ready, source: Path, prefix: Path | None, workers: int, *, waiting: bool
) -> "Iterator[list[Output]]":
    """The outputs of every line, from this process or from several."""
    from transduce.inference.lines import number_lines
    from transduce.inference.translator import BLOCK, translate_in_workers
    from transduce.machine.process_settings import keep_freed_memory
    from transduce.text.files import read_lines

    prefixes = None if prefix is None else read_lines(prefix)
    if workers > 1:
        lines = number_lines(read_lines(source), prefixes)
        return translate_in_workers(partial(in_worker, models), lines, models.nbest, workers)
    keep_freed_memory()
    size = 1 if waiting else BLOCK
    return models().nbest_lines(read_lines(source), models.nbest, block=size, prefixes=prefixes)


def watched(outputs: "Iterator[list[Output]]", *, live: bool) -> "Iterator[list[Output]]":
    """The outputs, counted on a terminal while they come."""
    console = display.console()
    if not live or not console.is_terminal:
        yield from outputs
        return
    with console.status("translating") as status:
        for number, best in enumerate(outputs, start=1):
            status.update(f"translated {number:,} lines")
            yield best


def shown(number: int, outputs: "list[Output]", *, nbest: int, as_json: bool) -> str:
    """An input line's outputs as lines of text."""
    if as_json:
        best = [vars(one) for one in outputs]
        return json.dumps({"line": number, "outputs": best}, ensure_ascii=False) + "\n"
    if nbest == 1:
        return outputs[0].text + "\n"
    return "".join(
        f"{number}\t{one.score:.4f}\t{one.log_prob:.4f}\t{one.text}\n" for one in outputs
    )


@contextmanager
def sink(output: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a file that is whole or absent."""
    import io

    from transduce.durable import atomic_file

    if output is None or str(output) == "-":
        yield sys.stdout
        return
    with atomic_file(output) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()
