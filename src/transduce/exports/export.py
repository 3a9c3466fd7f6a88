"""`transduce.export` writes a trained model as a folder or file that another program loads."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

from transduce.checkpoint.card import USE, format_deviations_section, format_head
from transduce.checkpoint.model_files import CARD, open_model_folder
from transduce.checkpoint.run_file import is_run
from transduce.durable.files import atomic_file
from transduce.durable.folder import (
    FolderWriter,
    atomic_folder,
    require_absent,
    require_replaceable,
)
from transduce.durable.json import to_json
from transduce.equip import equip_for_inference, list_changed_parts
from transduce.errors import FolderError, InputError, suggest_names
from transduce.exports.proof import (
    MOST_LINES,
    Proof,
    compare_programs,
    explain_unproved,
    make_up_lines,
    require_proven,
)
from transduce.exports.target import README, Target
from transduce.exports.to_argos import ARGOS
from transduce.exports.to_bergamot import BERGAMOT
from transduce.exports.to_ctranslate2 import CTRANSLATE2
from transduce.exports.to_huggingface import HUGGINGFACE
from transduce.exports.to_onnx import ONNX
from transduce.exports.tokenizer import find_model_type
from transduce.inference.load import TaskModel, load_task_model, require_usable_torch
from transduce.runs.text_names import name_languages
from transduce.settings import Architecture
from transduce.settings.fields import require
from transduce.tasks import TextToText, require_task
from transduce.text.arguments import Text, read_path, read_text, require_encodable

TARGETS = {target.name: target for target in (CTRANSLATE2, HUGGINGFACE, ARGOS, BERGAMOT, ONNX)}
EXPORT_KIND = "export"
KNOWN_VOCABULARIES = ("BPE", "WordPiece", "Unigram")
HERE = "use it with transduce itself"
CARD_LIMIT = 1 << 20  # bytes of a model card that is read


@final
@dataclass(frozen=True)
class Export:
    """A finished export: its path, what the other program does differently, compared outputs."""

    path: Path
    target: str
    differences: tuple[str, ...]  # sentences on what the other program does differently
    proof: Proof | None  # the compared outputs; None if no output could be compared
    unproved: str = ""  # the reason if `proof` is None

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the export as JSON values."""
        return {**asdict(self), "path": str(self.path)}

    def format_proof(self) -> list[str]:
        """Return lines to print: a heading, then one per beam width; [] if `proof` is None."""
        if self.proof is None:
            return []
        left_out = f", {self.proof.left_out} left out" if self.proof.left_out else ""
        return [
            f"{self.proof.engine} translated {self.proof.text}{left_out}:",
            *(f"  {one}" for one in self.proof.comparisons),
        ]


@final
@dataclass(frozen=True)
class ExportJob:
    """A model to export, the target program, the precision, and lines to compare outputs on."""

    model: TaskModel
    target: Target
    precision: str
    lines: list[str] | None  # None means lines of random pieces
    card: str = ""  # the card of the model folder, for the README
    force: bool = False  # whether to replace an earlier export


def export(  # noqa: PLR0913 - one parameter for each choice of the caller
    model: str | PathLike[str],
    *,
    to: str,
    output: str | PathLike[str],
    precision: str = "float32",
    prove: Text | None = None,
    languages: Sequence[str] | None = None,
    force: bool = False,
) -> Export:
    """Write a trained model as files for another program; if that is installed, compare outputs.

        found = transduce.export("model", to="ctranslate2", output="model.ct2")
        print(found.proof)

    `model` is a model folder or a run folder. If the other program is installed, it translates the
    first 1,000 lines of `prove`, which is a file or a list of lines; without `prove` it translates
    64 lines of random pieces. The result's `proof` says how many outputs are equal and how far
    log-probabilities differ. With `prove`, an export that cannot be compared is an error. A model
    that the other program cannot compute is an error, too. The result's `differences` lists what
    that program does differently. `languages`, such as `("en", "de")`, replaces the codes of
    source and target in the recipe. `force` replaces an earlier export.
    """
    require_usable_torch()
    target = find_target(to, precision)
    folder, path = read_path("output", output), read_path("model", model)
    require_free_output(target, folder, force=force)
    lines = None if prove is None else read_text("prove", prove)[:MOST_LINES]
    loaded = load_task_model(path)
    if languages is not None:
        loaded = replace(loaded, recipe=name_languages(loaded.recipe, languages))
    require_exportable(loaded)
    equip_for_inference(loaded.transformer)  # because the comparison runs the model
    why = target.explain_unsupported(loaded)
    require(not why, why, f"{HERE}, or another --to")
    card, missing = read_card(path)
    job = ExportJob(loaded, target, precision, lines, card, force)
    if target.pack is None:
        proof, why = write_folder(job, folder)
    else:
        with TemporaryDirectory() as temporary, atomic_file(folder) as stream:
            files, packed = Path(temporary, "files"), Path(temporary, folder.name)
            proof, why = write_folder(job, files)
            target.pack(files, packed)
            require_free_output(target, folder, force=force)  # it may have appeared meanwhile
            with packed.open("rb") as made:
                shutil.copyfileobj(made, stream)
    edits = describe_edits(target)
    differences = [*target.list_differences(loaded), *filter(None, [missing, edits])]
    return Export(folder, target.name, tuple(differences), proof, why)


def describe_edits(target: Target) -> str:
    """Return a sentence on what an export keeps of an edited `paper/`, or "" if none was edited."""
    changed = ", ".join(name for name in list_changed_parts() if name != "Adam")
    if not changed:
        return ""
    if target is ONNX:  # its graphs are traced from the layers
        parts = "embedding, mask and cache of their own"
        return f"the graphs have the layers of paper/ as edited ({changed}), but {parts}"
    return f"it computes the paper's formulas, not those of paper/ as edited ({changed})"


