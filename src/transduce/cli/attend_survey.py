"""`transduce attend --survey`: a table and a page of all heads of a model."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display
from transduce.cli.file_path import FilePath
from transduce.cli.searching import TranslatorChoice
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.settings import Recipe
    from transduce.view.attention.survey.record import HeadSurvey, SurveyedHead

COLUMNS = ("kind", "layer", "head", "tendency", "share", "entropy", "distance", "aligned", "loss")
OF_ONE_TEXT = ("save", "figure", "layers", "find")  # options for one text, not for a survey


def survey_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a click command the options for a survey of all attention heads."""
    for option in reversed(
        (
            click.option(
                "--survey",
                is_flag=True,
                help="Print what each head does on the pairs of file TEXT, and the loss without.",
            ),
            click.option(
                "--pairs",
                type=click.IntRange(min=1),
                default=100,
                show_default=True,
                help="How many pairs of TEXT --survey takes.",
            ),
            click.option(
                "--gold",
                type=FilePath(path_type=Path),
                help="Gold links of the pairs, for --survey (default: the model's own alignments).",
            ),
        )
    ):
        command = option(command)
    return command


def survey_corpus(
    choice: TranslatorChoice,
    text: str | None,
    output: Path | None,
    option_values: Mapping[str, Any],
) -> None:
    """Survey the heads of a model on the pairs of a file; print a table, and write a page."""
    from transduce.machine.process_settings import keep_freed_memory
    from transduce.view.attention.survey.survey import survey

    require(
        text is not None, "--survey needs a file of pairs", "transduce attend MODEL FILE --survey"
    )
    assert text is not None
    for name in OF_ONE_TEXT:
        require(
            not option_values[name], f"--{name} is for one text, and --survey for a file of pairs"
        )
    require(output is None or output.suffix == ".html", f"{output} is no .html", "-o survey.html")
    keep_freed_memory()
    translator = choice.load()
    pairs = read_pairs_of(translator.recipe, Path(text), option_values)
    sides = [list(side) for side in zip(*pairs, strict=True)] or [[], []]
    with display.show_pair_count(live=not option_values["quiet"]) as show:
        found = survey(
            translator,
            *sides,
            gold=None if option_values["gold"] is None else str(option_values["gold"]),
            pairs=option_values["pairs"],
            on_head=lambda done, every: show(
                f"losses without a head: {done:,} of {every:,};", len(sides[0])
            ),
        )
    lines = [json.dumps(found.as_json(), ensure_ascii=False)]
    for line in lines if option_values["as_json"] else format_survey(found):
        display.print_result(line)
    if output is not None:
        found.write_page(output)


def read_pairs_of(
    recipe: "Recipe", text: Path, option_values: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return the first pairs of one file in the format of the model's task, or of two files."""
    from transduce.tasks import find_task_kind
    from transduce.text.files import read_pairs

    if option_values["target"] is not None:
        return list(islice(read_pairs(text, option_values["target"]), option_values["pairs"]))
    return list(islice(find_task_kind(recipe.data).read_file(text), option_values["pairs"]))


def format_survey(found: "HeadSurvey") -> Iterator[str]:
    """Yield a line on the surveyed pairs, then the lines of a table of all heads."""
    from transduce.settings.recipe import shorten_name

    pairs = "1 pair" if found.pairs == 1 else f"{found.pairs:,} pairs"
    yield (
        f"{shorten_name(found.model.name)}: {pairs}, {found.tokens:,} target pieces, "
        f"loss {found.loss:.4f} nats per piece"
    )
    rows = [list(COLUMNS), *(format_head(one) for one in found.heads)]
    yield from display.align_columns(display.align_right(rows))


def format_head(head: "SurveyedHead") -> list[str]:
    """Return the survey's values of one head as a row of the table."""
    aligned = "" if head.aligned is None else f"{head.aligned:.2f}"
    figures = [f"{value:.2f}" for value in (head.share, head.entropy, head.distance)]
    named = [head.kind, str(head.layer), str(head.head), head.tendency]
    return [*named, *figures, aligned, f"{head.loss:+.4f}"]
