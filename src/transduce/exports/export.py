"""`transduce.export` writes a trained model as a folder or file that another program loads."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

from transduce.durable.files import atomic_file
from transduce.durable.folder import (
    FolderWriter,
    atomic_folder,
    require_absent,
    require_replaceable,
)
from transduce.durable.json import to_json
from transduce.equip import equip_for_inference
from transduce.errors import InputError, suggest_names
from transduce.exports.proof import (
    LINES,
    Proof,
    compare_programs,
    find_why_unproved,
    make_up_lines,
    require_proven,
)
from transduce.exports.readme import build_readme, read_card
from transduce.exports.subject import require_exportable
from transduce.exports.target import README, Target
from transduce.exports.to_argos import ARGOS
from transduce.exports.to_ctranslate2 import CTRANSLATE2
from transduce.exports.to_huggingface import HUGGINGFACE
from transduce.exports.to_onnx import ONNX
from transduce.inference.load import TaskModel, load_task_model
from transduce.runs.text_names import name_languages
from transduce.settings.fields import require
from transduce.text.arguments import Text, read_path, read_text

TARGETS = {target.name: target for target in (CTRANSLATE2, HUGGINGFACE, ARGOS, ONNX)}
KIND = "export"


@final
@dataclass(frozen=True)
class Export:
    """The result of an export: its path, how the other program differs, and the comparison."""

    path: Path
    target: str
    differences: tuple[str, ...]  # sentences on what the other program does differently
    proof: Proof | None  # the compared outputs; None if no output could be compared
    unproved: str = ""  # the reason if `proof` is None

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the export as JSON values."""
        values = {**asdict(self), "path": str(self.path)}
        return values | {"proof": None if self.proof is None else self.proof.as_json()}

    def format_proof(self) -> list[str]:
        """Return lines to print: what was compared, then one per beam width; [] without a proof."""
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
    """Write a trained model as files that another program loads, and compare their outputs.

        found = transduce.export("model", to="ctranslate2", output="model.ct2")
        print(found.proof)

    `model` is a model folder or a run folder. If the other program is installed, it translates the
    first 1,000 lines of `prove`, a file or a list of lines, or 64 lines of random pieces; the
    result's `proof` says how many outputs are equal and how far log-probabilities differ. With
    `prove`, an export that cannot be compared is an error. A model that the other program cannot
    compute is refused; `differences` lists what it does differently. `languages`, such as
    `("en", "de")`, replaces the codes of source and target in the recipe. `force` replaces an
    earlier export.
    """
    target = find_target(to, precision)
    folder, path = read_path("output", output), read_path("model", model)
    require_free_output(target, folder, force=force)
    lines = None if prove is None else read_text("prove", prove)[:LINES]
    loaded = load_task_model(path)
    if languages is not None:
        loaded = replace(loaded, recipe=name_languages(loaded.recipe, languages))
    require_exportable(loaded)
    equip_for_inference(loaded.transformer)  # because the comparison runs the model
    why = target.find_unsupported(loaded)
    require(not why, why, "use it with transduce itself, or another --to")
    card, missing = read_card(path)
    found = write_export(ExportJob(loaded, target, precision, lines, card, force), folder)
    return replace(found, differences=(*found.differences, missing)) if missing else found


def find_target(name: str, precision: str) -> Target:
    """Return the target program of this name; refuse an unknown name, or a precision it lacks."""
    if name not in TARGETS:
        raise InputError(f"nothing is exported to {name!r}", suggest_names(str(name), TARGETS))
    target = TARGETS[name]
    known = " or ".join(target.precisions)
    fact = f"precision must be {known} for {name}, not {precision!r}"
    require(precision in target.precisions, fact)
    return target


def require_free_output(target: Target, output: Path, *, force: bool) -> None:
    """Refuse an output that exists (`force` allows an earlier export) or lacks the suffix."""
    if target.suffix and output.suffix != target.suffix:
        fact = f"an export to {target.name} is one file, whose name ends in {target.suffix}"
        raise InputError(fact, f"-o {output}{target.suffix}")
    if not force:
        require_absent(output, "choose another name, or --force replaces it")
    elif not target.suffix:
        require_replaceable(output, KIND)
    elif os.path.lexists(output):
        fact = f"is not replaced: it is no export to {target.name}"
        require(target.is_packed(output), f"{output}: {fact}", "choose another name")


def write_export(job: ExportJob, output: Path) -> Export:
    """Write an export and compare its outputs; only then does `output` appear under its name."""
    target = job.target
    if target.pack is None:
        proof, why = write_folder(job, output)
    else:
        name = output.name.removesuffix(target.suffix)
        with TemporaryDirectory() as temporary:
            folder = Path(temporary, "files")
            proof, why = write_folder(job, folder)
            with atomic_file(output) as stream:
                target.pack(folder, name, stream)
    return Export(output, target.name, tuple(target.list_differences(job.model)), proof, why)


def write_folder(job: ExportJob, folder: Path) -> tuple[Proof | None, str]:
    """Write an exported folder and compare its outputs; return the proof, or None and a reason."""
    target, precision = job.target, job.precision
    about = {"to": target.name, "precision": precision, "model": job.model.hash}
    require_free = partial(require_replaceable, kind=KIND) if job.force else None
    with atomic_folder(folder, kind=KIND, about=about, require_free=require_free) as writer:
        write_files(job, writer)
        proof, why = compare_folder(job, writer)
        if proof is not None:
            if precision == "float32":
                require_proven(proof)
            writer.write("proof.json", to_json(proof.as_json()))
    return proof, why


def write_files(job: ExportJob, writer: FolderWriter) -> None:
    """Write the files of an export; raise InputError if a Python package for it is missing."""
    readme = build_readme(job.model, job.target, job.precision, job.card)
    writer.write(README, readme.encode(errors="replace"))
    try:
        job.target.write(job.model, writer, job.precision)
    except ImportError as error:
        fact = f"{error.name} is not installed, and the export to {job.target.name} needs it"
        raise InputError(fact, f"pip install {error.name}") from None


def compare_folder(job: ExportJob, writer: FolderWriter) -> tuple[Proof | None, str]:
    """Compare an exported folder's outputs with ours; return (proof, "") or (None, reason).

    It is an error if the caller named lines and nothing can be compared.
    """
    target, model, lines = job.target, job.model, job.lines
    try:
        engine = target.open_engine(writer.folder, model)
    except ImportError as error:
        fact = f"{error.name} is not installed here, so the export is not proved"
        require(lines is None, fact, f"{target.install}; or export without --prove")
        return None, f"{fact}: {target.install}"
    text = "random pieces" if lines is None else f"{len(lines):,} lines"
    proof = compare_programs(model, engine, make_up_lines(model) if lines is None else lines, text)
    why = find_why_unproved(proof)
    require(lines is None or not why, why, "--prove FILE with other lines; or export without it")
    return (None, f"{why}: --prove FILE names other lines") if why else (proof, "")
