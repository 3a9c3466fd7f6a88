"""Command-line options of beam search and sampling; loading of models for these options."""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from transduce.cli import display
from transduce.cli.file_path import FilePath
from transduce.errors import FolderError
from transduce.settings.fields import require
from transduce.settings.precision import INFERENCE_PRECISIONS
from transduce.settings.search import PENALTIES, Sampling

if TYPE_CHECKING:
    from transduce.inference.long_lines import LineWarning
    from transduce.inference.translator import Translator
    from transduce.tasks import Parsing, Tagging, TextToText

FORMULAS = "; ".join(f"{name}: {formula}" for name, formula in PENALTIES.items())
SEARCH = ("beam", "alpha", "gamma", "penalty", "extra_length", "batch_size", "constrained")
SAMPLING = ("temperature", "top_k", "top_p", "seed")
ensemble_option = click.option(
    "--ensemble",
    type=FilePath(path_type=Path),
    multiple=True,
    help="Another model for an ensemble, which averages probabilities; may be repeated.",
)
precision_option = click.option(
    "--precision",
    type=click.Choice(INFERENCE_PRECISIONS),
    default="float32",
    help="bfloat16 is faster where the processor has it, int8 on most. Outputs may differ from "
    "those in float32, and a few of 1,000 with batch size, workers and the order of lines. auto: "
    "the fastest whose quality was measured on this kind of processor.",
)
gamma_option = click.option(
    "--gamma",
    type=click.FloatRange(min=0),
    help="Reward for each symbol with --penalty reward (default: the recipe's).",
)
strict_option = click.option(
    "--strict",
    is_flag=True,
    help="Refuse a sentence longer than the model takes, instead of warning.",
)

keep_option = click.option(
    "--no-keep",
    is_flag=True,
    help="Let the model translate placeholders such as {0}, URLs and e-mail addresses, which "
    "otherwise come back unchanged; numbers are not checked either.",
)


def beam_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the options of beam search, which override the recipe's settings."""
    for option in reversed(
        (
            click.option(
                "--beam",
                type=click.IntRange(min=1),
                help="Width of the beam (default: the recipe's; the paper's is 4). 1 is greedy.",
            ),
            click.option(
                "--alpha",
                type=click.FloatRange(min=0),
                help="Strength of the length penalty (default: the recipe's; the paper's is 0.6).",
            ),
            gamma_option,
            click.option(
                "--penalty",
                type=click.Choice(list(PENALTIES)),
                help=f"Score of a hypothesis of n symbols, END included. {FORMULAS}.",
            ),
            click.option(
                "--extra-length",
                type=click.IntRange(min=1),
                help="Pieces that an output may have more than its input; the paper's is 50.",
            ),
            click.option(
                "--batch-size",
                type=click.IntRange(min=1),
                help="Sentences searched at once; in float32 no output depends on it. Halved when "
                "memory runs out.",
            ),
        )
    ):
        command = option(command)
    return command


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the options of beam search and sampling, which override the recipe's."""
    for option in reversed(
        (
            beam_options,
            click.option(
                "--sample",
                is_flag=True,
                help="Draw outputs at random instead of searching for the best.",
            ),
            click.option(
                "--temperature",
                type=float,
                help="Divisor of log P when sampling; above 1 outputs vary more (default: 1).",
            ),
            click.option(
                "--top-k", type=int, help="Draw only from this number of likeliest symbols."
            ),
            click.option(
                "--top-p",
                type=float,
                help="Draw only from the fewest likeliest symbols with this total probability.",
            ),
            click.option(
                "--seed",
                type=int,
                help="Seed of sampling; equal seeds and lines give equal outputs (default: 1).",
            ),
        )
    ):
        command = option(command)
    return command


@final
@dataclass(frozen=True)
class TranslatorChoice:
    """The model folders and settings that a command's options give, as picklable values."""

    folders: tuple[Path, ...]
    search: Mapping[str, int | float | str]
    sampling: Sampling | None = None
    nbest: int = 1
    precision: str = "float32"
    strict: bool = False
    keep: bool = True
    # the class of the models' task, and the command that needs it; None for any task
    task: "type[Parsing] | type[Tagging] | type[TextToText] | None" = None
    command: str = ""
    # layer and heads for word alignments from options; None for outputs without alignments
    aligning: Mapping[str, Any] | None = None

    def load(self) -> "Translator":
        """Load the models (several as one ensemble) with the settings of the options."""
        from dataclasses import replace

        from transduce.inference.load import load
        from transduce.inference.precision import choose_precision
        from transduce.machine.device import select_device
        from transduce.tasks import require_task

        chosen = choose_precision(self.precision, select_device())
        if chosen.message:
            display.print_message(chosen.message)
        loaded = load(*self.folders, precision=chosen.precision.value, strict=self.strict)
        if self.task is not None:
            user = f"{self.folders[0]}: `transduce {self.command}`"
            require_task(loaded.task, self.task, loaded.recipe.data, user)
        translator = replace(loaded.searching(**self.search), sampling_settings=self.sampling)
        translator = replace(translator, keep=self.keep)
        require_used_strengths(self.search, translator.recipe.search.penalty)
        if self.aligning is not None:
            translator = translator.aligning(**self.aligning)
        beam = translator.recipe.search.beam
        require(
            self.sampling is not None or self.nbest <= beam,
            f"--nbest {self.nbest} asks for more outputs than the beam of {beam} holds",
            f"--beam {self.nbest}",
        )
        return translator


