"""transduce evaluate: translate a test set and score it."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from transduce.cli import display, options
from transduce.scores import METRICS
from transduce.settings.fields import demand


@click.command("evaluate")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("reference", type=click.Path(path_type=Path))
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    default=("bleu", "chrf", "ter"),
    help="A score to take; may be repeated. `transduce score --help` lists them.",
)
@options.output
@options.as_json
def command(
    *,
    model: Path,
    source: Path,
    reference: Path,
    metrics: Sequence[str],
    output: Path | None,
    as_json: bool,
) -> None:
    """Translate SOURCE with MODEL and score the result against REFERENCE.

    Prints each score with its signature and the test set's name, whether it may stand beside a
    figure of the paper, and the perplexity of the reference without smoothing. -o keeps the
    translations.
    """
    from transduce.cli.process import keep_memory
    from transduce.durable import whole_file
    from transduce.tasks.evaluate import evaluate
    from transduce.tasks.load import load
    from transduce.text.files import read_lines

    demand(str(output) != "-", "standard output is for the scores", "-o FILE")
    demand(
        not str(source) == str(reference) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    keep_memory()
    lines, references = list(read_lines(source)), list(read_lines(reference))
    with nullcontext() if output is None else whole_file(output) as file:  # refused before the work
        found = evaluate(load(model), lines, references, metrics)
        if file is not None:
            file.write("".join(f"{line}\n" for line in found.outputs).encode())
    if as_json:
        scores = [score.as_json() for score in found.scores]
        perplexity = found.perplexity.as_json() | {"left_out": found.left_out}
        said = {"scores": scores, "perplexity": perplexity}
        display.result(json.dumps(said, ensure_ascii=False))
        return
    for score in found.scores:
        display.result(str(score))
        if score.beside_the_paper:
            display.tell(f"  {score.beside_the_paper}")
    display.result(str(found.perplexity))
    if found.left_out:
        display.result(f"  without {found.left_out} lines that are longer than data.longest")
