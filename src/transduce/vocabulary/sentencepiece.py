"""Imported SentencePiece vocabularies, and the reading of their model files (.spm, .model).

SentencePiece (Kudo and Richardson 2018) writes spaces as ▁ and cuts a text into the pieces with the
highest sum of scores. The library `tokenizers` does the same with the same pieces and scores. The
vocabulary is a unigram model with an unknown symbol.

A model file is a protocol buffer: a sequence of fields, each with a number and a wire type. Only
the parts that change the encoding of a text are read, without the library that wrote it.
"""

import base64
import binascii
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Int64, UInt32

from transduce.errors import FolderError, InputError
from transduce.settings.fields import require
from transduce.vocabulary.symbols import SPECIALS, VocabularyKind

Piece = tuple[str, float]  # a piece and its log-probability
UNKNOWN = "<unk>"
UNKNOWN_ID = len(SPECIALS)
SPACE = "▁"
MAX_PIECE = 1_000  # characters; 100,000 or more can overflow the stack of `tokenizers`
MAX_SCORE = 1e6  # the score of a text is the sum of its pieces' scores
NO_PIECE = "\uffff"  # a character that is in no text and in no piece
RUNS = re.compile(r"\[\^(?:\\x\{[0-9a-f]{1,6}\})+\]\{2,\}")
RESERVED = re.compile("<(?=/?s>|unk>)")
METASPACE = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}


def build_sentencepiece(
    pieces: Sequence[Piece], charsmap: str = "", runs: str = ""
) -> VocabularyKind:
    """Build a unigram vocabulary with the normaliser `charsmap`; ValueError if either is unusable.

    The pieces get the ids 3, 4, …, after END, BEGIN and the unknown symbol. `charsmap` is
    SentencePiece's compiled normaliser in base64, "" for none. A literal </s>, <s> or <unk> in a
    text gets a space after its <. A match of `runs`, made by `write_runs`, becomes one unknown
    symbol; "" for none.
    """
    require_valid_pieces(pieces, charsmap)
    if runs != "" and not RUNS.fullmatch(str(runs)):
        raise ValueError("a pattern of unknown letters that is not as we write it")
    specials = [*SPECIALS, UNKNOWN]
    texts = [piece for piece, _ in pieces]
    lowest = min((score for _, score in pieces), default=0.0)
    vocab = [*([one, lowest] for one in specials), *map(list, pieces)]
    single = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    compiled = {"type": "Precompiled", "precompiled_charsmap": charsmap}
    joined = {"type": "Replace", "pattern": {"Regex": runs}, "content": NO_PIECE}
    return VocabularyKind(
        [*specials, *texts],
        [*(b"" for _ in specials), *(text.replace(SPACE, " ").encode() for text in texts)],
        model={"type": "Unigram", "unk_id": UNKNOWN_ID, "vocab": vocab, "byte_fallback": False},
        pre_tokenizer=METASPACE,
        decoder=METASPACE,
        normalizer={
            "type": "Sequence",
            "normalizers": [*([compiled] if charsmap else []), single, *([joined] if runs else [])],
        },
        prepare=lambda text: RESERVED.sub("< ", text),
    )


def read_sentencepiece(found: Any) -> VocabularyKind:  # noqa: ANN401 - parsed JSON
    """Build a unigram vocabulary from a parsed tokenizer.json; ValueError if it is invalid."""
    pieces = tuple((piece, score) for piece, score in found["model"]["vocab"])
    maps = [one for one in found["normalizer"]["normalizers"] if one["type"] == "Precompiled"]
    charsmap = maps[0]["precompiled_charsmap"] if maps else ""
    return build_sentencepiece(pieces[UNKNOWN_ID + 1 :], charsmap, find_runs(found["normalizer"]))


def find_runs(normaliser: Any) -> str:  # noqa: ANN401 - parsed JSON
    """Return the pattern `runs` in the normaliser of a tokenizer.json; "" if it has none."""
    steps = [one for one in normaliser["normalizers"] if one.get("content") == NO_PIECE]
    return steps[0]["pattern"]["Regex"] if steps else ""


def write_runs(characters: Iterable[str]) -> str:
    """Return a regular expression of runs of letters that are neither spaces nor in `characters`.

    Marian reads such a run as one unknown symbol, even if a letter of it has an id in vocab.json.
    """
    known = (f"\\x{{{ord(one):x}}}" for one in sorted({" ", *characters}))
    return "[^" + "".join(known) + "]{2,}"


