"""From a run to a model folder: the mean of its last snapshots, with a card    (section 6.1)"""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from torch import Tensor

from transduce.checkpoint import (
    Facts,
    Snapshot,
    averaged,
    model_card,
    read_run,
    save_model,
    snapshots,
)
from transduce.checkpoint.model_folder import KIND
from transduce.durable import VerifiedFolder, from_checksummed_json, open_folder, read_regular
from transduce.durable.folder import require_absent
from transduce.errors import FolderError, InputError
from transduce.runs import ledger
from transduce.runs.run_folder import DATA, vocabularies_of_run
from transduce.scores import Score
from transduce.tasks import build_task
from transduce.training.journal import LOG, read_journal

PACKAGES = ("transduce", "torch", "tokenizers")


def average(run: Path, output: Path, last: int | None) -> list[int]:
    """Average the last snapshots of a run into a model folder; the steps that were averaged."""
    require_absent(output)
    recipe = read_run(run).recipe
    steps, weights = mean_of_last(run, last or recipe.training.average_last)
    data, vocabularies = about_data(run), vocabularies_of_run(run)
    facts = Facts(
        description=build_task(recipe.data, vocabularies).describe(recipe.data),
        parameters=sum(weight.numel() for weight in weights.values()),
        updates=steps[-1],
        averaged=steps,
        text=data["inputs"]["train"],
        pairs_read=data["cleaning"]["read"],
        left_out=left_out(data),
        versions={package: version(package) for package in PACKAGES},
        figures=dev_figures(run),
        size=ledger.size(recipe.architecture, *map(len, vocabularies)),
        cost=ledger.cost(run),
    )
    card = model_card(recipe, facts)
    about = {"run": read_run(run).id, "averaged": steps}
    save_model(output, weights, recipe, vocabularies, card, about=about)
    return steps


def average_of(run: Path) -> VerifiedFolder:
    """The model of a run's last snapshots beside it: as many as the recipe says, if there are."""
    output, kept = run.parent / KIND, [snapshot.step for snapshot in snapshots(run)]
    last = kept[-read_run(run).recipe.training.average_last :]
    if not output.exists():
        average(run, output, len(last))
    model = open_folder(output, KIND)
    if model.about["averaged"] != last:
        fact = f"is the mean of other steps than {last[0]:,} to {last[-1]:,}"
        raise FolderError(fact, "delete the folder: the same command makes it anew", file=output)
    return model


def dev_figures(run: Path) -> list[Score]:
    """Return the score of the run's last validation, marked as one of the weights before averaging."""
    validations = [event for event in read_journal(run / LOG) if event["event"] == "validation"]
    return [
        replace(
            Score(**found["score"]),
            test_set=f"development set, at step {found['step']:,} before averaging",
        )
        for found in validations[-1:]
        if found["score"] is not None
    ]


def mean_of_last(run: Path, last: int) -> tuple[list[int], dict[str, Tensor]]:
    """The steps of the last snapshots, and the mean of their weights.

    A run that still trains takes old snapshots away: then those that are the last by now are taken.
    """
    chosen = last_snapshots(run, last)
    try:
        weights = averaged(snapshot.weights() for snapshot in chosen)
    except FolderError:
        if last_snapshots(run, last) == chosen:
            raise
        return mean_of_last(run, last)
    return [snapshot.step for snapshot in chosen], weights


def last_snapshots(run: Path, last: int) -> list[Snapshot]:
    """So many, if there are so many."""
    kept = snapshots(run)
    if len(kept) < last:
        raise InputError(
            f"{last} snapshots are to be averaged, and this run has {len(kept)}",
            f"--last {len(kept)}" if kept else "train until a snapshot is written",
            file=run,
        )
    return kept[-last:]


def about_data(run: Path) -> dict[str, Any]:
    """What a run took along about its corpus."""
    return from_checksummed_json(read_regular(run / DATA, 1 << 24), run / DATA)


def left_out(data: dict[str, Any]) -> dict[str, int]:
    """Pairs that were not trained on, by reason."""
    dropped = {reason: found["count"] for reason, found in data["cleaning"]["dropped"].items()}
    return dropped | {"too many pieces": data["pairs"]["too_long"]}