def choose_translator(
    folders: tuple[Path, ...], options: Mapping[str, Any], nbest: int
) -> TranslatorChoice:
    """Build a `TranslatorChoice` from the options of a command; refuse contradicting options."""
    given = {"sample": False} | {
        name: value for name, value in options.items() if value is not None
    }
    of_sampling = {name: given[name] for name in SAMPLING if name in given}
    for name in of_sampling:
        option = name.replace("_", "-")
        require(given["sample"], f"--{option} is for sampling", "add --sample")
    require(
        not (given["sample"] and "beam" in given),
        "--sample and --beam exclude each other",
        "give one of them; --nbest is the number of samples",
    )
    search = choose_search(options)
    sampling = Sampling(**of_sampling) if given["sample"] else None
    precision, strict = given["precision"], given["strict"]
    return TranslatorChoice(folders, search, sampling, nbest, precision, strict)


def choose_search(options: Mapping[str, Any]) -> dict[str, int | float | str]:
    """Return the search settings among a command's options that were given a value."""
    return {name: options[name] for name in SEARCH if options.get(name) is not None}


def require_used_strengths(options: Mapping[str, object], penalty: str) -> None:
    """Refuse --alpha or --gamma if the penalty in use does not read it."""
    for name, reader in (("alpha", "gnmt"), ("gamma", "reward")):
        require(
            name not in options or penalty == reader,
            f"--{name} is of the penalty {reader}, and the penalty here is {penalty}",
            f"add --penalty {reader}, or leave --{name} out",
        )


def warn_if_unfinished(folders: Sequence[Path]) -> None:
    """Print a message for each run that is not finished, with the step of its last checkpoint."""
    from transduce.checkpoint import is_run, read_run
    from transduce.checkpoint.steps import CHECKPOINTS, list_steps

    for folder in filter(is_run, folders):
        steps = read_run(folder).recipe.training.steps
        done = max(list_steps(folder / CHECKPOINTS), default=steps)
        if done < steps and not has_finished(folder, done):
            display.print_note(f"{folder} is not finished: using step {done:,} of {steps:,}")


def has_finished(run: Path, step: int) -> bool:
    """Return whether the checkpoint of step `step` says that early stopping ended the run."""
    from transduce.checkpoint import read_checkpoint_state, read_run
    from transduce.checkpoint.steps import CHECKPOINTS, step_folder
    from transduce.training.loop import is_finished
    from transduce.training.progress import read_progress

    with suppress(FolderError):  # loading reports a damaged checkpoint
        state, file = read_checkpoint_state(run, step), step_folder(run / CHECKPOINTS, step)
        return is_finished(read_progress(state, step, file), read_run(run).recipe.training)
    return False


def load_in_worker(models: TranslatorChoice) -> "Translator":
    """Load the models in a worker process that has one thread and ends with its parent."""
    from transduce.cli.outcome import Terminated
    from transduce.cli.signals import die_with_parent
    from transduce.machine.process_settings import keep_freed_memory, use_threads
    from transduce.runs.equip import equip_for_long_searches

    parent = multiprocessing.parent_process()
    assert parent is not None
    assert parent.pid is not None
    try:
        die_with_parent(parent.pid)
    except Terminated as end:
        raise SystemExit(end.exit_code) from end  # ends the worker without a traceback
    keep_freed_memory()
    use_threads(1)
    translator = models.load()
    equip_for_long_searches(translator.models)
    return translator


@final
@dataclass
class WarningPrinter:
    """A callable that prints a warning about an input line, and counts warnings by kind."""

    counts: Counter[str] = field(default_factory=Counter)  # number of warnings by kind

    def __call__(self, warning: "LineWarning") -> None:
        display.print_message(f"warning: {warning}")
        self.counts[warning.kind] += 1

    def print_count(self, too_long: str) -> None:
        """Print how many lines had each warning; `too_long` ends the sentence on long lines."""
        effects = {
            "too long": ("is longer than the model takes", "are longer than the model takes"),
            "lost": (
                "lost something in translation",
                "lost something in translation",
            ),
            "repaired": ("has a malformed output", "have malformed outputs"),
            "unknown label": (
                "has a label that training lacked",
                "have labels that training lacked",
            ),
        }
        ends = {
            "too long": too_long,
            "lost": "see the warnings above",
            "repaired": "repaired",
            "unknown label": "not scored (nan)",
        }
        for kind, (one, several) in effects.items():
            count = self.counts[kind]
            if count:
                lines = f"1 line {one}" if count == 1 else f"{count:,} lines {several}"
                display.print_message(f"warning: {lines}: {ends[kind]}")
