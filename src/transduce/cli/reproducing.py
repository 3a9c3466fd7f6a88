"""Rows of a table, trained and measured one after the other, as people watch it."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from transduce.cli import display
from transduce.cli.process import import_undisturbed, keep_memory
from transduce.cli.training import Wishes
from transduce.errors import InUseError, TransduceError

if TYPE_CHECKING:
    from transduce.reproduce.job import Job
    from transduce.reproduce.result import Lines
    from transduce.settings import Recipe
    from transduce.tasks.prepare import Prepared

PATIENCE = 1.0  # seconds between two looks whether another process has prepared the corpus


@final
@dataclass(frozen=True, kw_only=True)
class Given:
    """Where the rows go, and what they are trained on."""

    output: Path
    store: Path | None
    files: Mapping[str, Path | None]
    test: "Lines | None"  # what they are scored on, if it is not the development set


def trained_all(todo: Sequence["Job"], given: Given, wishes: Wishes) -> list[TransduceError]:
    """Train and measure every row that nobody else has or holds; what went wrong."""
    import_undisturbed("transduce.tasks.run")
    from transduce.reproduce.job import demand_fits

    keep_memory()
    for job in todo:
        demand_fits(job)
    tell = display.tell if not wishes.quiet else lambda _line: None
    scale = todo[0].scale
    tell(f"{len(todo)} rows at the scale {scale.name}: {scale.about}")
    tell(f"a row like base takes {scale.costs}; to be seen: {scale.visible}")
    prepared = corpus(todo[0].recipe, given, quiet=wishes.quiet)
    failed: list[TransduceError] = []
    for number, job in enumerate(todo, start=1):
        row = f"row {job.row}, seed {job.seed} ({number} of {len(todo)})"
        tell(row)
        try:
            tell(f"{row}: {train_row(job, given, prepared, wishes)}")
        except InUseError as held:
            tell(f"{row}: left to another process: {held.fact}")
        except TransduceError as fault:
            failed.append(fault)
            display.tell(f"error: {row}: {fault.fact}")
            if fault.hint:
                display.tell(f"hint: {fault.hint}")
    return failed


def train_row(job: "Job", given: Given, prepared: "Prepared", wishes: Wishes) -> str:
    """Train one row, or go on with it, and measure it; what became of it."""
    from transduce.cli.train import trained
    from transduce.durable import ensure_folder
    from transduce.reproduce.result import demand_same_row, measured, read_result, write_result
    from transduce.tasks.place import holding
    from transduce.tasks.run import demand_run_place

    folder = job.folder(given.output)
    if (result := read_result(folder)) is not None:
        demand_same_row(job, result, given.test, folder)
        return "measured before"
    run = folder / "run"
    ensure_folder(folder)
    demand_run_place(run)
    with holding(run):
        if code := trained(run, job.recipe, prepared, wishes):
            sys.exit(code)
        result = measured(job, run, prepared, given.test)
        write_result(folder, result)
    return f"perplexity {result.perplexity['per_piece']:.3f}, BLEU {result.bleu['value']:.2f}"


def corpus(recipe: "Recipe", given: Given, *, quiet: bool) -> "Prepared":
    """The corpus of all rows, prepared once; who comes later waits for it."""
    from transduce.cli.train import wanted_corpus
    from transduce.tasks.prepare import demand_prepared_for, open_prepared

    own = given.output / "store"
    with waiting_for(own, quiet=quiet):
        if given.store is None and (own / "dev").is_dir() and not any(given.files.values()):
            prepared = open_prepared(own)
            demand_prepared_for(prepared, recipe.data)
            return prepared
        return wanted_corpus(recipe, given.output, given.store, given.files, quiet=quiet)


@contextmanager
def waiting_for(folder: Path, *, quiet: bool) -> Iterator[None]:
    """Hold a folder as soon as nobody else does."""
    from transduce.tasks.place import holding

    told = quiet
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(holding(folder))
                break
            except InUseError as fault:
                if not told:
                    display.tell(f"waiting: {fault.fact}")
                told = True
                time.sleep(PATIENCE)
        yield
