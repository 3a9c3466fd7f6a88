"""Average the last snapshots of a run into a model folder with a model card    (section 6.1)"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor

from transduce.checkpoint.card import CardFacts, format_model_card
from transduce.checkpoint.checkpoints import STATE, Snapshot, list_snapshots, select_regular
from transduce.checkpoint.model_files import (
    MODEL_KIND,
    is_model,
    open_model_folder,
    require_replaceable_model,
)
from transduce.checkpoint.run_file import read_run, read_run_vocabularies
from transduce.checkpoint.steps import CHECKPOINTS
from transduce.checkpoint.stored_model import save_model
from transduce.checkpoint.weights import require_matching_tensors
from transduce.corpus.mixture import list_rows
from transduce.corpus.store import read_data_facts
from transduce.durable.folder import VerifiedFolder, require_absent
from transduce.errors import FolderError, InputError
from transduce.runs import ledger
from transduce.runs.text_names import (
    has_default_name,
    name_languages,
    read_name,
    rename_corpus_of_new_languages,
)
from transduce.scores.score import Score
from transduce.settings.recipe import build_title
from transduce.tasks import build_task, find_task_kind
from transduce.training.progress import Progress, read_progress
from transduce.version import __version__

PACKAGES = ("torch", "tokenizers")


def write_average(
    run: Path,
    output: Path,
    last: int | None,
    name: str | None = None,
    languages: Sequence[str] | None = None,
    *,
    force: bool = False,
) -> list[int]:
    """Write the mean of a run's last `last` snapshots as a model folder; return their steps.

    If `last` is None, the recipe says how many. With `force` a model in `output` is replaced; else
    `output` must not exist.
    """
    if force:
        require_replaceable_model(output)
    else:
        hint = "choose another name, or --force replaces it"
        require_absent(output, hint if is_model(output) else "choose another name")
    begun = read_run(run)
    data, vocabularies = read_data_facts(run), read_run_vocabularies(run)
    recipe = begun.recipe  # wrong names are refused before the weights are read
    if languages is not None:
        recipe = rename_corpus_of_new_languages(
            name_languages(recipe, languages), recipe, data.inputs["train"]
        )
    if name is not None:
        recipe = replace(recipe, name=read_name(name))
    steps, weights, progress = average_snapshots(run, last)
    if name is None and has_default_name(recipe):  # a default title states the updates
        recipe = replace(recipe, name=build_title(recipe, steps[-1]))
    facts = CardFacts(
        description=build_task(recipe.data, vocabularies).describe(recipe.data),
        parameters=sum(weight.numel() for weight in weights.values()),
        updates=steps[-1],
        averaged=steps,
        text=data.inputs["train"],
        unit=find_task_kind(recipe.data).unit,
        pairs_read=data.read,
        left_out=data.left_out,
        mixture=list_rows(data.mixture),
        versions={"transduce": __version__} | {name: version(name) for name in PACKAGES},
        figures=list_card_scores(progress),
        parent=begun.fingerprints.get(ledger.PARENT, ""),
        size=ledger.describe_size(recipe.architecture, *map(len, vocabularies)),
        cost=ledger.describe_cost(progress.cost),
    )
    card = format_model_card(recipe, facts)
    about = {"run": begun.id, "averaged": steps}
    about |= {ledger.PARENT: facts.parent} if facts.parent else {}
    save_model(output, weights, recipe, vocabularies, card, about=about, force=force)
    return steps


def open_or_write_average(
    run: Path, last: int | None = None, output: Path | None = None, *, renews: bool = False
) -> VerifiedFolder:
    """Open a run's averaged model in `output`, or write it; refuse a model of another run.

    `output` is by default the folder `model` beside the run. The model is the mean of the run's
    last snapshots. A model of another run or of other snapshots is refused; with `renews` a model
    whose last snapshot is not the run's last is written anew instead.
    """
    output = output or run.parent / MODEL_KIND
    if not output.exists():
        write_average(run, output, last)
    steps = [snapshot.step for snapshot in take_last_snapshots(run, last)]
    model = open_model_folder(output)
    if model.about.get("run") != read_run(run).id:
        raise FolderError(
            f"is not of the run {run}",
            "name another folder, -o FOLDER, or delete this one if its run is gone",
            file=output,
        )
    averaged = model.about.get("averaged")
    ends_elsewhere = isinstance(averaged, list) and averaged[-1:] != steps[-1:]
    if renews and ends_elsewhere:
        write_average(run, output, last, force=True)
        return open_model_folder(output)
    if averaged != steps:
        fact = f"is the mean of other steps than {steps[0]:,} to {steps[-1]:,}"
        raise FolderError(fact, "delete the folder: the same command makes it anew", file=output)
    return model


def list_card_scores(progress: Progress) -> list[Score]:
    """Return the last validation's score in a list, for a model's card; [] if there is none."""
    found = progress.last_validation
    if found is None or found.score is None:
        return []
    name = f"development set, at step {found.step:,} before averaging"
    return [replace(found.score, test_set=name)]


def average_weights(checkpoints: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean weights θ = (θ_1 + … + θ_n) / n of n > 0 checkpoints    (section 6.1)

    The paper averages the last 5 for the base model and the last 20 for the big ones.

    Weights are added in float64 in the given order, with one checkpoint in memory at a time. The
    mean of equal float32 checkpoints equals each of them, bit for bit.
    """
    totals: dict[str, Tensor] = {}
    dtypes: dict[str, torch.dtype] = {}
    count = 0
    for count, weights in enumerate(checkpoints, start=1):
        if count == 1:
            dtypes = {name: tensor.dtype for name, tensor in weights.items()}
            totals = {name: tensor.to(torch.float64, copy=True) for name, tensor in weights.items()}
        else:
            require_matching_tensors(dict(weights), totals)
            for name, total in totals.items():
                total += weights[name]
    if not count:
        raise InputError("there is nothing to average", "train until a snapshot is written")
    return {name: (total / count).to(dtypes[name]) for name, total in totals.items()}


