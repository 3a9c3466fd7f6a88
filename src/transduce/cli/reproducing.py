"""Rows of a table, trained and measured one after the other, as people watch it."""

import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from transduce.cli import display
from transduce.cli.signals import import_undisturbed
from transduce.cli.training import Wishes
from transduce.errors import InputError, InUseError, TransduceError
from transduce.machine.process_settings import keep_freed_memory
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.reproduce.job import RowJob
    from transduce.reproduce.result import ParallelLines
    from transduce.runs.prepare import PreparedCorpus
    from transduce.settings import Data, Recipe

PATIENCE = 1.0  # seconds between two looks whether another process has prepared the corpus


@final
@dataclass(frozen=True, kw_only=True)
class Given:
    """Where the rows go, and what they are trained on."""

    output: Path
    store: Path | None
    files: Mapping[str, Path | None]
    test: "ParallelLines | None"  # what they are scored on, if it is not the development set


def trained_all(todo: Sequence["RowJob"], given: Given, wishes: Wishes) -> list[TransduceError]:
    """Train and measure every row that nobody else has or holds; what went wrong."""
    import_undisturbed("transduce.runs.run_folder")
    from transduce.reproduce.job import require_row_fits_memory
    from transduce.reproduce.result import require_measurable

    keep_freed_memory()
    for job in todo:
        require_row_fits_memory(job)
    tell = display.tell if not wishes.quiet else lambda _line: None
    scale = todo[0].scale
    tell(f"{len(todo)} rows at the scale {scale.name}: {scale.about}")
    tell(f"a row like base takes {scale.cost}; to be seen: {scale.visible_findings}")
    prepared = corpus(todo[0].recipe, given, quiet=wishes.quiet)
    require_measurable(todo[0].recipe, prepared, given.test)
    failed: list[TransduceError] = []
    for number, job in enumerate(todo, start=1):
        row = f"row {job.row}, seed {job.seed} ({number} of {len(todo)})"
        tell(row)
        try:
            tell(f"{row}: {tried(job, given, prepared, wishes)}")
        except InUseError as held:
            tell(f"{row}: left to another process: {held.fact}")
        except TransduceError as fault:
            failed.append(fault.with_traceback(None))  # which would keep the model in memory
            display.tell(f"error: {row}: {fault.fact}")
            if fault.hint:
                display.tell(f"hint: {fault.hint}")
    return failed


def tried(job: "RowJob", given: Given, prepared: "PreparedCorpus", wishes: Wishes) -> str:
    """Train and measure a row; a lack of memory is a fault of this row and not of the others."""
    from transduce.reproduce.job import is_out_of_memory

    try:
        return train_row(job, given, prepared, wishes)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
    gc.collect()  # after the block, which let go of the model
    raise InputError(
        "memory ran out",
        "free some, and the same command tries the row again; or begin it in another folder "
        "with less: -o FOLDER --set training.micro_batch_tokens=NUMBER, or a smaller --scale",
    )


def train_row(job: "RowJob", given: Given, prepared: "PreparedCorpus", wishes: Wishes) -> str:
    """Train one row, or go on with it, and measure it; what became of it."""
    from transduce.cli.train import trained
    from transduce.durable import ensure_folder
    from transduce.reproduce.result import measure_row, read_result, require_same_row, write_result
    from transduce.runs.output_folder import locked_folder
    from transduce.runs.run_folder import require_run_folder

    folder = job.folder(given.output)
    if (result := read_result(folder)) is not None:
        require_same_row(job, result, given.test, folder)
        return "measured before"
    run = folder / "run"
    ensure_folder(folder)
    require_run_folder(run)
    with locked_folder(run):
        if code := trained(run, job.recipe, prepared, wishes):
            sys.exit(code)
        result = measure_row(job, run, prepared, given.test)
        write_result(folder, result)
    return f"perplexity {result.perplexity['per_piece']:.3f}, BLEU {result.bleu['value']:.2f}"


def corpus(recipe: "Recipe", given: Given, *, quiet: bool) -> "PreparedCorpus":
    """The corpus of all rows, prepared once; who comes later waits for it."""
    from transduce.cli.train import wanted_corpus

    own = given.output / "store"
    stands = (own / "dev").is_dir() and not any(given.files.values())
    store = given.store or (own if stands else None)
    if store is not None:
        return wanted_corpus(recipe, given.output, store, given.files, quiet=quiet)
    if given.test is None:
        require_dev(recipe.data, given.files)
    with waiting_for(own, quiet=quiet):
        return wanted_corpus(recipe, given.output, None, given.files, quiet=quiet)


def require_dev(data: "Data", files: Mapping[str, Path | None]) -> None:
    """Refuse to prepare a corpus without the development set that rows are scored on."""
    from transduce.cli.inputs import chosen_pairs
    from transduce.reproduce.result import NO_DEV

    _, dev = chosen_pairs(data, files)
    require(dev is not None, NO_DEV, "--dev-source FILE --dev-target FILE")


@contextmanager
def waiting_for(folder: Path, *, quiet: bool) -> Iterator[None]:
    """Hold a folder as soon as nobody else does."""
    from transduce.runs.output_folder import locked_folder

    told = quiet
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(locked_folder(folder))
                break
            except InUseError as fault:
                if not told:
                    display.tell(f"waiting: {fault.fact}")
                told = True
                time.sleep(PATIENCE)
        yield