def require_valid_pieces(pieces: Sequence[tuple[Any, Any]], charsmap: str) -> None:
    """Raise ValueError for a piece, a score or a base64 `charsmap` that `tokenizers` cannot use."""
    names = {piece for piece, _ in pieces if isinstance(piece, str)}
    if len(names) < len(pieces) or names & {"", UNKNOWN, *SPECIALS}:
        raise ValueError("a piece is listed twice, is empty or special, or is no text")
    if any(len(piece) > MAX_PIECE for piece in names):
        raise ValueError(f"a piece of more than {MAX_PIECE:,} letters")
    if not all(type(score) is float and abs(score) <= MAX_SCORE for _, score in pieces):
        raise ValueError(f"a score that is no number up to {MAX_SCORE:,.0f}")
    if charsmap != "":
        require_charsmap(charsmap)


MOST_CHARSMAP_BYTES = 1 << 21  # charsmaps of SentencePiece have up to 250,000 bytes
DEPTH = 1_000  # bytes of the longest text that one entry of a charsmap may replace
NODES_AT_ONCE = 1 << 12  # nodes that are checked together
HAS_LEAF, LABEL, VALUE = 1 << 8, 1 << 31 | 0xFF, (1 << 31) - 1  # bits of a trie's unit
# index i of each node in the trie; the unit of its child for byte c is at i XOR c
Nodes = Int64[np.ndarray, " N"]


def require_charsmap(text: str) -> None:
    """Raise ValueError if a base64 charsmap, the trie of a normaliser, is malformed or too deep."""
    units, replacements = split_charsmap(text)
    codes = np.frombuffer(replacements + b"\0", np.uint8)
    boundaries = (codes & 0xC0) != 0x80  # where a character begins, or the text ends
    seen = np.zeros(len(units), dtype=bool)
    new = compute_offsets(units[:1])
    for _ in range(DEPTH):
        require_inside(new, len(units))
        new = np.unique(new[~seen[new]])
        seen[new] = True
        if not len(new):
            return
        starts = range(0, len(new), NODES_AT_ONCE)
        new = np.concatenate(
            [find_children(units, new[at : at + NODES_AT_ONCE], boundaries) for at in starts]
        )
    raise ValueError(f"a charsmap that replaces texts of more than {DEPTH:,} bytes")


def split_charsmap(text: str) -> tuple[UInt32[np.ndarray, " U"], bytes]:
    """Split a base64 charsmap into trie units and replacements; ValueError if it is malformed."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError) as error:
        raise ValueError("a charsmap that is no base64") from error
    size = int.from_bytes(data[:4], "little")
    if not 4 < len(data) <= MOST_CHARSMAP_BYTES or not size or size % 4 or size > len(data) - 4:
        raise ValueError("a charsmap whose trie is not there")
    data[4 + size :].decode()  # UnicodeDecodeError is a ValueError
    return np.frombuffer(data[4 : 4 + size], "<u4"), data[4 + size :]


def find_children(
    units: UInt32[np.ndarray, " U"], nodes: Nodes, boundaries: Bool[np.ndarray, " B"]
) -> Int64[np.ndarray, " C"]:
    """Return the indices of the children of nodes in a trie; ValueError if a child is invalid."""
    labels = np.arange(1, 256)
    at = nodes[:, None] ^ labels
    require_inside(at, len(units))
    is_child = (units[at] & LABEL) == labels
    children, found = at[is_child], units[at[is_child]]
    below = children ^ compute_offsets(found)
    require_inside(below, len(units))
    values = (units[below[(found & HAS_LEAF) != 0]] & VALUE).astype(np.int64)
    require_inside(values, len(boundaries))
    if not boundaries[values].all():
        raise ValueError("a charsmap with half a character as replacement")
    return below


def compute_offsets(units: UInt32[np.ndarray, " N"]) -> Nodes:
    """Return the offset in each unit: its bits from 10 on, shifted left by 8 if bit 9 is set."""
    wide = units.astype(np.int64)
    return (wide >> 10) << ((wide & 1 << 9) >> 6)


def require_inside(indices: Int64[np.ndarray, "..."], size: int) -> None:
    """Raise ValueError about a charsmap's trie unless all indices are below `size`."""
    if indices.size and indices.max() >= size:
        raise ValueError("a charsmap whose trie leads out of it")


