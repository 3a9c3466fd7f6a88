"""Train and measure the rows of a table one by one; several processes may share the folder."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import final

from transduce.durable.files import ensure_folder
from transduce.durable.lock import create_and_lock_folder
from transduce.errors import InputError, InUseError, TransduceError, is_out_of_memory
from transduce.reproduce.job import RowJob, TableRequest, plan_jobs, require_row_fits_memory
from transduce.reproduce.report import Report, require_table_folder
from transduce.reproduce.result import (
    NO_DEV,
    ParallelLines,
    RowResult,
    choose_metrics,
    decode_development_set,
    gather_results,
    measure_row,
    read_result,
    read_test_set,
    require_same_row,
    write_result,
)
from transduce.reproduce.table import ResultTable, build_table
from transduce.runs.choice import choose_texts, find_corpus_name
from transduce.runs.plots import require_matplotlib
from transduce.runs.prepared_corpus import (
    STORE,
    PreparedCorpus,
    open_prepared,
    prepare_corpus,
    require_prepared_for,
)
from transduce.runs.text_names import list_names, name_text
from transduce.runs.texts import Pairs
from transduce.runs.training_run import (
    begin_or_resume_run,
    fingerprint_corpus,
    require_run_folder,
    train_run,
)
from transduce.scores.scoring import require_scorable
from transduce.settings import Data, Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import with_changes
from transduce.text.arguments import ignore_event
from transduce.training.progress import TrainingCallbacks

Prepare = Callable[[Path, Data, Pairs, Pairs | None], PreparedCorpus]
Train = Callable[[Path, Recipe, PreparedCorpus], None]
SILENTLY: Prepare = partial(prepare_corpus, on_progress=ignore_event)
MORE_MEMORY = (
    "free some, and the same command tries the row again; or begin it in another folder "
    "with less: -o FOLDER --set training.micro_batch_tokens=NUMBER, or a smaller --scale"
)
POLL_SECONDS = 1.0  # seconds until the next attempt to lock a corpus


@final
@dataclass(frozen=True, kw_only=True)
class TableCallbacks:
    """The caller's functions for a table: to report events, to prepare text, and to train rows."""

    on_message: Callable[[str], None] = ignore_event  # called with a sentence on progress
    on_row: Callable[[RowJob, RowResult], None] = ignore_event  # called after a row is measured
    # called with a label of a failed row, such as "row big, seed 1 (2 of 8)", and its error
    on_failure: Callable[[str, TransduceError], None] = ignore_event
    prepare: Prepare = SILENTLY  # how the corpus is prepared
    # called during the training of every row
    training: TrainingCallbacks = field(default_factory=TrainingCallbacks)
    train: Train | None = None  # how a row is trained; None means in this process, to the last step


@final
@dataclass(frozen=True, kw_only=True)
class TableKind:
    """Table 2 or 3 of the paper: the recipes of its rows and its report builder."""

    name: str
    recipes: Mapping[str, Recipe]
    build_report: Callable[[ResultTable], Report]
    has_test_set: bool = False  # whether rows are scored on a test set, not the development set


@final
@dataclass(frozen=True, kw_only=True)
class TableOutcome:
    """The result of a request for a table: its report, if any row is measured, and the errors."""

    report: Report | None = None
    failures: Sequence[TransduceError] = field(default_factory=list)  # errors of failed rows
    unreadable: Sequence[TransduceError] = field(default_factory=list)  # errors of damaged files

    @property
    def errors(self) -> list[TransduceError]:
        """All errors, first of rows that failed to train or score, then of damaged result files."""
        return [*self.failures, *self.unreadable]


def reproduce_rows(
    kind: TableKind, request: TableRequest, callbacks: TableCallbacks
) -> TableOutcome:
    """Train and measure the requested rows that have no result; report on all measured rows.

    If `request.gather` names folders, nothing is trained, and the report is on their rows.
    """
    jobs = plan_jobs(kind.name, kind.recipes, request)
    require_table_folder(request.output)
    if request.plot:
        require_matplotlib()
    try:
        failures = (
            []
            if request.gather
            else train_rows(jobs, request, callbacks, has_test_set=kind.has_test_set)
        )
    except (SystemExit, KeyboardInterrupt):  # after a signal, report on the finished rows first
        with suppress(TransduceError):
            if results := gather_results((request.output,))[0]:
                write_report(kind, request, results, callbacks)
        raise
    results, faults = gather_results(request.gather or (request.output,))
    known = {failure.fact for failure in failures}
    unreadable = [fault for fault in faults if fault.fact not in known]
    if not results and (failures or unreadable):
        return TableOutcome(failures=failures, unreadable=unreadable)
    report = write_report(kind, request, results, callbacks)
    return TableOutcome(report=report, failures=failures, unreadable=unreadable)


def write_report(
    kind: TableKind, request: TableRequest, results: Sequence[RowResult], callbacks: TableCallbacks
) -> Report:
    """Write the report on `results` into the folder `request.output`, and return the report."""
    report = kind.build_report(build_table(results, kind.recipes))
    ensure_folder(request.output)
    files = report.write(request.output, plot=request.plot)
    callbacks.on_message(f"the report: {', '.join(map(str, files))}")
    return report


