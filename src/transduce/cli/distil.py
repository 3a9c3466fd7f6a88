"""`transduce distil`: translate text with a teacher, and train a student on the translations."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cleaning import WORST
from transduce.cli import display, options, signals
from transduce.cli.inputs import TextOptions, WeightedFile
from transduce.cli.line_outputs import WarningPrinter
from transduce.cli.options import FiniteRange, argument, group, option, refuse_given
from transduce.cli.searching import BeamOptions, ModelOptions, TranslatorChoice, warn_of_sides
from transduce.distillation import LONGEST, STAGES
from transduce.settings import Recipe
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.distillation.distil import Distillation

DEV = ("dev_source", "dev_target", "dev_pairs", "columns")


@options.make_command("distil", options.quiet, options.no_progress)
def command(
    *,
    teachers: Sequence[Path] = argument(nargs=-1, metavar="[TEACHER]..."),
    source: Path | None = option("Lines of the source language to translate."),
    pairs: Path | None = option(
        "Given pairs, separated by a tab. Their sources are translated, and of the outputs in the "
        "beam the one nearest to the given target is taken."
    ),
    outputs: Path | None = option(
        "Another program's translations of the lines of --source, in place of a teacher's."
    ),
    texts: TextOptions = group(*DEV),
    output: Path = options.output_folder("The folder of all stages: a new one, or one to resume."),
    student: Recipe = option(
        "The recipe of the student.", default="student/tiny", show_default=True
    ),
    changes: Sequence[tuple[str, str]] = options.settings,
    backward: Path | None = option(
        "A model from target to source, by which the least probable pairs are found (default: the "
        "teacher's own probabilities)."
    ),
    worst: float = option(
        "Drop this share of the pairs, the least probable.",
        type=FiniteRange(0, 1, max_open=True),
        default=WORST,
        show_default=True,
    ),
    language: str = option(
        "Drop outputs that py3langid finds in another language than this one, such as de (default: "
        "off; it is unsure of very short lines).",
        default="",
    ),
    seed: int = option(
        "Seed of the pairs' order.", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True
    ),
    until: str = option(
        "The last stage.", type=click.Choice(STAGES), default=STAGES[-1], show_default=True
    ),
    beam: BeamOptions = group(),
    models: ModelOptions = group("precision", "workers", "threads"),
) -> None:
    """Translate text by TEACHER, and train a small student on the good pairs.

    Several teachers are an ensemble. The stages are folders in OUTPUT: text, shards (the teacher's
    translations of 10,000 lines each), pairs (with a report on the pairs that broke a rule), run
    (the student's training), model (the student) and report (a page of all stages). The same
    command again resumes after the last finished stage, shard or checkpoint.
    """
    signals.ignore_checkpoint_signal()
    from transduce.cli.training import display_training
    from transduce.distillation.distil import distil
    from transduce.distillation.stages import Inputs
    from transduce.runs.text_names import warn_of_records
    from transduce.runs.texts import FilePair

    if not teachers:
        refuse_given(
            {"precision", "workers", *vars(beam)} | (set() if backward else {"threads"}),
            "is for a teacher's translations, and no teacher was named",
        )
    require(
        bool(pairs or texts.dev_pairs or not texts.columns),
        "--columns is for --pairs and --dev-pairs",
        "name such a file",
    )
    texts = replace(texts, pairs=() if pairs is None else (WeightedFile(pairs),))
    on_warning, on_scoring = WarningPrinter(), WarningPrinter()
    teacher, dev = None, texts.find_text("dev_")
    if teachers:
        choice = TranslatorChoice(teachers[0], replace(models, ensemble=tuple(teachers[1:])), beam)
        teacher = choice.open(on_warning, source or pairs)
        if source or pairs:
            texts_read = Inputs(source=source, pairs=pairs, columns=texts.pair_columns()).read()
            warn_of_sides(teacher, (one[:2] for one in texts_read), f" in {pairs or source}")
        if dev is not None:
            warn_of_sides(teacher, dev.read(), " in the development set")
    for warning in warn_of_records(FilePair(source, outputs)) if source and outputs else ():
        display.print_message(warning)
    scorer = None
    if backward is not None:
        scorer = replace(
            TranslatorChoice(backward, ModelOptions(threads=models.threads)).open(on_scoring),
            workers=teacher.workers if teacher else 1,
        )
    with signals.ending_signals_as_interrupts(), display.show_status("reading") as show:
        found = distil(
            teacher,
            output,
            source=source,
            pairs=pairs,
            columns=texts.pair_columns(),
            outputs=outputs,
            dev=dev,
            student=student,
            settings=dict(changes),
            worst=worst,
            seed=seed,
            language=language,
            backward=scorer,
            until=until,
            on_line=lambda stage, done, total: show(
                f"{stage}: {done:,} of {total:,} lines" if done < total else ""
            ),
            callbacks=display_training,
            name_options=str,
        )
    on_warning.print_count("translated in parts, joined again")
    on_scoring.print_count("not scored, and so among the least probable")
    display.print_note(*describe_distillation(found, output))


def describe_distillation(found: "Distillation", output: Path) -> Iterator[str]:
    """Yield sentences on left-out lines and pairs, and on the model and the page in `output`."""
    if left := found.lines["read"] - found.lines["kept"]:
        why = f"equal to another, empty, or of more than {LONGEST:,} characters"
        yield f"{left:,} of {found.lines['read']:,} lines left out: {why}"
    if found.report is not None:
        yield from found.report.describe()
    if found.model is not None:
        yield f"the student: {output / found.model.relative_to(found.folder)}"
    if found.page is not None:
        page = output / found.page.relative_to(found.folder)
        yield f"all stages, teacher and student: {page}"