def average_snapshots(run: Path, last: int | None) -> tuple[list[int], dict[str, Tensor], Progress]:
    """Return the steps and mean weights of a run's last snapshots, and the progress of the last.

    If the training of the run deletes a snapshot while it is read, newer ones are averaged.
    """
    chosen, progress = take_last_snapshots(run, last), Progress()
    try:
        weights = average_weights(snapshot.weights() for snapshot in chosen)
        for snapshot in chosen:
            progress, state = Progress(step=snapshot.step), snapshot.state()
            if state:  # some snapshots store only the step
                progress = read_progress(state, snapshot.step, snapshot.folder / STATE)
    except FolderError:
        if take_last_snapshots(run, last) == chosen:
            raise
        return average_snapshots(run, last)
    return [snapshot.step for snapshot in chosen], weights, progress


def take_last_snapshots(run: Path, last: int | None) -> list[Snapshot]:
    """Return the last `last` snapshots of a run; refuse a run that has fewer.

    By default `last` is the recipe's `training.average_last`, or all snapshots if there are fewer.
    A run without snapshots gives its last checkpoint.
    """
    training = read_run(run).recipe.training
    by_step = {snapshot.step: snapshot for snapshot in list_snapshots(run)}
    snapshots = [by_step[step] for step in select_regular([*by_step], training.snapshot_every)]
    found = snapshots or [one for one in list_snapshots(run, CHECKPOINTS)[-1:] if one.step]
    if not found:
        fact = "this run has neither a snapshot nor a checkpoint yet"
        raise InputError(fact, "train until one is written", file=run)
    if last is not None and len(found) < last:
        raise InputError(
            f"{last} snapshots are to be averaged, and this run has {len(snapshots) or 'none'}",
            f"--last {len(snapshots)}" if snapshots else "without --last its checkpoint is taken",
            file=run,
        )
    return found[-(last or training.average_last) :]
