"""`transduce evaluate`: translate a test set and score the translations."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.file_path import FilePath
from transduce.cli.line_search import show_line_count
from transduce.cli.processes import Processes, process_options
from transduce.cli.searching import (
    TranslatorChoice,
    WarningPrinter,
    beam_options,
    choose_search,
    ensemble_option,
    load_in_worker,
    precision_option,
    strict_option,
    warn_if_unfinished,
)
from transduce.scores import METRICS
from transduce.scores.score import format_scores
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.inference.evaluate import Evaluation


BASELINE = "most frequent label of each token"
MOST_LABELS = 10  # the most labels unknown to the model that a message lists


@dataclass(frozen=True)
class Scoring:
    """How translations are scored; None: as the model's task and recipe say, without a baseline."""

    metrics: Sequence[str] | None
    language: str | None
    baseline: str | None  # the training text whose most frequent labels are scored too


@click.command("evaluate")
@click.argument("model", type=FilePath(path_type=Path))
@click.argument("source", type=FilePath(path_type=Path))
@click.argument("reference", type=FilePath(path_type=Path), required=False)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    metavar="METRIC",
    help="A score to take; may be repeated (default: the task's; bleu, chrf and ter for "
    "translation). `transduce score --help` lists them.",
)
@click.option(
    "--language",
    metavar="CODE",
    help="The language of REFERENCE, if the model's recipe does not name it by its code.",
)
@click.option(
    "--baseline",
    metavar="TRAIN",
    help="A tagger's training text: also score the labels that are the most frequent there, token "
    "by token.",
)
@ensemble_option
@beam_options
@precision_option
@strict_option
@process_options
@options.output("A file for the translations (trees, labels).")
@options.as_json
@options.quiet
@options.no_progress
def command(
    *,
    metrics: Sequence[str],
    language: str | None,
    baseline: str | None,
    output: Path | None,
    as_json: bool,
    processes: Processes,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Translate SOURCE with MODEL and score the result against REFERENCE.

    SOURCE and REFERENCE are files, or SOURCE alone is the name of a test set that `transduce fetch`
    has downloaded, such as newstest2014; CORPUS:SPLIT names another split of a corpus. For
    a parser or a tagger SOURCE is the only file: trees in brackets, or a token, a tab and its label
    on each line.

    Prints each score with its signature and the test set's name, whether it is comparable with a
    score of the paper, and the perplexity of the reference without label smoothing. -o writes the
    translations to a file.
    """
    source, reference = option_values["source"], option_values["reference"]
    require(str(output) != "-", "standard output is for the scores", "-o FILE")
    require(
        not str(source) == str(reference) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    options.require_writable(output, source, reference)
    folders = (option_values["model"], *option_values["ensemble"])
    precision, strict = option_values["precision"], option_values["strict"]
    choice = TranslatorChoice(
        folders, choose_search(option_values), precision=precision, strict=strict
    )
    warn_if_unfinished(folders)
    files = (source, reference)
    scoring, live = Scoring(metrics or None, language, baseline), options.is_live(option_values)
    found, about = translate_and_score(choice, files, scoring, output, processes, live=live)
    for line in [encode_evaluation(found, about)] if as_json else format_evaluation(found):
        display.print_result(line)
    for score in found.scores:
        if score.paper_comparability and not as_json:
            display.print_message(f"  {score.name}: {score.paper_comparability}")


def translate_and_score(
    choice: TranslatorChoice,
    files: tuple[Path, Path | None],
    scoring: Scoring,
    output: Path | None,
    processes: Processes,
    *,
    live: bool,
) -> "tuple[Evaluation, Mapping[str, object]]":
    """Translate a test set, write the translations to `output`, and return scores and provenance.

    `files` are the source and the reference file.
    """
    from transduce.durable import atomic_file, resolve_output
    from transduce.inference.evaluate import (
        build_evaluation_text,
        provenance,
        score_translations,
        translate_sources,
    )
    from transduce.inference.test_set import read_test_set
    from transduce.machine.process_settings import keep_freed_memory, use_threads
    from transduce.tasks import find_task_kind
    from transduce.text.arguments import read_text

    keep_freed_memory()
    use_threads(processes.threads)
    source, reference = files
    sides = (read_text("", source), read_text("", reference)) if reference else None
    with (
        nullcontext() if output is None else atomic_file(resolve_output(output)) as file
    ):  # an unwritable output is refused before translating
        translator = choice.load()
        lines = sides or read_test_set(str(source), None, translator.recipe.data)
        workers = processes.choose(lambda _: len(lines[0]), choice)
        on_warning = WarningPrinter()
        translator = replace(
            translator,
            on_warning=on_warning,
            workers=workers,
            reload=partial(load_in_worker, choice),
        )
        text = build_evaluation_text(
            translator, lines, scoring.metrics, scoring.language, scoring.baseline
        )
        outputs = list(show_line_count(translate_sources(translator, text), live=live))
        on_warning.print_count("see the warnings above; --strict refuses such lines")
        if file is not None:
            format_output = find_task_kind(translator.recipe.data).format_output
            pairs = zip(text.sources, outputs, strict=True)
            file.write("".join(format_output(*pair) for pair in pairs).encode())
    return score_translations(translator, text, outputs), provenance(translator)


def encode_evaluation(found: "Evaluation", about: Mapping[str, object]) -> str:
    """Encode an evaluation and its provenance (`about`) as a JSON object."""
    perplexity = found.perplexity.as_json() | {"left_out": found.left_out}
    scores = [score.as_json() for score in found.scores]
    unknown = dict(found.unknown_labels)
    whole: dict[str, object] = {"scores": scores, "perplexity": perplexity}
    if found.baseline:
        whole["baseline"] = [score.as_json() for score in found.baseline]
    whole |= {"unknown_labels": unknown, **about}
    return json.dumps(whole, ensure_ascii=False)


def format_evaluation(found: "Evaluation") -> list[str]:
    """Format the scores and the perplexity of an evaluation as lines of text."""
    scores = format_scores([*found.scores, *found.baseline])
    baseline = [f"{BASELINE}: {line}" for line in scores[len(found.scores) :]]
    lines = [*scores[: len(found.scores)], *baseline, str(found.perplexity)]
    unknown = found.unknown_labels
    if found.left_out:
        verbs = ("line that is", "has") if found.left_out == 1 else ("lines that are", "have")
        also = f" or {verbs[1]} labels that training lacked" if unknown else ""
        lines.append(f"  without {found.left_out} {verbs[0]} longer than data.max_length{also}")
    if unknown:
        most = ", ".join(
            f"{label} {count:,}" for label, count in list(unknown.items())[:MOST_LABELS]
        )
        more = ", …" if len(unknown) > MOST_LABELS else ""
        count = sum(unknown.values())
        total = f"{count:,} gold label{'s' * (count > 1)} that training lacked"
        lines.append(f"  {total}, each an error: {most}{more}")
    return lines
