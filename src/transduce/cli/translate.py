"""transduce translate: lines in, lines out."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from transduce.cli import display, options
from transduce.settings.fields import demand
from transduce.settings.search import PENALTIES

if TYPE_CHECKING:
    from transduce.tasks.translate import Output

FORMULAS = "; ".join(f"{name}: {formula}" for name, formula in PENALTIES.items())


@click.command("translate")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("input", type=click.Path(path_type=Path, allow_dash=True), default="-")
@options.output
@click.option(
    "--beam",
    type=click.IntRange(min=1),
    help="Hypotheses kept; the recipe's, 4 in the paper. 1 is greedy.",
)
@click.option(
    "--alpha", type=click.FloatRange(min=0), help="Strength of the length penalty; the paper: 0.6."
)
@click.option(
    "--penalty",
    type=click.Choice(list(PENALTIES)),
    help=f"How hypotheses are scored. {FORMULAS}; n counts the symbols with the end.",
)
@click.option(
    "--extra",
    type=click.IntRange(min=1),
    help="Longest output: input + so many pieces; the paper: 50.",
)
@click.option(
    "--batch", type=click.IntRange(min=1), help="Sentences at once. The texts do not depend on it."
)
@click.option(
    "--nbest", type=click.IntRange(min=1), default=1, help="So many outputs a line, with scores."
)
@click.option(
    "--line-buffered",
    is_flag=True,
    help="Write each line before the next is read, for programs that wait for it; slower.",
)
@options.as_json
@options.no_progress
def command(
    *,
    model: Path,
    input: Path,  # noqa: A002 - the argument's name in the help
    output: Path | None,
    nbest: int,
    as_json: bool,
    no_progress: bool,
    **search: int | float | str | None,
) -> None:
    """Translate INPUT, or standard input, line by line, with MODEL.

    MODEL is a model folder, or a run: then its newest save translates.

    One line in, one line out, in order; an empty line for an empty line. With --nbest N above 1
    each output is a line of its own: number of the input line, score, log-probability, text,
    separated by tabs. An output file is whole or absent.
    """
    from transduce.cli.process import keep_memory
    from transduce.tasks.load import load
    from transduce.tasks.translate import BLOCK
    from transduce.text.files import read_lines

    keep_memory()
    asked = search.pop("line_buffered")  # the one option here that is none of the search
    changes = {name: value for name, value in search.items() if value is not None}
    translator = load(model).searching(**changes)
    beam = translator.recipe.search.beam
    demand(
        nbest <= beam,
        f"--nbest {nbest} asks for more outputs than the beam of {beam} holds",
        f"--beam {nbest}",
    )
    waiting = asked or (str(input) == "-" and sys.stdin.isatty())
    outputs = translator.lines(read_lines(input), nbest=nbest, block=1 if waiting else BLOCK)
    live = not no_progress and output is not None
    with sink(output) as file:
        for number, best in enumerate(watched(outputs, live=live), start=1):
            file.write(shown(number, best, nbest=nbest, as_json=as_json))
            if waiting:
                file.flush()


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

    from transduce.durable import whole_file

    if output is None or str(output) == "-":
        yield sys.stdout
        return
    with whole_file(output) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()
