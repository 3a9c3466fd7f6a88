"""`transduce average`: average the snapshots of a run into a model folder."""

from pathlib import Path

import click

from transduce.cli import display, options
from transduce.cli.options import argument, option
from transduce.cli.searching import warn_if_unfinished


@options.make_command("average", options.quiet)
def command(
    *,
    run: Path = argument(),
    last: int | None = option(
        "Number of snapshots (default: the recipe's, or fewer if the run has fewer).",
        type=click.IntRange(min=1),
    ),
    output: Path = options.output_folder("The model folder to write."),
    name: str | None = options.name,
    languages: tuple[str, ...] | None = options.languages,
    force: bool = options.force,
) -> None:
    """Average the last snapshots of RUN into a model folder (section 6.1).

    The paper averages the last 5 for the base models and the last 20 for the big ones. A run
    without snapshots gives the weights of its last checkpoint.
    """
    from transduce.inference.average import average

    model = average(run, output, last=last, name=name, languages=languages, force=force)
    steps = model.steps
    warn_if_unfinished((run,), used=steps[-1])
    listed = ", ".join(f"{step:,}" for step in steps)
    what = f"{len(steps)} snapshots (steps {listed})" if len(steps) > 1 else f"step {listed} alone"
    display.print_note(f"averaged {what} into {output}")
    mean, alone = model.perplexities or (0.0, 0.0)
    if mean > alone:
        display.print_note(
            f"this mean is worse than the run's last weights: its perplexity on the development "
            f"set is {mean:.2f}, theirs {alone:.2f}, since it has early snapshots; --last 1 takes "
            "the last alone"
        )
