"""Command-line options of the search, and the translator and worker processes that they choose."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, final

import click

from transduce.cli import display
from transduce.cli.options import FiniteRange, flag, option
from transduce.errors import FolderError
from transduce.inference.workers import LINES_PER_WORKER, choose_workers, estimate_own_load
from transduce.machine.limits import available_cpus, free_memory_bytes
from transduce.machine.process_settings import (
    collect_garbage_rarely,
    keep_freed_memory,
    use_threads,
)
from transduce.settings.fields import require
from transduce.settings.search import INFERENCE_PRECISIONS, PENALTIES, STOPS, WIDEST_BEAM, Sampling
from transduce.text.files import is_file, read_lines
from transduce.text.languages import SAMPLE_LINES, describe_wrong_language, find_wrong_side

if TYPE_CHECKING:
    from transduce.inference.lines import OnWarning
    from transduce.inference.translator import Translator

FORMULAS = "; ".join(f"{name}: {formula}" for name, formula in PENALTIES.items())
MOST_PROCESSES = 1_024  # also the most threads: given 100,000, torch aborts at start
GUESSED_LINES = 100  # the language of fewer lines is not guessed, as that takes half a second


@final
@dataclass(frozen=True, kw_only=True)
class BeamOptions:
    """The options of beam search. None leaves the recipe's setting as it is."""

    beam: int | None = option(
        "Width of the beam (default: the recipe's; the paper's is 4). 1 is greedy.",
        type=click.IntRange(1, WIDEST_BEAM),
    )
    alpha: float | None = option(
        "Strength of the length penalty (default: the recipe's; the paper's is 0.6).",
        type=FiniteRange(min=0),
    )
    gamma: float | None = option(
        "Reward for each symbol with --penalty reward (default: the recipe's).",
        type=FiniteRange(min=0),
    )
    penalty: str | None = option(
        f"Score of a hypothesis of n symbols, END included (default: the recipe's). {FORMULAS}.",
        type=click.Choice(list(PENALTIES)),
    )
    extra_length: int | None = option(
        "How many pieces longer than its input an output may be (default: the recipe's; the "
        "paper's is 50).",
        type=click.IntRange(min=1),
    )
    stop: str | None = option(
        "When the search for a sentence ends: exact, when no better output can follow; early, also "
        "when as many outputs as the beam is wide have ended (default: the recipe's).",
        type=click.Choice(STOPS),
    )
    batch_size: int | None = option(
        "Sentences searched at once; in float32 no output depends on it. Halved when memory runs "
        "out.",
        type=click.IntRange(min=1),
    )

    def given(self) -> dict[str, int | float | str]:
        """Return the settings that are not None, by their names in `Search`."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@final
@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """The options of sampling. None leaves the default of `Sampling` as it is."""

    sample: bool = flag("Draw outputs at random instead of searching for the best.")
    temperature: float | None = option(
        "Divisor of log P when sampling; above 1 outputs vary more (default: 1)."
    )
    top_k: int | None = option("Draw only from this many of the likeliest symbols.")
    top_p: float | None = option(
        "Draw only from the smallest set of likeliest symbols whose total probability reaches this."
    )
    seed: int | None = option(
        "Seed of sampling; equal seeds and lines give equal outputs (default: 1)."
    )

    def choose(self, beam: BeamOptions) -> Sampling | None:
        """Return the settings of sampling, or None for a search; refuse contradicting options."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        is_sampling = given.pop("sample")
        for name in given:
            option = name.replace("_", "-")
            require(is_sampling, f"--{option} is for sampling", "add --sample")
        for name in {"beam", "stop"} & {*beam.given()}:
            fact = f"--sample and --{name} exclude each other"
            require(not is_sampling, fact, "give one of them; --nbest is the number of samples")
        return Sampling(**given) if is_sampling else None


