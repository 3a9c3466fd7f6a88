"""The attention record: all attention weights of a model for one source and one output.

A saved record is a folder of safetensors and JSON.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import final

import numpy as np
import safetensors.numpy
from jaxtyping import Float32

from transduce.durable.folder import atomic_folder
from transduce.durable.json import to_json
from transduce.errors import InputError, short_repr
from transduce.settings.alignment import AlignmentHeads

# L layers · H heads · Q query positions · K key positions

# The sequences that the queries and the keys of each kind of attention belong to.
# "input" is the output shifted right, as the decoder reads it    (section 3.1)
SIDES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"encoder": ("source", "source"), "decoder": ("input", "input"), "cross": ("output", "source")}
)


KIND = "attention"
WEIGHTS = "weights.safetensors"  # tensors "encoder", "decoder", "cross": [layer, head, query, key]
RECORD = "record.json"


@final
@dataclass(frozen=True)
class Word:
    """A word of a sequence: its first and its last piece, counted from 0, and its text."""

    first: int
    last: int
    text: str


@final
@dataclass(frozen=True)
class PieceSequence:
    """The positions of a sequence: their pieces as readable text, and the words they form."""

    pieces: tuple[str, ...]  # such as "␣dog", "<C3>" or "</s>"
    words: tuple[Word, ...]  # every piece is in exactly one word, in order
    text: str  # the text that the pieces stand for


@final
@dataclass(frozen=True)
class NextPiece:
    """A piece that may come next, with the probability that the model gives it."""

    piece: str
    probability: float


@final
@dataclass(frozen=True)
class BeamHypothesis:
    """A live hypothesis of the beam before a step: its parent hypothesis and its last piece."""

    parent: int  # index in the beam of the step before; -1 before the first step
    piece: str  # "" before the first step
    log_prob: float  # the sum over its pieces, in nats
    alternatives: tuple[NextPiece, ...]  # best first, without pieces that a constraint forbids
    is_chosen: bool  # whether the output begins with this hypothesis


@final
@dataclass(frozen=True)
class OutputStep:
    """One step of the output: the piece written, the most probable pieces, and the beam before."""

    chosen: NextPiece
    alternatives: tuple[NextPiece, ...]  # given the output before this step; best first
    beam: tuple[BeamHypothesis, ...] = ()  # best first; empty for a given output


@final
@dataclass(frozen=True)
class ModelName:
    """The model of an attention record: name, manifest's sha256, numbers of layers and heads."""

    name: str
    sha256: str  # "" for a model that was not read from a folder
    layers: int
    heads: int


@final
@dataclass(frozen=True, eq=False)
class AttentionView:
    """All attention weights of a model for one source and one output.

    `weights` has an array for each kind of attention that the model has: "encoder", "decoder" and
    "cross". Row q of a head has the weights from query position q to all key positions (`SIDES`
    names the two sequences); a query of "cross" is the step that writes an output piece.
    """

    model: ModelName
    task: str  # the value of data.task, such as "translation"
    source: PieceSequence  # with END
    input: PieceSequence  # what the decoder reads: BEGIN, then the output without END
    output: PieceSequence  # with END
    layers: tuple[int, ...]  # the numbers of the L recorded layers, from 1
    weights: Mapping[str, Float32[np.ndarray, "L H Q K"]]
    steps: tuple[OutputStep, ...]  # one for each piece of the output
    is_given: bool  # whether the output was given, instead of found by the model's search
    notes: tuple[str, ...] = ()  # sentences that a reader of the weights should know
    alignment: AlignmentHeads | None = None  # the heads that align words; None if not a text task

    def queries(self, kind: str) -> PieceSequence:
        """Return the sequence of the queries of a kind of attention, such as "cross"."""
        require_one_of("kind of attention", kind, SIDES)
        sequence: PieceSequence = getattr(self, SIDES[kind][0])
        return sequence

    def keys(self, kind: str) -> PieceSequence:
        """Return the sequence of the keys of a kind of attention, such as "cross"."""
        require_one_of("kind of attention", kind, SIDES)
        sequence: PieceSequence = getattr(self, SIDES[kind][1])
        return sequence

    def layers_of(self, kind: str) -> tuple[int, ...]:
        """Return the recorded layers that a kind of attention has, counted from 1."""
        require_one_of("kind of attention", kind, self.weights)
        return self.layers[: len(self.weights[kind])]  # the shallower stack lacks the last ones

    def head(self, kind: str, layer: int, head: int) -> Float32[np.ndarray, "Q K"]:
        """Return the weights of one head; `layer` and `head` count from 1."""
        layers = self.layers_of(kind)
        require_one_of("layer", layer, layers)
        require_one_of("head", head, range(1, self.weights[kind].shape[1] + 1))
        return self.weights[kind][layers.index(layer), head - 1]

    def select_layers(self, numbers: Sequence[int]) -> "AttentionView":
        """Return the record with only these layers (from 1); raise InputError if one is unknown."""
        for number in numbers:
            require_one_of("layer", number, self.layers)
        chosen = sorted(set(numbers))
        weights = {
            kind: layers[[row for row, one in enumerate(self.layers_of(kind)) if one in chosen]]
            for kind, layers in self.weights.items()
        }
        return replace(self, layers=tuple(chosen), weights=MappingProxyType(weights))


def require_one_of(what: str, value: object, known: Iterable[object]) -> None:
    """Raise an InputError that lists the known values, unless `value` is among them."""
    if value not in (listed := list(known)):
        fact = f"there is no {what} {short_repr(value)}"
        raise InputError(fact, f"known: {', '.join(map(str, listed))}")


def save_record(view: AttentionView, folder: str | PathLike[str]) -> None:
    """Write an attention record to a new folder: weights in float32, everything else as JSON."""
    values = asdict(replace(view, weights={}))
    del values["weights"]
    with atomic_folder(Path(folder), kind=KIND, about={"model": view.model.name}) as writer:
        writer.write(WEIGHTS, safetensors.numpy.save(dict(view.weights)))
        writer.write(RECORD, to_json(values))