UNIGRAM = 1  # the model type of the trainer's option --model_type=unigram
NORMAL, UNKNOWN_TYPE, CONTROL, UNUSED, BYTE = 1, 2, 3, 5, 6  # types of pieces
OWN = (4, BYTE)  # user-defined symbols and single bytes
PIECES, TRAINER, NORMALISER = 1, 2, 3  # fields of the file
TRAINER_TYPE, TRAINER_SUFFIX = 3, 24  # fields of the trainer
CHARSMAP, PREFIX, ESCAPE = 2, 3, 5  # fields of the normaliser
MAX_FIELDS = 1 << 19  # a file has a field for each piece, which takes about 200 bytes
RETRAIN = "a unigram model with the trainer's default options can be read"
Field = tuple[int, int | bytes]


@final
@dataclass(frozen=True)
class SentencePieceModel:
    """The pieces of a SentencePiece model with their scores, and its normaliser."""

    pieces: tuple[Piece, ...]
    charsmap: str  # in base64; "" if text is not normalised


def read_sentencepiece_model(data: bytes, file: Path) -> SentencePieceModel:
    """Parse a unigram model's file; FolderError if it is damaged, InputError for other models."""
    try:
        fields = list(islice(read_fields(data), MAX_FIELDS))
        if len(fields) == MAX_FIELDS:
            raise ValueError("too many fields")
        trainer, normaliser = (
            dict(read_fields(b"".join(list_messages(fields, number))))
            for number in (TRAINER, NORMALISER)
        )
        if trainer.get(TRAINER_TYPE, UNIGRAM) != UNIGRAM or trainer.get(TRAINER_SUFFIX):
            raise InputError("is no unigram SentencePiece model", RETRAIN, file=file)
        if any(
            dict(read_fields(one)).get(3, NORMAL) in OWN for one in list_messages(fields, PIECES)
        ):
            fact = "has pieces that are single bytes or symbols of its own"
            raise InputError(fact, RETRAIN, file=file)
        pieces = tuple(
            piece for value in list_messages(fields, PIECES) if (piece := read_piece(value))
        )
        charsmap = base64.b64encode(to_message(normaliser.get(CHARSMAP, b""))).decode()
        require_valid_pieces(pieces, charsmap)
    except (LookupError, ValueError, TypeError, struct.error) as error:
        raise FolderError("is no SentencePiece model", "look at the path", file=file) from error
    if not normaliser.get(PREFIX, 1) or not normaliser.get(ESCAPE, 1):
        raise InputError("marks the beginning of words in another way", RETRAIN, file=file)
    require(bool(pieces), f"{file}: has no pieces", RETRAIN)
    return SentencePieceModel(pieces, charsmap)


def list_messages(fields: Sequence[Field], field_number: int) -> list[bytes]:
    """Return the bytes of all fields of this number; ValueError if a value is an integer."""
    return [to_message(value) for n, value in fields if n == field_number]


def to_message(value: int | bytes) -> bytes:
    """Return a field's value, which must be bytes; raise ValueError if it is an integer."""
    if isinstance(value, int):
        raise ValueError("a number where bytes should be")
    return value


def read_piece(data: bytes) -> Piece | None:
    """Parse a model's piece; return (piece, score), or None if it is special or unused.

    Raises ValueError for a piece of another type.
    """
    fields = dict(read_fields(data))
    kind = fields.get(3, NORMAL)
    if kind in (UNKNOWN_TYPE, CONTROL, UNUSED):
        return None
    text, score = fields[1], struct.unpack("<f", fields.get(2, bytes(4)))[0]  # type: ignore[arg-type]
    if kind != NORMAL:
        raise ValueError(f"a piece of type {kind!r}")
    return to_message(text).decode(), score


def read_fields(data: bytes) -> Iterator[Field]:
    """Yield (field number, value) of a protocol buffer message; ValueError if malformed."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if not number:
            raise ValueError("a field without a number")
        if wire == 0:
            value, at = read_varint(data, at)
            yield number, value
            continue
        size = {1: 8, 5: 4}.get(wire, -1)
        if wire == 2:
            size, at = read_varint(data, at)
        if size < 0 or at + size > len(data):
            raise ValueError("a field that is cut, or of no known type")
        yield number, data[at : at + size]
        at += size


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return (variable-length integer, offset after it); raise ValueError if over 10 bytes."""
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
