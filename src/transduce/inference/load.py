"""A model folder, or a run's newest save, ready to translate."""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from transduce.checkpoint import (
    LoadedModel,
    is_model,
    is_run,
    load_model,
    matching,
    newest,
    read_run,
)
from transduce.errors import FolderError, InputError
from transduce.inference.translator import Translator
from transduce.machine.device import device
from transduce.model.decoding.inference_weights import lay_for_answers
from transduce.model.transformer import Transformer
from transduce.runs.run_folder import vocabularies_of_run
from transduce.settings import Recipe, Search
from transduce.settings.fields import require
from transduce.settings.training import PRECISIONS
from transduce.tasks.translation import Translation
from transduce.vocabulary.files import Vocabularies


def load(folder: Path | str, *more: Path | str, precision: str = "float32") -> Translator:
    """Read a model folder, or the newest sound save of a run folder; several as an ensemble."""
    require(precision in PRECISIONS, f"the precision is {' or '.join(PRECISIONS)}, not {precision}")
    first, *rest = (alone(Path(one)) for one in (folder, *more))
    others = tuple(rest)
    for other, place in zip(others, more, strict=True):
        require_same_vocabularies(first, other, Path(place))
    longest = min(one.recipe.data.max_length for one in (first, *others))
    search = first.recipe.search
    members = tuple(with_limits(one, longest, search) for one in others)
    for one in (first, *members):
        one.model.to(getattr(torch, precision))
        lay_for_answers(one.model)
    return replace(with_limits(first, longest, search), others=members)


def require_same_vocabularies(first: Translator, other: Translator, folder: Path) -> None:
    """Models answer together only if a symbol means the same to all."""
    ours, theirs = first.task, other.task
    for side in ("source", "target"):
        if getattr(ours, side).hash != getattr(theirs, side).hash:
            raise InputError(
                f"its {side} vocabulary is not that of the first model",
                "the models of an ensemble are trained on one prepared corpus",
                file=folder,
            )


def with_limits(one: Translator, longest: int, search: Search) -> Translator:
    """A member, with the longest input and the search that all share."""
    data = replace(one.recipe.data, max_length=longest)
    return replace(one, recipe=replace(one.recipe, data=data, search=search))


def alone(folder: Path) -> Translator:
    """One model."""
    if is_run(folder):
        return newest_of_run(folder)
    if not folder.is_dir():
        raise InputError("no such folder", "name a model folder or a run", file=folder)
    if not is_model(folder):
        hint = "name a folder that `transduce average` or `transduce train` wrote"
        raise FolderError("is neither a model folder nor a run", hint, file=folder)
    model: LoadedModel = load_model(folder)
    found = translator(model.weights, model.recipe, model.vocabularies, file=folder)
    return replace(found, hash=model.hash)


def newest_of_run(folder: Path) -> Translator:
    """What a run has learned so far."""
    run = read_run(folder)
    save, rejected = newest(folder)
    if save is None:
        raise InputError("this run has no save yet", "train it first", file=folder)
    if rejected:  # an older one would do, but nobody would know
        raise FolderError(rejected[0][1], "`transduce train` goes on from an older save")
    found = translator(save.weights, run.recipe, vocabularies_of_run(folder), file=folder)
    return replace(found, hash=save.hash)


def translator(
    weights: dict[str, Tensor], recipe: Recipe, vocabularies: Vocabularies, *, file: Path
) -> Translator:
    """A model with these weights, where the machine computes fastest."""
    source, target = vocabularies
    model = Transformer(recipe.architecture, len(source), len(target))
    expected = {name: tuple(weight.shape) for name, weight in model.weights().items()}
    weights = matching(weights, expected, file=file)
    for name, weight in model.weights().items():
        weight.copy_(weights[name])
    return Translator(model.to(device()).eval(), Translation(source, target), recipe)
