"""How models search or draw: the options that say it, and the models made ready by them."""

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from transduce.cli import display
from transduce.settings.fields import require
from transduce.settings.precision import INFERENCE_PRECISIONS
from transduce.settings.search import PENALTIES, Sampling

if TYPE_CHECKING:
    from transduce.inference.translator import Translator

FORMULAS = "; ".join(f"{name}: {formula}" for name, formula in PENALTIES.items())
SEARCH = ("beam", "alpha", "gamma", "penalty", "extra_length", "batch_size")
SAMPLING = ("temperature", "top_k", "top_p", "seed")
ensemble_option = click.option(
    "--ensemble",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Another model that answers with MODEL, by their mean probability; may be repeated.",
)
precision_option = click.option(
    "--precision",
    type=click.Choice(INFERENCE_PRECISIONS),
    default="float32",
    help="bfloat16 is faster where the processor has it; some outputs may differ.",
)
gamma_option = click.option(
    "--gamma",
    type=click.FloatRange(min=0),
    help="Reward of a symbol with --penalty reward; the recipe's, 0.2 by default.",
)


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Those that change the recipe's search, and those of drawing."""
    for option in reversed(
        (
            click.option(
                "--beam",
                type=click.IntRange(min=1),
                help="Hypotheses kept; the recipe's, 4 in the paper. 1 is greedy.",
            ),
            click.option(
                "--alpha",
                type=click.FloatRange(min=0),
                help="Strength of the length penalty; the paper: 0.6.",
            ),
            gamma_option,
            click.option(
                "--penalty",
                type=click.Choice(list(PENALTIES)),
                help=f"How hypotheses are scored. {FORMULAS}; n counts the symbols with the end.",
            ),
            click.option(
                "--extra-length",
                type=click.IntRange(min=1),
                help="Longest output: input + so many pieces; the paper: 50.",
            ),
            click.option(
                "--batch-size",
                type=click.IntRange(min=1),
                help="Sentences at once. The texts do not depend on it.",
            ),
            click.option(
                "--sample",
                is_flag=True,
                help="Draw outputs at random instead of searching for the best.",
            ),
            click.option(
                "--temperature",
                type=float,
                help="More than 1 for more varied draws: log P is divided by it; 1 if unsaid.",
            ),
            click.option(
                "--top-k", type=int, help="Draw from so many of the likeliest symbols only."
            ),
            click.option(
                "--top-p",
                type=float,
                help="Draw only from the likeliest that together have this probability.",
            ),
            click.option(
                "--seed",
                type=int,
                help="Of the draws: same seed, line and model, same outputs; 1 if unsaid.",
            ),
        )
    ):
        command = option(command)
    return command


@final
@dataclass(frozen=True)
class Ready:
    """Models made ready when called; plain, so that another process can be told."""

    folders: tuple[Path, ...]
    search: Mapping[str, int | float | str]
    draws: Sampling | None
    nbest: int
    precision: str

    def __call__(self) -> "Translator":
        """Load them, several as an ensemble."""
        from dataclasses import replace

        from transduce.inference.load import load

        loaded = load(*self.folders, precision=self.precision)
        translator = replace(loaded.searching(**self.search), sampling_settings=self.draws)
        beam = translator.recipe.search.beam
        require(
            self.draws is not None or self.nbest <= beam,
            f"--nbest {self.nbest} asks for more outputs than the beam of {beam} holds",
            f"--beam {self.nbest}",
        )
        return translator


def ready(folders: tuple[Path, ...], options: Mapping[str, Any], nbest: int) -> Ready:
    """What the options ask for, unless they contradict each other."""
    given = {name: value for name, value in options.items() if value is not None}
    drawing = {name: given[name] for name in SAMPLING if name in given}
    for name in drawing:
        option = name.replace("_", "-")
        require(given["sample"], f"--{option} is of drawing, and a beam searches", "add --sample")
    require(
        not (given["sample"] and "beam" in given),
        "--sample draws, and --beam searches",
        "leave one; --nbest says how many samples",
    )
    search = {name: given[name] for name in SEARCH if name in given}
    draws = Sampling(**drawing) if given["sample"] else None
    return Ready(folders, search, draws, nbest, given["precision"])


def tell_if_unfinished(folders: Sequence[Path]) -> None:
    """A run answers with what it has learned so far: whoever reads the answers should know."""
    from transduce.checkpoint import is_run, read_run
    from transduce.checkpoint.steps import CHECKPOINTS, kept_steps

    for folder in filter(is_run, folders):
        steps = read_run(folder).recipe.training.steps
        done = max(kept_steps(folder / CHECKPOINTS), default=steps)
        if done < steps and not is_over(folder, done):
            display.tell(f"{folder} is not over: step {done:,} of {steps:,} answers")


def is_over(run: Path, step: int) -> bool:
    """Whether a run has come to its end at this step, as one does whose patience has."""
    from transduce.training.journal import LOG, read_journal

    last = [(event["event"], event.get("step")) for event in read_journal(run / LOG)[-1:]]
    return last == [("finish", step)]


def in_worker(models: Ready) -> "Translator":
    """The same in a process of its own, with one thread, that ends when the first one does."""
    from transduce.cli.signals import die_with
    from transduce.machine.process_settings import keep_freed_memory, use_threads

    parent = multiprocessing.parent_process()
    assert parent is not None
    assert parent.pid is not None
    die_with(parent.pid)
    keep_freed_memory()
    use_threads(1)
    return models()
