"""`transduce.distil`: from a teacher and text of the source language to a student, by one call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, final

from transduce.checkpoint.run_file import is_run, read_run
from transduce.cleaning import WORST
from transduce.cleaning.clean import require_translators
from transduce.cleaning.rules import RuleReport, require_detectable
from transduce.distillation import STAGES
from transduce.distillation.report import write_report
from transduce.distillation.stages import (
    PAIRS,
    REPORT,
    Inputs,
    OnLine,
    PairOptions,
    choose_pairs,
    gather_text,
    translate_text,
)
from transduce.durable.folder import MANIFEST, require_own_folder
from transduce.durable.json import parse_json
from transduce.durable.lock import create_and_lock_folder
from transduce.errors import name_arguments, suggest_names
from transduce.inference.average import average
from transduce.inference.load import load
from transduce.inference.translator import Translator, with_warnings_at
from transduce.recipes.choice import customise_recipe, find_recipe
from transduce.runs.average import open_or_write_average
from transduce.runs.choice import open_texts
from transduce.runs.machine_settings import require_trainable
from transduce.runs.prepared_corpus import read_side, require_learnable_vocabulary
from transduce.runs.text_names import list_primary, read_languages
from transduce.runs.texts import FilePair, TaskFiles, list_pairs
from transduce.runs.train import set_process_for_training, train_interruptibly
from transduce.runs.training_inputs import TrainingInputs
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes
from transduce.tasks import find_task_kind
from transduce.tasks.text import TRANSLATION
from transduce.text.arguments import ignore_event, read_folder, read_path
from transduce.text.languages import is_language_code
from transduce.text.pair_files import Columns
from transduce.vocabulary.learn import max_vocabulary_size

if TYPE_CHECKING:
    from transduce.runs.choice import Texts
    from transduce.runs.train import ObserveTraining
    from transduce.training.progress import TrainingCallbacks

STUDENT = "student/tiny"


@final
@dataclass(frozen=True)
class Distillation:
    """What `distil` wrote: the folder, counts of lines, rule report, student model and page.

    `lines` has the number of lines "read", and of those "kept" for translation. A field is None if
    its stage was not reached.
    """

    folder: Path
    lines: Mapping[str, int]
    report: RuleReport | None = None
    model: Path | None = None
    page: Path | None = None


def distil(  # noqa: PLR0913, PLR0915 - one parameter for each choice, and all stages in order
    teacher: Translator | None,
    folder: str | PathLike[str],
    *,
    source: str | PathLike[str] | None = None,
    pairs: str | PathLike[str] | None = None,
    columns: Columns | None = None,
    outputs: str | PathLike[str] | None = None,
    dev: "Texts | None" = None,
    student: str | PathLike[str] | Recipe = STUDENT,
    settings: Mapping[str, Value] | None = None,
    worst: float = WORST,
    seed: int = 1,
    language: str = "",
    backward: Translator | None = None,
    until: str = STAGES[-1],
    on_line: OnLine = ignore_event,
    callbacks: "TrainingCallbacks | ObserveTraining | None" = None,
    name_options: Callable[[str], str] = name_arguments,
) -> Distillation:
    """Train a student on a teacher's translations that pass rules; return what was written.

    `source` has lines of the source language. `pairs` is a TSV file of given pairs, whose sources
    are translated, too; of each beam the output nearest to the reference is kept. `columns` are
    the columns of its sources and targets, such as (1, 3), if it has more than two. `outputs` are
    another program's translations of `source`, in place of a teacher's. The share `worst` of the
    pairs is dropped: the least probable by the teacher, or by `backward`, a model of the other
    direction, if given. With `language`, such as "de", outputs that read like another language are
    dropped (this needs py3langid). `student` is a recipe, changed by `settings`, and `dev` its
    development set. `until` is the last stage: "text", "shards", "pairs", "run", "model" or
    "report". Calling it again resumes. `name_options` rewrites options in messages.

        dev = ("dev.en", "dev.de")
        found = transduce.distil(transduce.load("teacher"), "student", source="mono.en", dev=dev)
        translate = transduce.load(found.model)
    """
    require(until in STAGES, f"there is no stage {until!r}", suggest_names(until, STAGES))
    require(
        (teacher is None) == (outputs is not None),
        "a teacher and another program's outputs exclude each other, and one is needed",
        "name a teacher, or --outputs FILE with the translations of --source",
    )
    options = PairOptions(worst, seed, language)
    require_translators("teacher", teacher, backward)
    require(
        bool(teacher or backward) or worst in (0, WORST),
        f"the share {worst} is dropped by a model's probabilities, and none was given",
        "--backward MODEL",
    )
    if language:
        require_detectable(language)
    files = {"source": source, "pairs": pairs, "outputs": outputs}
    inputs = Inputs(
        **{name: None if file is None else read_path(name, file) for name, file in files.items()},
        columns=columns,
    )
    if teacher is not None and inputs.pairs is not None and columns is None:
        require_languages(teacher, inputs.pairs)
    folder = read_folder(folder)
    settings = {} if settings is None else settings
    recipe = customise_student(find_recipe(student), settings)
    last = STAGES.index(until)
    # read now, so that its faults show before hours of translation
    dev_texts = None if dev is None else open_texts("dev", dev, recipe.data)
    dev_pairs = [] if dev_texts is None else list_pairs(dev_texts)
    require_distillation_folder(folder)
    with create_and_lock_folder(folder):
        text = gather_text(folder, inputs)
        gathered = parse_json(text.read(REPORT))
        lines = {name: gathered[name] for name in ("read", "kept")}
        if teacher is not None and last >= 1:
            nbest = 1 if inputs.pairs is None else teacher.recipe.search.beam
            translate_text(folder, text, teacher, nbest, on_line)
        if last <= 1:
            return Distillation(folder, lines)
        pairs_folder, report = choose_pairs(folder, text, options, backward, on_line)
        if last == 2:
            return Distillation(folder, lines, report)
        chosen = pairs_folder.verified_path(PAIRS)
        is_sized = "data.vocabulary_size" in settings
        set_process_for_training()
        job = TrainingInputs(
            folder=folder / "run",
            train=chosen,
            dev=dev_texts,
            recipe=recipe if is_sized else fit_vocabulary(recipe, folder / "run", chosen),
            languages=find_languages(teacher, inputs),
        )
        run = train_interruptibly(job, callbacks, measure_duration=True, name_options=name_options)
        if last == 3:
            return Distillation(folder, lines, report)
        open_or_write_average(run.folder, renews=True)  # in place of a mean of fewer updates
        model = average(run, None)  # beside the run, in folder/model
        if last == 4:
            return Distillation(folder, lines, report, model.folder)
        trained = load(model.folder, on_warning=ignore_event)
        reporting = teacher and with_warnings_at(teacher, "stage report, development set, line")
        page = write_report(folder, text, pairs_folder, report, (reporting, trained), dev_pairs)
        return Distillation(folder, lines, report, model.folder, page)


def require_distillation_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than a distillation, or lies in another one."""
    # a folder with shards/ or pairs/ is a distillation, even if its text/ was deleted
    is_begun = any((folder / name).is_dir() for name in STAGES[1:3])
    ours, mark = ["lock", *(STAGES if is_begun else ())], f"{STAGES[0]}/{MANIFEST}"
    require_own_folder(folder, STAGES[0], ours, "distillation", mark)


