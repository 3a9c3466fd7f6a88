"""`transduce evaluate`: translate a test set and score the translations."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import display, options
from transduce.cli.line_outputs import WarningPrinter, means_standard_output, show_line_count
from transduce.cli.options import argument, flag, group, option
from transduce.cli.searching import BeamOptions, ModelOptions, TranslatorChoice
from transduce.durable.files import atomic_file
from transduce.durable.folder import resolve_output
from transduce.scores.metrics import METRICS
from transduce.scores.score import format_scores
from transduce.scores.scoring import describe_slow_metrics
from transduce.settings.fields import require
from transduce.text.arguments import read_text

if TYPE_CHECKING:
    from transduce.inference.evaluate import Evaluation

BASELINE = "most frequent label of each token"
MOST_LABELS = 10  # a message lists at most this many labels that the model does not know


@options.make_command("evaluate", options.quiet, options.no_progress)
def command(  # noqa: PLR0915 - all steps of an evaluation, in order
    *,
    model: Path = argument(),
    source: Path = argument(),
    reference: Path | None = argument(required=False),
    metrics: Sequence[str] = option(
        "A metric to compute; may be repeated (default: the task's; bleu, chrf and ter for "
        "translation). `transduce score --help` lists them.",
        "--metric",
        type=click.Choice(list(METRICS)),
        multiple=True,
        metavar="METRIC",
    ),
    language: str | None = option(
        "The language code of REFERENCE (default: the target language of the model's recipe).",
        metavar="CODE",
    ),
    baseline: str | None = option(
        "For a tagger: also score a baseline that gives each token its most frequent label in this "
        "training text.",
        metavar="TRAIN",
    ),
    contrast: bool = flag(
        "Also score the test set in upper case, in title case, without end marks, with typing "
        "errors and with a token to copy, and translate single words."
    ),
    beam: BeamOptions = group(),
    models: ModelOptions = group(),
    output: Path | None = options.output("A file for the translations (trees, labels)."),
    as_json: bool = options.as_json,
) -> None:
    """Translate SOURCE with MODEL and score the result against REFERENCE.

    SOURCE and REFERENCE are files, or SOURCE alone is a file of pairs, such as test.tsv, or the
    name of a test set that `transduce fetch` has downloaded, such as newstest2014; CORPUS:SPLIT
    names another split of a corpus. For a parser, a tagger or a model of signals SOURCE is the only
    file: trees in brackets; or a token, a tab and its label on each line; or a list as `transduce
    train --signals` takes it.

    Prints each score with its signature and the test set's name, whether it is comparable with a
    score of the paper, and the perplexity of the reference without label smoothing. Warns if SOURCE
    and REFERENCE seem to be exchanged. `transduce score --against` tests whether the translations
    of two models (-o) differ by more than chance.

    With --contrast a table follows with scores of the test set after changes that settings such as
    data.upper_case make in training: capitals and end marks on both sides, typos in the source.
    """
    require(baseline != "", "--baseline is empty", "a file, or CORPUS:SPLIT")
    is_stdout_free = output is None or not means_standard_output(output)
    require(is_stdout_free, "standard output is for the scores", "-o FILE")
    options.require_one_standard_input(source, reference)
    options.require_writable(output, source, reference, Path(baseline) if baseline else None)
    from transduce.inference import evaluate
    from transduce.tasks import find_task_kind

    choice = TranslatorChoice(model, models, beam)
    sides = (read_text("", source), read_text("", reference)) if reference else None
    with (
        nullcontext() if output is None else atomic_file(resolve_output(output)) as file
    ):  # an unwritable output is refused before translating
        on_warning = WarningPrinter()
        translator = choice.open(on_warning)
        data = translator.recipe.data
        if sides:
            evaluate.require_two_files_fit(data)
        lines = sides or evaluate.read_test_set(str(source), None, data)
        translator = choice.with_workers(translator, lambda _: len(lines[0]))
        text = evaluate.build_evaluation_text(
            translator, lines, metrics or None, language, baseline, has_contrast=contrast
        )
        times = 1 + len(evaluate.FORMS) * contrast
        if slow := describe_slow_metrics(text.metrics, text.references, text.language, times):
            display.print_note(slow)
        outputs = list(show_line_count(evaluate.translate_sources(translator, text), "translate"))
        on_warning.print_count("see the warnings above; --strict refuses such lines")
        if file is not None:
            format_output = find_task_kind(data).format_output
            pairs = zip(text.sources, outputs, strict=True)
            file.write("".join(format_output(*pair) for pair in pairs).encode())
    found = evaluate.score_translations(translator, text, outputs, show_line_count)
    if found.warning:
        display.print_message(f"warning: {found.warning}")
    if as_json:
        display.print_json({**evaluation_as_json(found), **evaluate.provenance(translator)})
        return
    display.print_result(*format_evaluation(found), *format_contrast(found))
    for score in found.scores:
        display.print_comparability(score)


def evaluation_as_json(found: "Evaluation") -> dict[str, object]:
    """Return scores, perplexity, baseline, contrast, unknown labels and warnings as JSON values."""
    values: dict[str, object] = {
        "scores": [score.as_json() for score in found.scores],
        "perplexity": found.perplexity.as_json() | {"left_out": found.left_out},
    }
    if found.baseline:
        values["baseline"] = [score.as_json() for score in found.baseline]
    if found.contrast:
        values["contrast"] = [asdict(one) for one in found.contrast]
    warnings = [found.warning] if found.warning else []
    return {**values, "unknown_labels": dict(found.unknown_labels), "warnings": warnings}


def format_evaluation(found: "Evaluation") -> list[str]:
    """Return lines with an evaluation's scores, perplexity, left-out lines and unknown labels."""
    scores = format_scores([*found.scores, *found.baseline])
    baseline = [f"{BASELINE}: {line}" for line in scores[len(found.scores) :]]
    lines = [*scores[: len(found.scores)], *baseline, str(found.perplexity)]
    unknown = found.unknown_labels
    if found.left_out:
        words = ("line that is", "has") if found.left_out == 1 else ("lines that are", "have")
        also = f" or {words[1]} labels that training lacked" if unknown else ""
        lines.append(f"  without {found.left_out} {words[0]} longer than data.max_length{also}")
    if unknown:
        listed = ", ".join(
            f"{label} {count:,}" for label, count in list(unknown.items())[:MOST_LABELS]
        )
        more = ", …" if len(unknown) > MOST_LABELS else ""
        count = sum(unknown.values())
        total = f"{count:,} gold label{'s' * (count > 1)} that training lacked"
        lines.append(f"  {total}, each an error: {listed}{more}")
    return lines


def format_contrast(found: "Evaluation") -> Iterator[str]:
    """Yield a table's lines with the scores of plain and changed text; none without --contrast.

    Below the table follow the scores of single words, and the first form's signature as an example.
    """
    names = [score.name for score in found.scores]
    plain = [f"{score.value:.2f}" for score in found.scores]
    rows = [["", "lines changed", *names], ["plain", "", *plain]]
    others = list[str]()
    for one in found.contrast:
        if [score.name for score in one.scores] == names:
            values = [f"{score.value:.2f}" for score in one.scores]
            rows.append([one.form.replace("_", " "), f"{one.changed:,}", *values])
        else:  # single words, which have no references
            others += map(str, one.scores)
    if found.contrast:
        yield from display.align_columns(rows, align_right=True)
        yield from others
        yield f"signature of a form: {found.contrast[0].scores[0].signature}"
