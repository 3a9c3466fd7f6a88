"""`transduce.average`: the mean of a run's last snapshots, and heads to align words by."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import final

from transduce.checkpoint.model_files import ALIGNMENT, MODEL_KIND
from transduce.corpus.store import Store
from transduce.errors import TransduceError, is_out_of_memory
from transduce.inference.choose_heads import choose_without_gold
from transduce.inference.load import load, require_usable_torch
from transduce.inference.pairs import TOKENS, EncodedPair, target_log_probs
from transduce.runs.average import open_or_write_average, write_average
from transduce.runs.prepared_corpus import STORE
from transduce.scores.score import exp_of_mean
from transduce.text.arguments import read_path, require_count

COUNTED = 5_000  # training pairs from which word links are learned
COMPARED = 500  # development pairs on which a mean and the run's last weights are compared


@final
@dataclass(frozen=True)
class AveragedModel:
    """A model folder with the mean of a run's snapshots, their steps, and perplexities or None."""

    folder: Path
    steps: tuple[int, ...]  # the training steps of the averaged snapshots
    # per piece of the development set: of the model, then of the run's last weights. None unless a
    # snapshot from the first half of training was averaged, which often harms the mean.
    perplexities: tuple[float, float] | None = None

    def __fspath__(self) -> str:
        return str(self.folder)


def average(
    run: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    last: int | None = None,
    name: str | None = None,
    languages: Sequence[str] | None = None,
    force: bool = False,
) -> AveragedModel:
    """Average a run's last snapshots into a model folder; return folder and steps    (section 6.1)

    `output` must be a new folder, or with `force` a model folder, which is replaced. By default it
    is the folder `model` next to the run folder. If that exists, and neither `name`, `languages`
    nor `force` is given, the model in it is opened, or refused if it is of another run or of other
    snapshots. `last` is the number of snapshots to average; a run that has fewer is refused. By
    default it is the recipe's `training.average_last`, or all snapshots if the run has fewer. A run
    without snapshots gives the weights of its last checkpoint.

    `name` is the model's name, by default the run's. `languages`, such as `("en", "fr")`, are the
    codes of source and target, by default the run's.

    If the model translates text and has no heads that align words, they are chosen by the links
    that counting finds in the training text, unless this is in a store outside the run. If it is
    new, and a snapshot from the first half of training was averaged, the result has the
    `perplexities` of the mean and of the run's last weights.
    """
    require_usable_torch()
    run = read_path("run", run)
    if last is not None:
        require_count("last", last)
    folder = run.parent / MODEL_KIND if output is None else read_path("output", output)
    is_opened = False
    if output is None and name is None and languages is None and not force:
        is_opened = folder.exists()
        steps = open_or_write_average(run, last).about["averaged"]
    else:
        steps = write_average(run, folder, last, name, languages, force=force)
    texts = run / STORE / "train"
    # an opened model lacks its heads if the call that wrote it was interrupted
    if texts.is_dir() and not (is_opened and (folder / ALIGNMENT).exists()):
        with suppress_shortage():  # without heads the model is whole all the same
            choose_without_gold(folder, read_first_pairs(texts, COUNTED))
    is_early = not is_opened and 2 * steps[0] <= steps[-1]
    return AveragedModel(folder, tuple(steps), compare_with_last(folder, run) if is_early else None)


def compare_with_last(model: Path, run: Path) -> tuple[float, float] | None:
    """Return development perplexities (model, run's last weights); None if they cannot be computed.

    Returns None if there is no development set. Uses at most its first `COMPARED` pairs.
    """
    if not (run / STORE / "dev").is_dir():
        return None
    with suppress_shortage():  # the model is usable without this comparison
        pairs = read_first_pairs(run / STORE / "dev", COMPARED)
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        pieces = sum(map(len, targets))

        def measure(folder: Path) -> float:
            found = target_log_probs(load(folder).models, sources, targets, TOKENS)
            return exp_of_mean(-math.fsum(found), pieces)

        return measure(model), measure(run)
    return None


@contextmanager
def suppress_shortage() -> Iterator[None]:
    """Context manager: go on after the block if it raises TransduceError or memory runs out."""
    try:
        yield
    except (TransduceError, MemoryError, RuntimeError, OSError) as error:
        if not (isinstance(error, TransduceError) or is_out_of_memory(error)):
            raise


def read_first_pairs(store: Path, most: int) -> list[EncodedPair]:
    """Return the first `most` pairs of a store, or all pairs if it has fewer."""
    found = Store.open(store)
    numbers = range(min(most, len(found)))
    return [EncodedPair(n + 1, *(ids.tolist() for ids in found.pair(n))) for n in numbers]
