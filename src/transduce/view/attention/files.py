"""Saves an attention record as a folder of safetensors and JSON, and reads it again."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import safetensors.numpy

from transduce.checkpoint.weights import read_tensors
from transduce.durable.folder import atomic_folder, open_folder
from transduce.durable.json import read_json, to_json
from transduce.errors import FolderError, InputError
from transduce.settings.alignment import AlignmentHeads, build_alignment_heads
from transduce.view.attention.record import (
    AttentionView,
    BeamHypothesis,
    ModelName,
    NextPiece,
    OutputStep,
    PieceSequence,
    Word,
)

KIND = "attention"
WEIGHTS = "weights.safetensors"  # tensors "encoder", "decoder", "cross": [layer, head, query, key]
RECORD = "record.json"
RECORD_LIMIT = 1 << 28  # bytes; with 1,000 pieces and all beams a record's JSON has some megabytes
DAMAGED = "write it again: `transduce attend MODEL TEXT --save FOLDER`"


def save_record(view: AttentionView, folder: str | PathLike[str]) -> None:
    """Write an attention record to a new folder: weights in float32, everything else as JSON."""
    values = asdict(replace(view, weights={}))
    del values["weights"]
    with atomic_folder(Path(folder), kind=KIND, about={"model": view.model.name}) as writer:
        writer.write(WEIGHTS, safetensors.numpy.save(dict(view.weights)))
        writer.write(RECORD, to_json(values))


def load_record(folder: str | PathLike[str]) -> AttentionView:
    """Read an attention record from its folder; raise FolderError if the folder is damaged."""
    path = Path(folder)
    found = open_folder(path, KIND)
    values = read_json(found.read(RECORD, RECORD_LIMIT), path / RECORD)
    with found.open(WEIGHTS) as stream:
        tensors = read_tensors(stream, path / WEIGHTS)
    weights = MappingProxyType({name: tensor.numpy() for name, tensor in tensors.items()})
    try:
        return parse_record(values, weights)
    except (KeyError, TypeError, InputError) as error:
        raise FolderError(f"is no attention record: {error}", DAMAGED, file=path) from error


def parse_record(values: Mapping[str, Any], weights: Mapping[str, Any]) -> AttentionView:
    """Build an attention record from parsed JSON and its weights."""
    sequences = {name: parse_sequence(values[name]) for name in ("source", "input", "output")}
    return AttentionView(
        model=ModelName(**values["model"]),
        task=values["task"],
        layers=tuple(values["layers"]),
        weights=weights,
        steps=tuple(parse_step(step) for step in values["steps"]),
        is_given=values["is_given"],
        notes=tuple(values["notes"]),
        alignment=parse_heads(values.get("alignment")),
        **sequences,
    )


def parse_heads(values: Mapping[str, Any] | None) -> AlignmentHeads | None:
    """Build the heads for word alignments from parsed JSON; None if a record has none."""
    return None if values is None else build_alignment_heads(**values)


def parse_sequence(values: Mapping[str, Any]) -> PieceSequence:
    """Build a sequence of pieces and words from parsed JSON."""
    words = tuple(Word(**word) for word in values["words"])
    return PieceSequence(tuple(values["pieces"]), words, values["text"])


def parse_step(values: Mapping[str, Any]) -> OutputStep:
    """Build a step of the output from parsed JSON."""
    beam = [replace_alternatives(one) for one in values["beam"]]
    return OutputStep(
        chosen=NextPiece(**values["chosen"]),
        alternatives=parse_pieces(values["alternatives"]),
        beam=tuple(BeamHypothesis(**one) for one in beam),
    )


def replace_alternatives(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hypothesis' values with its alternatives as a tuple of next pieces."""
    return {**values, "alternatives": parse_pieces(values["alternatives"])}


def parse_pieces(values: list[Mapping[str, Any]]) -> tuple[NextPiece, ...]:
    """Build the pieces that may come next, with probabilities, from parsed JSON."""
    return tuple(NextPiece(**one) for one in values)