@final
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The options of loading and running models; --workers and --threads exclude each other."""

    ensemble: tuple[Path, ...] = option(
        "Another model for an ensemble, which averages probabilities; may be repeated.",
        multiple=True,
    )
    precision: str = option(
        "bfloat16 is faster on processors that support it, int8 on most. Both can change outputs; "
        "a few in 1,000 then also depend on batch size, workers and line order. auto picks the "
        "fastest format whose quality was measured on this kind of processor.",
        type=click.Choice(INFERENCE_PRECISIONS),
        default="float32",
    )
    strict: bool = flag("Refuse a sentence longer than the model takes, instead of warning.")
    workers: int | None = option(
        "Processes of one thread each; in float32 results do not depend on it (default: one for "
        "every 1,000 lines of a file, limited by idle cores and free memory).",
        type=click.IntRange(1, MOST_PROCESSES),
    )
    threads: int | None = option(
        "Use one process with this many threads, for input that arrives line by line (default: 1).",
        type=click.IntRange(1, MOST_PROCESSES),
    )

    def __post_init__(self) -> None:
        require(
            self.workers is None or self.threads is None,
            "--threads is for one process, and --workers are processes of one thread each",
            "give one of them",
        )

    def choose_workers(self, count_lines: Callable[[int], int], folders: Sequence[Path]) -> int:
        """Return the number of worker processes, as given or chosen for input and machine.

        `count_lines(most)` counts the input's lines, but at most `most`; `folders` are the models'.
        """
        if self.workers or self.threads is not None:
            return self.workers or 1
        from transduce.machine.device import select_device

        cores = available_cpus()
        lines = count_lines(cores * LINES_PER_WORKER) if cores > 1 else 0
        if lines < 2 * LINES_PER_WORKER:
            return 1
        from transduce.checkpoint.model_files import WEIGHTS

        load, memory = estimate_own_load(cores), free_memory_bytes()
        sizes = [[file.stat().st_size for file in one.rglob(WEIGHTS)] for one in folders]
        weight_bytes = sum(max(own, default=0) for own in sizes)
        count = choose_workers(lines, cores, load, memory, weight_bytes)
        return count if count == 1 or select_device().type == "cpu" else 1  # a GPU is not shared


no_keep = flag(
    "Let the model translate placeholders such as {0}, URLs and e-mail addresses instead of "
    "copying them, and do not check that numbers come back."
)


@final
@dataclass(frozen=True)
class TranslatorChoice:
    """The models and settings that a command's options name."""

    model: Path
    models: ModelOptions = ModelOptions()
    beam: BeamOptions = BeamOptions()
    sampling: Sampling | None = None
    nbest: int = 1
    constrained: bool | None = None  # None: as the recipe says
    keep: bool = True
    # the class or classes of the models' task, and the command that needs it; None for any task
    task: "type | tuple[type, ...] | None" = None
    command: str = ""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the model and of the others in its ensemble, if any."""
        return (self.model, *self.models.ensemble)

    def load(self) -> "Translator":
        """Load the models as one translator; refuse another task, and --nbest above the beam."""
        from transduce.inference.load import choose_precision, load
        from transduce.machine.device import select_device
        from transduce.tasks import require_task

        keep_freed_memory()
        collect_garbage_rarely()
        chosen = choose_precision(self.models.precision, select_device())
        if chosen.message:
            display.print_note(chosen.message)
        precision, strict = chosen.precision.value, self.models.strict
        loaded = load(*self.folders, precision=precision, strict=strict, keep=self.keep)
        if self.task is not None:
            user = f"{self.model}: `transduce {self.command}`"
            require_task(loaded.task, self.task, loaded.recipe.data, user)
        given = self.beam.given()
        if self.constrained is not None:
            given["constrained"] = self.constrained
        translator = replace(loaded.searching(**given), sampling_settings=self.sampling)
        search = translator.recipe.search
        require(
            self.sampling is not None or self.nbest <= search.beam,
            f"--nbest {self.nbest} asks for more outputs than the beam of {search.beam} holds",
            f"--beam {self.nbest}" if self.nbest <= WIDEST_BEAM else f"--nbest {search.beam}",
        )
        return translator

    def open(self, on_warning: "OnWarning", file: Path | None = None) -> "Translator":
        """Load the models as one translator, with a number of workers chosen for `file`, if given.

        The translator passes warnings to `on_warning`. Prints a note on each model that is an
        unfinished run.
        """
        warn_if_unfinished(self.folders)
        use_threads(self.models.threads or 1)
        translator = replace(self.load(), on_warning=on_warning)
        if file is None:
            return translator
        return self.with_workers(translator, partial(count_file_lines, file))

    def with_workers(
        self, translator: "Translator", count_lines: Callable[[int], int]
    ) -> "Translator":
        """Return a copy of the translator with the worker count that `choose_workers` chooses.

        `count_lines(most)` counts the lines that the workers would share, but at most `most`.
        """
        assert translator.reload is not None
        workers = self.models.choose_workers(count_lines, self.folders)
        reload = partial(load_in_worker, translator.reload)
        return replace(translator, workers=workers, reload=reload)


def warn_of_sides(
    translator: "Translator", pairs: Iterable[tuple[str, str]], place: str = ""
) -> Iterator[tuple[str, str]]:
    """Return `pairs` unchanged; print a warning if a side is not text in the model's language.

    Fewer than 20 pairs give none, nor does a target side that is empty. The warning puts `place`,
    such as " in a.tsv", after "source" or "target".
    """
    from transduce.tasks import find_task_kind

    data, pairs = translator.recipe.data, iter(pairs)
    first = list(islice(pairs, SAMPLE_LINES))
    if first and find_task_kind(data).is_text:
        names = f"source{place}", f"target{place}"
        named = dict(zip(names, map(list, zip(*first, strict=True)), strict=True))
        if warning := find_wrong_side((data.source_language, data.target_language), named):
            display.print_message(f"warning: {warning}")
    return chain(first, pairs)


def warn_of_language(translator: "Translator", lines: Iterable[str]) -> Iterator[str]:
    """Yield lines unchanged; warn if there are 100 or more and they are in another language."""
    first, language, number = list[str](), translator.recipe.data.source_language, 0

    def warn() -> None:
        if found := describe_wrong_language("source", first, language):
            display.print_message(f"warning: {found}")

    for number, line in enumerate(lines, start=1):
        if number <= SAMPLE_LINES:
            first.append(line)
        if number == SAMPLE_LINES:
            warn()
        yield line
    if GUESSED_LINES <= number < SAMPLE_LINES:
        warn()


def load_in_worker(load: "Callable[[], Translator]") -> "Translator":
    """Call `load` in a worker process, which from then on ends when its parent ends."""
    from transduce.cli.outcome import Terminated
    from transduce.cli.signals import die_with_parent

    parent = multiprocessing.parent_process()
    assert parent is not None
    assert parent.pid is not None
    try:
        die_with_parent(parent.pid)
    except Terminated as end:
        raise SystemExit(end.exit_code) from end  # ends the worker without a traceback
    return load()


def count_file_lines(path: Path, most: int) -> int:
    """Return the number of lines of a file, at most `most`; 0 for pipes and other special files."""
    return sum(1 for _ in islice(read_lines(path), most)) if is_file(path) else 0


def warn_if_unfinished(folders: Sequence[Path], used: int | None = None) -> None:
    """Print a note on each unfinished run in `folders`, with the step that is used.

    By default that is the step of the run's last checkpoint.
    """
    from transduce.checkpoint.run_file import is_run, read_run
    from transduce.checkpoint.steps import find_newest_step

    for folder in filter(is_run, folders):
        steps = read_run(folder).recipe.training.steps
        done = find_newest_step(folder)
        if done is not None and done < steps and not has_finished(folder, done):
            step = done if used is None else used
            display.print_note(f"{folder} is not finished: using step {step:,} of {steps:,}")


def has_finished(run: Path, step: int) -> bool:
    """Return whether a run finished or stopped early at `step`; False if its checkpoint is bad."""
    from transduce.checkpoint.checkpoints import Snapshot
    from transduce.checkpoint.run_file import read_run
    from transduce.checkpoint.steps import CHECKPOINTS, step_folder
    from transduce.training.loop import is_finished
    from transduce.training.progress import read_progress

    folder = step_folder(run / CHECKPOINTS, step)
    with suppress(FolderError):  # loading reports a damaged checkpoint
        state = Snapshot(step, folder).state()
        return is_finished(read_progress(state, step, folder), read_run(run).recipe.training)
    return False