def train_rows(  # noqa: PLR0915 - all steps of a table's rows, in their order
    jobs: Sequence[RowJob],
    request: TableRequest,
    callbacks: TableCallbacks,
    *,
    has_test_set: bool = False,
) -> list[TransduceError]:
    """Train and measure each job's row unless measured or locked; return failed rows' errors."""
    recipe, scale = jobs[0].recipe, jobs[0].scale
    test = read_test_set(recipe.data, request.test, request.train) if has_test_set else None
    for job in jobs:
        require_row_fits_memory(job)
    rows = "1 row" if len(jobs) == 1 else f"{len(jobs)} rows"
    callbacks.on_message(f"{rows} at the scale {scale.name}: {scale.about}")
    callbacks.on_message(f"a row like base takes {scale.cost}; visible: {scale.visible_findings}")
    prepared = prepare_table_corpus(recipe, request, callbacks, needs_dev=test is None)
    _, references = test or decode_development_set(prepared)
    require_scorable(choose_metrics(references), references, recipe.data.target_language)
    text_names = list_names(prepared.data)
    jobs = [replace(job, recipe=with_changes(job.recipe, text_names)) for job in jobs]
    require_own_results(request.output, jobs[0], fingerprint_corpus(prepared))
    failures: list[TransduceError] = []
    for number, job in enumerate(jobs, start=1):
        row = f"row {job.row}, seed {job.seed} ({number} of {len(jobs)})"
        callbacks.on_message(row)
        failure: TransduceError | None = None
        try:
            outcome = train_row(job, request.output, prepared, test, callbacks)
            callbacks.on_message(f"{row}: {outcome}")
        except InUseError as held:
            callbacks.on_message(f"{row}: left to another process: {held.fact}")
        except TransduceError as fault:
            fault.__context__ = fault.__cause__ = None
            failure = fault.with_traceback(None)  # a traceback would keep the model alive
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            failure = InputError("memory ran out", MORE_MEMORY)
        if failure is not None:  # the other rows of the table are trained all the same
            gc.collect()  # frees the model's memory, unless an error in `__context__` holds it
            failures.append(failure)
            callbacks.on_failure(row, failure)
    return failures


def require_own_results(folder: Path, job: RowJob, corpus: Mapping[str, str]) -> None:
    """Raise InputError if a folder has a result of another table, scale, language or corpus."""
    wanted = job.table, job.scale.name, job.recipe.data.languages, corpus
    for one in gather_results((folder,))[0] if folder.exists() else ():
        fact = f"has a result of {one.recipe.name} for another table, scale or corpus"
        if (one.table, one.scale, one.recipe.data.languages, dict(one.data)) != wanted:
            raise InputError(fact, "choose another folder with -o", file=folder)


def train_row(
    job: RowJob,
    output: Path,
    prepared: PreparedCorpus,
    test: ParallelLines | None,
    callbacks: TableCallbacks,
) -> str:
    """Train and measure a row unless it has a result; return a message; InUseError if locked."""
    folder = job.folder(output)
    if (result := read_result(folder)) is not None:
        require_same_row(job, result, test, folder)
        return "measured before"
    run = folder / "run"
    ensure_folder(folder)
    require_run_folder(run)
    with create_and_lock_folder(run):
        if callbacks.train is not None:
            callbacks.train(run, job.recipe, prepared)
        else:
            recipe = begin_or_resume_run(run, job.recipe, prepared)
            train_run(run, recipe, prepared, callbacks.training, ignore_event)
        result = measure_row(job, run, prepared, test)
        write_result(folder, result)
    callbacks.on_row(job, result)
    return f"perplexity {result.perplexity_per_piece:.3f}, BLEU {result.bleu['value']:.2f}"


def prepare_table_corpus(
    recipe: Recipe, request: TableRequest, callbacks: TableCallbacks, *, needs_dev: bool
) -> PreparedCorpus:
    """Return the corpus that all rows share, prepared now if it was not prepared before.

    With `needs_dev`, raise InputError if a corpus to prepare has no development set.
    """
    table_store = request.output / STORE
    has_texts = request.train is not None or request.dev is not None
    is_prepared = (table_store / "dev").is_dir() and not has_texts
    store = request.store or (table_store if is_prepared else None)
    if store is not None:
        prepared = open_prepared(store)
        require_prepared_for(prepared, recipe.data)
        return prepared
    train, dev = choose_texts(recipe.data, request.train, request.dev)
    hint = "--dev-source FILE --dev-target FILE"
    require(dev is not None or not needs_dev, NO_DEV, hint)
    if request.train is not None:
        corpus = find_corpus_name(request.train)
        recipe, sentences = name_text(recipe, train, corpus, request.changes)
        for sentence in sentences:
            callbacks.on_message(sentence)
    with wait_for_lock(table_store, callbacks.on_message):
        return callbacks.prepare(table_store, recipe.data, train, dev)


@contextmanager
def wait_for_lock(folder: Path, on_message: Callable[[str], None]) -> Iterator[None]:
    """Lock a folder for a with block; wait while another process holds its lock."""
    is_waiting = False
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(create_and_lock_folder(folder))
                break
            except InUseError as fault:
                if not is_waiting:
                    on_message(f"waiting: {fault.fact}")
                is_waiting = True
                time.sleep(POLL_SECONDS)
        yield
