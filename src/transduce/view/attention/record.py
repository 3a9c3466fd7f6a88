"""The attention record: all attention weights of a model for one source and one output.

A saved record is a folder of safetensors and JSON. Pieces are joined into words. A word is a run of
letters and digits, or of punctuation. An apostrophe between letters and a point or comma between
digits belong to their word. In tokenised text, words are separated by spaces. In scripts that do
not separate words by spaces, each piece is a word of its own.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import final

import numpy as np
import safetensors.numpy
from jaxtyping import Float32

from transduce.durable.folder import atomic_folder
from transduce.durable.json import to_json
from transduce.errors import InputError, short_repr
from transduce.settings.alignment import AlignmentHeads
from transduce.settings.fields import require
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.symbols import find_token_starts, group_words

# L layers · H heads · Q query positions · K key positions

# For each kind of attention, the sequence of its queries and the sequence of its keys.
# "input" is the output shifted right, as the decoder reads it    (section 3.1)
SIDES: Mapping[str, tuple[str, str]] = {
    "encoder": ("source", "source"),
    "decoder": ("input", "input"),
    "cross": ("output", "source"),
}
ATTENTION_KIND = "attention"
WEIGHTS = "weights.safetensors"  # tensors "encoder", "decoder", "cross": [layer, head, query, key]
RECORD = "record.json"
BLANK = "␣"
JOINERS = {"'": str.isalpha, "’": str.isalpha, ".": str.isdigit, ",": str.isdigit}
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


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
    """A live hypothesis before a step, with its parent, last piece, log P and next pieces."""

    parent: int  # index in the beam of the step before; -1 before the first step
    piece: str  # "" before the first step
    log_prob: float  # the sum over its pieces, in nats
    alternatives: tuple[NextPiece, ...]  # best first, without pieces that a constraint forbids
    is_chosen: bool  # whether the output begins with this hypothesis


@final
@dataclass(frozen=True)
class OutputStep:
    """A step of the output: the chosen piece, the most probable pieces, and the beam before it."""

    chosen: NextPiece
    alternatives: tuple[NextPiece, ...]  # given the output before this step; best first
    beam: tuple[BeamHypothesis, ...] = ()  # best first; empty unless beam search wrote the output


@final
@dataclass(frozen=True)
class ModelName:
    """A model's name, its manifest's sha256, layers of the deeper stack, and heads per layer."""

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
        """Return the sequence of the queries; `kind` is "encoder", "decoder" or "cross".

        Raises InputError for another kind.
        """
        require_one_of("kind of attention", kind, SIDES)
        sequence: PieceSequence = getattr(self, SIDES[kind][0])
        return sequence

    def keys(self, kind: str) -> PieceSequence:
        """Return the sequence of the keys; `kind` is "encoder", "decoder" or "cross".

        Raises InputError for another kind.
        """
        require_one_of("kind of attention", kind, SIDES)
        sequence: PieceSequence = getattr(self, SIDES[kind][1])
        return sequence

    def layers_of(self, kind: str) -> tuple[int, ...]:
        """Return the numbers (from 1) of the layers recorded for a kind of attention.

        `kind` is "encoder", "decoder" or "cross". Raises InputError if the model lacks it.
        """
        require_one_of("kind of attention", kind, self.weights)
        return self.layers[: len(self.weights[kind])]  # the shallower stack lacks the last ones

    def head(self, kind: str, layer: int, head: int) -> Float32[np.ndarray, "Q K"]:
        """Return a head's weights; `layer` and `head` count from 1; raise InputError if unknown."""
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
            kind: layers[[index for index, one in enumerate(self.layers_of(kind)) if one in chosen]]
            for kind, layers in self.weights.items()
        }
        kept = {kind: one for kind, one in weights.items() if len(one)}  # depths may differ
        known = ", ".join(map(str, self.layers[: max(map(len, self.weights.values()))]))
        require(bool(kept), "these layers have no attention weights", f"known: {known}")
        return replace(self, layers=tuple(chosen), weights=kept)


