"""`transduce.export`: a trained model as a folder that another program loads."""

from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

from transduce.durable import FolderWriter, atomic_folder, to_json
from transduce.errors import InputError, suggest_names
from transduce.exports.proof import LINES, Proof, make_up_lines, prove, require_proven
from transduce.exports.subject import require_exportable
from transduce.exports.target import Target
from transduce.exports.to_ctranslate2 import CTRANSLATE2
from transduce.exports.to_huggingface import HUGGINGFACE
from transduce.inference.load import Member, load_member
from transduce.settings.fields import require
from transduce.text.arguments import Text, read_path, read_text

TARGETS = {target.name: target for target in (CTRANSLATE2, HUGGINGFACE)}
KIND = "export"


@final
@dataclass(frozen=True)
class Export:
    """An exported model: where it is, what it does not carry over, and its proof."""

    path: Path
    target: str
    differences: tuple[str, ...]  # what the other program does otherwise
    proof: Proof | None  # None: the other program is not installed here
    unproved: str = ""  # why there is no proof

    def as_json(self) -> dict[str, Any]:
        """Return the export as JSON values."""
        values = {**asdict(self), "path": str(self.path)}
        return values | {"proof": None if self.proof is None else self.proof.as_json()}

    def format_proof(self) -> list[str]:
        """Return a line on what was compared, and one for each beam width."""
        if self.proof is None:
            return []
        left_out = f", {self.proof.left_out} left out" if self.proof.left_out else ""
        return [
            f"{self.proof.engine} translated {self.proof.text}{left_out}:",
            *(f"  {one}" for one in self.proof.comparisons),
        ]


def export(
    model: str | PathLike[str],
    *,
    to: str,
    output: str | PathLike[str],
    precision: str = "float32",
    prove: Text | None = None,
) -> Export:
    """Write a trained model as a folder that another program loads, and compare both.

        found = transduce.export("model", to="ctranslate2", output="model.ct2")
        print(found.proof)

    `model` is a model folder or a run folder. If the other program is installed, it translates the
    first 1,000 lines of `prove`, a file or a list of lines, or 64 lines of random pieces; the
    result's `proof` says how many outputs are equal and how far log-probabilities differ. A model
    that the other program cannot compute is refused; `differences` lists what it does otherwise.
    """
    target = find_target(to, precision)
    folder = read_path("output", output)
    lines = None if prove is None else read_text("prove", prove)[:LINES]
    member = load_member(read_path("model", model))
    require_exportable(member)
    why = target.find_unsupported(member)
    require(not why, why, "use it with transduce itself, or another --to")
    return write_export(member, target, precision, folder, lines)


def find_target(name: str, precision: str) -> Target:
    """Return the target of that name; refuse one that is unknown or lacks the precision."""
    if name not in TARGETS:
        raise InputError(f"nothing is exported to {name!r}", suggest_names(str(name), TARGETS))
    target = TARGETS[name]
    known = " or ".join(target.precisions)
    fact = f"precision must be {known} for {name}, not {precision!r}"
    require(precision in target.precisions, fact)
    return target


def write_export(
    member: Member, target: Target, precision: str, folder: Path, lines: list[str] | None
) -> Export:
    """Write an export, prove it, and only then give the folder its name."""
    differences = target.list_differences(member)
    about = {"to": target.name, "precision": precision, "model": member.hash}
    with atomic_folder(folder, kind=KIND, about=about) as writer:
        target.write(member, writer, precision)
        proof, why = prove_folder(member, target, writer, lines)
        if proof is not None:
            if precision == "float32":
                require_proven(proof)
            writer.write("proof.json", to_json(proof.as_json()))
    return Export(folder, target.name, tuple(differences), proof, why)


def prove_folder(
    member: Member, target: Target, writer: FolderWriter, lines: list[str] | None
) -> tuple[Proof | None, str]:
    """Return the proof of a written export; or None, and why there is none."""
    try:
        engine = target.open_engine(writer.folder, member)
    except ImportError as error:
        fact = f"{error.name} is not installed here, so the export is not proved"
        return None, f"{fact}: {target.install}"
    text = "random pieces" if lines is None else f"{len(lines):,} lines"
    return prove(member, engine, make_up_lines(member) if lines is None else lines, text), ""