def fit_vocabulary(recipe: Recipe, run: Path, pairs: Path) -> Recipe:
    """Return a recipe with the vocabulary size of `run`, or for a new run one that `pairs` allow.

    For a new run this is the size in `recipe`, or the largest that `pairs` allow if that is less.
    """
    data = recipe.data
    if is_run(run):
        size = read_run(run).recipe.data.vocabulary_size
    else:
        text, sides = open_texts("pairs", pairs, data), range(2 - data.shared_vocabulary)
        texts = [read_side(text, data, side, ignore_event) for side in sides]
        size = min(max_vocabulary_size(lines, data.vocabulary_size) for lines in texts)
    return with_changes(recipe, {"data.vocabulary_size": size})


def customise_student(recipe: Recipe, settings: Mapping[str, Value]) -> Recipe:
    """Return a recipe changed by `settings`; InputError unless it is trainable, text to text."""
    recipe = customise_recipe(recipe, settings)
    fact = f"a student translates, and data.task is {recipe.data.task}"
    require(find_task_kind(recipe.data).is_text, fact, "--set data.task=translation")
    require_learnable_vocabulary(recipe.data)
    require_trainable(recipe)
    return recipe


def require_languages(teacher: Translator, pairs: Path) -> None:
    """Raise InputError if a file of pairs names other languages than a teacher's."""
    named, ours = read_languages(TaskFiles(pairs, TRANSLATION)), teacher.recipe.data.languages
    if all(named) and all(map(is_language_code, ours)):
        fact = f"{pairs} is {' to '.join(named)}, and the teacher translates {' to '.join(ours)}"
        hint = "--columns 2,1 exchanges its columns, --columns en,de names the sides of a memory"
        require(list_primary(named) == list_primary(ours), fact, hint)


def find_languages(teacher: Translator | None, inputs: Inputs) -> tuple[str, str] | None:
    """Return a teacher's (source, target) languages, or those in file names; None if unknown."""
    if teacher is not None:
        data = teacher.recipe.data
        languages = (data.source_language, data.target_language)
    else:
        assert inputs.source
        assert inputs.outputs
        languages = read_languages(FilePair(inputs.source, inputs.outputs))
    return languages if all(map(is_language_code, languages)) else None
