"""`transduce.load`: a translator from model folders or a run's newest checkpoint

The precision is the one asked for, or one that this machine supports.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import NamedTuple, final

import torch

from transduce.checkpoint.stored_model import (
    StoredModel,
    build_stored_model,
    read_stored_model,
    require_finite_outputs,
)
from transduce.checkpoint.weights import DAMAGED
from transduce.equip import equip_for_inference, unsupported_int8_reason
from transduce.errors import FolderError, InputError, short_repr
from transduce.inference.lines import OnWarning
from transduce.inference.translator import Translator, warn_user
from transduce.machine.device import Processor, has_fast_bfloat16, read_processor, select_device
from transduce.machine.process_settings import use_one_thread_in_children
from transduce.paper.model import Transformer
from transduce.settings import Recipe
from transduce.settings.alignment import AlignmentHeads
from transduce.settings.data import UNNAMED
from transduce.settings.fields import require
from transduce.settings.search import AUTO, INFERENCE_PRECISIONS, InferencePrecision
from transduce.tasks import Task, build_task, find_task_kind
from transduce.text.arguments import read_path, require_count
from transduce.vocabulary.vocabulary import LEXICON


class MeasuredKind(NamedTuple):
    """A kind of processor, and the fastest precision that did not lower BLEU on it."""

    name: str
    fastest: InferencePrecision
    vendor: str
    has: frozenset[str] = frozenset()  # instruction sets
    lacks: frozenset[str] = frozenset()

    def includes(self, processor: Processor) -> bool:
        """Return whether a processor is of this kind."""
        features = processor.features
        is_of_vendor = processor.vendor == self.vendor
        return is_of_vendor and self.has <= features and not self.lacks & features


INT8, BFLOAT16 = InferencePrecision.INT8, InferencePrecision.BFLOAT16
AMX, VNNI, AVX512 = frozenset({"amx_bf16"}), frozenset({"avx512_vnni"}), frozenset({"avx512f"})
MEASURED_KINDS = (  # decisions 0039 and 0041, docs/records/speed.md
    MeasuredKind("an Intel processor with AMX", BFLOAT16, "GenuineIntel", has=AMX),
    MeasuredKind(
        "an Intel processor with VNNI and without AMX", INT8, "GenuineIntel", has=VNNI, lacks=AMX
    ),
    MeasuredKind("an AMD processor with AVX-512 and VNNI", INT8, "AuthenticAMD", has=VNNI),
    MeasuredKind("an AMD processor without AVX-512", INT8, "AuthenticAMD", lacks=AVX512),
)


class PrecisionChoice(NamedTuple):
    """The precision to compute in, and a message if it is not the one asked for, else ""."""

    precision: InferencePrecision
    message: str


def choose_precision(asked: str, device: torch.device) -> PrecisionChoice:
    """Return the precision `asked` for; "auto" chooses one, float32 replaces unsupported int8."""
    if asked == AUTO:
        chosen, reason = choose_automatically(device, read_processor())
        return PrecisionChoice(chosen, f"precision auto: {chosen.value}, {reason}")
    if asked == INT8 and (reason := find_int8_obstacle(device)):
        return PrecisionChoice(InferencePrecision.FLOAT32, f"float32 in place of int8: {reason}")
    return PrecisionChoice(InferencePrecision(asked), "")


def choose_automatically(
    device: torch.device, processor: Processor
) -> tuple[InferencePrecision, str]:
    """Return the fastest precision known to keep BLEU on this kind of processor, and a reason."""
    is_fast = {
        INT8: not find_int8_obstacle(device),
        BFLOAT16: device.type == "cpu" and has_fast_bfloat16(device),
    }
    for kind in MEASURED_KINDS:
        if kind.includes(processor) and is_fast[kind.fastest]:
            return kind.fastest, f"whose BLEU was that of float32 on {kind.name}"
    reason = "since nothing faster was measured for quality on this kind of processor"
    return InferencePrecision.FLOAT32, reason


def find_int8_obstacle(device: torch.device) -> str:
    """Return why models on a device cannot compute in int8, or "" if they can."""
    if device.type != "cpu":
        return f"8-bit products are for CPUs, and this is {device.type}"
    return unsupported_int8_reason()


def describe_precision(model: Transformer) -> str:
    """Return the precision of a model's matrix products: "float32", "bfloat16" or "int8"."""
    dtype = str(model.output.weight.dtype).removeprefix("torch.")
    return getattr(model.output_projection, "precision", dtype)


@final
@dataclass(frozen=True)
class TaskModel:
    """One loaded model of a translator, with its task, recipe and manifest hash."""

    transformer: Transformer
    task: Task
    recipe: Recipe
    hash: str  # sha256 of the model's manifest
    alignment: AlignmentHeads | None = None  # the heads that were chosen for word alignments