def require_one_of(what: str, value: object, known: Iterable[object]) -> None:
    """Raise InputError unless `value` is in `known`; the error names `what` and lists `known`."""
    if value not in (listed := list(known)):
        fact = f"there is no {what} {short_repr(value)}"
        raise InputError(fact, f"known: {', '.join(map(str, listed))}")


def save_record(view: AttentionView, folder: str | PathLike[str]) -> None:
    """Write an attention record to a new folder: the weights as safetensors, the rest as JSON."""
    values = asdict(replace(view, weights={}))
    del values["weights"]
    with atomic_folder(
        Path(folder), kind=ATTENTION_KIND, about={"model": view.model.name}
    ) as writer:
        writer.write(WEIGHTS, safetensors.numpy.save(dict(view.weights)))
        writer.write(RECORD, to_json(values))


# --- Words of a sequence --------------------------------------------------------------------------


def read_sequence(
    vocabulary: Vocabulary, ids: Sequence[int], *, is_tokenised: bool
) -> PieceSequence:
    """Return the pieces, words and text of ids; words end only at spaces if `is_tokenised`."""

    def decode(some: Sequence[bytes]) -> str:
        return b"".join(some).decode("utf-8", errors="replace").strip()

    values = [vocabulary.piece_bytes(number) for number in ids]
    pieces = tuple(readable_piece(vocabulary, number) for number in ids)
    words = tuple(
        Word(first, end - 1, decode(values[first:end]) or pieces[first])  # a word of only spaces
        for first, end in group_words(
            values, find_token_starts if is_tokenised else find_word_starts
        )
    )
    return PieceSequence(pieces, words, decode(values))


def readable_piece(vocabulary: Vocabulary, piece_id: int) -> str:
    """Return a piece as readable text; a final "␣" is left out unless it is the whole piece."""
    piece = vocabulary.piece(piece_id)
    return piece.removesuffix(BLANK) or piece


def find_word_starts(text: str) -> list[bool]:
    """Return for each character of a text whether a word or a run of punctuation begins there."""
    kinds = [classify_character(text, index) for index in range(len(text))]
    return [
        kind != " " and (kind != before or kind == "unspaced")
        for before, kind in zip([" ", *kinds], kinds, strict=False)
    ]


def classify_character(text: str, index: int) -> str:
    """Return a character's kind: " ", "letter", "punctuation", or "unspaced" (as in Chinese)."""
    one = text[index]
    if one in JOINERS and 0 < index < len(text) - 1:
        joins = JOINERS[one]
        return "letter" if joins(text[index - 1]) and joins(text[index + 1]) else "punctuation"
    return classify_alone(one)


@lru_cache(maxsize=4096)
def classify_alone(character: str) -> str:
    """Return a character's kind from the character alone; an undecodable byte is a "letter"."""
    if character == " ":
        return " "
    if unicodedata.name(character, "").startswith(UNSPACED):
        return "unspaced"
    is_mark = unicodedata.category(character) in ("Mn", "Mc", "Me", "Cs", "Cf")
    return "letter" if character.isalnum() or is_mark else "punctuation"


def join_words(
    weights: Float32[np.ndarray, "*H Q K"], queries: Sequence[Word], keys: Sequence[Word]
) -> Float32[np.ndarray, "*H Qw Kw"]:
    """Sum attention weights over each key word's pieces, and average over each query word's."""
    summed = np.add.reduceat(weights, [word.first for word in keys], axis=-1)
    counts = np.array([word.last - word.first + 1 for word in queries], dtype=np.float32)
    rows = np.add.reduceat(summed, [word.first for word in queries], axis=-2)
    return rows / counts[:, None]


def is_punctuation(text: str) -> bool:
    """Return whether a word is nothing but punctuation; marks such as "</s>" are not."""
    return bool(text) and all(classify_alone(one) == "punctuation" for one in text)