def find_target(name: str, precision: str) -> Target:
    """Return the `Target` with this name; InputError if the name or `precision` is unknown."""
    if name not in TARGETS:
        raise InputError(f"nothing is exported to {name!r}", suggest_names(str(name), TARGETS))
    target = TARGETS[name]
    known = " or ".join(target.precisions)
    fact = f"precision must be {known} for {name}, not {precision!r}"
    require(precision in target.precisions, fact)
    return target


def require_free_output(target: Target, output: Path, *, force: bool) -> None:
    """Raise InputError if `output` lacks the suffix or exists; `force` allows an old export."""
    if target.suffix and output.suffix != target.suffix:
        fact = f"an export to {target.name} is one file, whose name ends in {target.suffix}"
        raise InputError(fact, f"-o {output}{target.suffix}")
    if target.suffix:
        require_encodable("the name of an export", output.stem)  # it names a folder in the file
    if not force:
        require_absent(output, "choose another name, or --force replaces it")
    elif not target.suffix:
        require_replaceable(output, EXPORT_KIND)
    elif os.path.lexists(output):
        fact = f"is not replaced: it is no export to {target.name}"
        require(target.is_packed(output), f"{output}: {fact}", "choose another name")


def write_folder(job: ExportJob, folder: Path) -> tuple[Proof | None, str]:
    """Write an exported folder; return (comparison of outputs, "") or (None, why there is none).

    The folder appears only after the comparison. Raises SaveError if float32 outputs differ too
    often.
    """
    target, precision = job.target, job.precision
    about = {"to": target.name, "precision": precision, "model": job.model.hash}
    require_free = partial(require_replaceable, kind=EXPORT_KIND) if job.force else None
    with atomic_folder(folder, kind=EXPORT_KIND, about=about, require_free=require_free) as writer:
        readme = build_readme(job.model, target, precision, job.card)
        writer.write(README, readme.encode(errors="replace"))
        try:
            target.write(job.model, writer, precision)
        except ImportError as error:
            fact = f"{error}, and the export to {target.name} needs it"
            raise InputError(fact, f"pip install {error.name}") from None
        proof, why = compare_folder(job, writer)
        if proof is not None:
            if precision == "float32":
                require_proven(proof)
            writer.write("proof.json", to_json(asdict(proof)))
    return proof, why


def compare_folder(job: ExportJob, writer: FolderWriter) -> tuple[Proof | None, str]:
    """Compare the outputs of an export with ours; return (comparison, "") or (None, why not).

    Raises InputError if the caller named lines and nothing can be compared.
    """
    target, model, lines = job.target, job.model, job.lines
    try:
        engine = target.open_engine(writer.folder, model)
    except ImportError as error:
        fact = f"{error}, so the export is not proved"
        require(lines is None, fact, f"{target.install}; or export without --prove")
        return None, f"{fact}: {target.install}"
    text = "random pieces" if lines is None else f"{len(lines):,} lines"
    proof = compare_programs(model, engine, make_up_lines(model) if lines is None else lines, text)
    why = explain_unproved(proof)
    require(lines is None or not why, why, "--prove FILE with other lines; or export without it")
    return (None, f"{why}: --prove FILE names other lines") if why else (proof, "")


def require_exportable(model: TaskModel) -> None:
    """Raise InputError if no target program supports a model's task, layers or vocabulary."""
    sizes, data = model.recipe.architecture, model.recipe.data
    # parsing and tagging need symbols and a constrained search that no other program has
    require_task(model.task, TextToText, data, "an export")
    fact = f"architecture.mixing is {sizes.mixing}: other programs compute self-attention only"
    require(sizes.mixing == "self-attention", fact, HERE)
    for name in ("encoder_neighbourhood", "decoder_neighbourhood"):
        if r := getattr(sizes, name):
            fact = f"architecture.{name} is {r}: other programs attend to all positions"
            raise InputError(fact, HERE)
    fact = f"architecture.compatibility is {sizes.compatibility}, which no export writes"
    require(sizes.compatibility == Architecture().compatibility, fact, HERE)
    for vocabulary in (model.task.source, model.task.target):
        kind = find_model_type(vocabulary)
        fact = "a vocabulary of whole words needs word classes that no other program computes"
        require(kind in KNOWN_VOCABULARIES, fact, HERE)


def build_readme(model: TaskModel, target: Target, precision: str, card: str) -> str:
    """Return an exported model's README; sections of `card` (may be "") stay, except on use."""
    description = model.task.describe(model.recipe.data)
    parameters = sum(weight.numel() for weight in model.transformer.named_weights().values())
    origin = f"Exported by transduce in {precision} from the model with sha256 `{model.hash}`."
    differences = "\n".join(f"- {one}" for one in target.list_differences(model))
    _, *sections = card.rstrip().split("\n## ")
    kept = [f"## {one.strip()}" for one in sections if not f"## {one}".startswith(USE)]
    parts = [
        format_head(model.recipe, description, parameters, target.library),
        origin,
        f"{USE}\n\n{target.describe_use(model)}",
        f"## What is different there\n\n{differences}",
        *(kept or [format_deviations_section(model.recipe)]),
    ]
    return "\n\n".join(parts) + "\n"


def read_card(folder: Path) -> tuple[str, str]:
    """Return a folder's model card and "", or "" and the reason why the card cannot be used.

    A run has no card yet. A card that was edited differs from the manifest, and is left out.
    """
    if is_run(folder):
        return "", "the README has neither data nor scores: a run's model has them, once averaged"
    try:
        return open_model_folder(folder).read(CARD, CARD_LIMIT).decode("utf-8", "replace"), ""
    except FolderError as fault:
        return "", f"the model's card is not in the README: {fault.fact}"