def load(
    folder: str | PathLike[str],
    *more: str | PathLike[str],
    precision: str = "float32",
    workers: int = 1,
    strict: bool = False,
    keep: bool = True,
    on_warning: OnWarning = warn_user,
) -> Translator:
    """Return a translator from model folders or runs' newest checkpoints; several are an ensemble.

    `precision` is "float32", "bfloat16", "int8" or "auto", the fastest known to keep BLEU on this
    kind of processor; a Python warning says which was chosen if it is not the one asked for. With
    "bfloat16" a few outputs in 1,000 depend on batch size, workers and the order of lines.

    `workers` above 1 is the number of processes that share the lines of a text. Each loads the
    models and uses one thread; a script with workers needs `if __name__ == "__main__":`. A process
    that the calling one forks uses one thread. A pickled translator loads its folders again.

    A sentence too long for the models is split, and `on_warning` is called with a `LineWarning`, by
    default to issue a Python warning; if `strict`, such a sentence is an error. Unless `keep` is
    False, placeholders such as {0}, URLs and e-mail addresses come back unchanged, and `on_warning`
    is called for an output that lacks one of these or a number.
    """
    require_count("workers", workers)
    use_one_thread_in_children()
    known = " or ".join(INFERENCE_PRECISIONS)
    fact = f"precision must be {known}, not {short_repr(precision)}"
    require(precision in INFERENCE_PRECISIONS, fact)
    folders = [read_path("folder", one) for one in (folder, *more)]
    require_usable_torch()
    members = [load_task_model(one) for one in folders]
    require_same_text(members, folders)
    chosen = choose_precision(precision, members[0].transformer.output.weight.device)
    if chosen.message:
        warnings.warn(chosen.message, UserWarning, stacklevel=2)
    for member in members:
        equip_for_inference(member.transformer, chosen.precision)
    models = tuple(member.transformer for member in members)
    hashes = tuple(member.hash for member in members)
    return Translator(
        models,
        members[0].task,
        choose_ensemble_recipe(members),
        hashes,
        alignment_heads=members[0].alignment,
        strict=strict,
        keep=keep,
        on_warning=on_warning,
        precision=chosen.precision.value,
        workers=workers,
        reload=partial(
            load, *(one.absolute() for one in folders), precision=chosen.precision.value
        ),
    )


def require_usable_torch() -> None:
    """Raise InputError if torch's default dtype is under 32 bits, or its default device is meta."""
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    default = "torch cannot translate as it is set up: its default"
    hint = "torch.set_default_dtype(torch.float32) first"
    require(dtype.itemsize >= 4, f"{default} dtype is {dtype}", hint)
    has_numbers = device != torch.device("meta")
    require(has_numbers, f"{default} device is {device}", "undo this setting first")


def require_same_text(members: Sequence[TaskModel], folders: Sequence[Path]) -> None:
    """Raise InputError if the models of an ensemble have different vocabularies or languages."""
    first = members[0]
    for member, folder in zip(members, folders, strict=True):
        for side in ("source", "target"):
            if getattr(first.task, side).hash != getattr(member.task, side).hash:
                raise InputError(
                    f"its {side} vocabulary is not that of the first model",
                    "the models of an ensemble are trained on one prepared corpus",
                    file=folder,
                )
            both = [getattr(one.recipe.data, f"{side}_language") for one in (member, first)]
            if both[0] != both[1] and not {*both} & {*UNNAMED}:
                from transduce.text.languages import read_primary_code

                if read_primary_code(both[0]) == read_primary_code(both[1]):
                    continue  # such as pt and pt-BR
                fact = f"its {side} language is {both[0]}, and the first model's is {both[1]}"
                raise InputError(fact, "name models of one direction", file=folder)


def choose_ensemble_recipe(members: Sequence[TaskModel]) -> Recipe:
    """Return the first model's recipe with the smallest data.max_length of all models."""
    first = members[0].recipe
    longest = min(member.recipe.data.max_length for member in members)
    return replace(first, data=replace(first.data, max_length=longest))


def load_task_model(folder: Path) -> TaskModel:
    """Load one model folder, or the newest checkpoint of one run folder."""
    found = read_stored_model(folder)
    model = build_stored_model(found).to(select_device()).eval()
    require_finite_outputs(model, folder)
    return TaskModel(model, build_stored_task(found), found.recipe, found.hash, found.alignment)


def build_stored_task(found: StoredModel) -> Task:
    """Build a stored model's task; raise FolderError if the vocabularies do not fit the task."""
    needs_lexicon = find_task_kind(found.recipe.data).list_tagged_words is not None
    if needs_lexicon and found.vocabularies.lexicon is None:
        fact = f"has no {LEXICON}, and its task is {found.recipe.data.task}"
        raise FolderError(fact, DAMAGED, file=found.folder)
    try:
        task = build_task(found.recipe.data, found.vocabularies)
        task.constraint("a", found.recipe.search)  # refuses unpaired bracket symbols
    except InputError as error:
        raise FolderError(error.fact, DAMAGED, file=found.folder) from error
    return task
