"""Reads a SentencePiece model file (.spm, .model) without the library that wrote it.

The file is a protocol buffer: a sequence of fields, each with a number and a wire type. Only the
parts that change the encoding of a text are read.
"""

import base64
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import final

from transduce.errors import FolderError, InputError
from transduce.settings.fields import require
from transduce.vocabulary.sentencepiece import Piece, require_valid_pieces

UNIGRAM = 1  # the model type of the trainer's option --model_type=unigram
NORMAL, UNKNOWN, CONTROL, UNUSED, BYTE = 1, 2, 3, 5, 6  # types of pieces
PIECES, TRAINER, NORMALISER = 1, 2, 3  # fields of the file
TRAINER_TYPE, TRAINER_SUFFIX = 3, 24  # fields of the trainer
CHARSMAP, PREFIX, ESCAPE = 2, 3, 5  # fields of the normaliser
MAX_FIELDS = 1 << 19  # of the file, one for each piece; they take about 200 bytes each
RETRAIN = "a unigram model with the trainer's default options can be read"
Field = tuple[int, int | bytes]


@final
@dataclass(frozen=True)
class SentencePieceModel:
    """The pieces of a SentencePiece model with their scores, and its normaliser."""

    pieces: tuple[Piece, ...]
    charsmap: str  # in base64; "" if text is not normalised


def read_sentencepiece_model(data: bytes, file: Path) -> SentencePieceModel:
    """Return the pieces and the normaliser of a unigram model; raise InputError for other kinds."""
    try:
        fields = list(islice(read_fields(data), MAX_FIELDS))
        if len(fields) == MAX_FIELDS:
            raise ValueError("too many fields")
        trainer, normaliser = (
            dict(read_fields(b"".join(list_messages(fields, number))))
            for number in (TRAINER, NORMALISER)
        )
        pieces = tuple(
            piece for value in list_messages(fields, PIECES) if (piece := read_piece(value))
        )
        charsmap = base64.b64encode(to_message(normaliser.get(CHARSMAP, b""))).decode()
        require_valid_pieces(pieces, charsmap)
    except (LookupError, ValueError, TypeError, struct.error) as error:
        raise FolderError("is no SentencePiece model", "look at the path", file=file) from error
    if trainer.get(TRAINER_TYPE, UNIGRAM) != UNIGRAM or trainer.get(TRAINER_SUFFIX):
        raise InputError("is no unigram SentencePiece model", RETRAIN, file=file)
    if not normaliser.get(PREFIX, 1) or not normaliser.get(ESCAPE, 1):
        raise InputError("marks the beginning of words in another way", RETRAIN, file=file)
    require(bool(pieces), f"{file}: has no pieces", RETRAIN)
    return SentencePieceModel(pieces, charsmap)


def list_messages(fields: Sequence[Field], number: int) -> list[bytes]:
    """Return the bytes of all fields numbered `number`; ValueError if a value is an integer."""
    return [to_message(value) for n, value in fields if n == number]


def to_message(value: int | bytes) -> bytes:
    """Return a field's value, which must be bytes; raise ValueError if it is an integer."""
    if isinstance(value, int):
        raise ValueError("a number where bytes should be")
    return value


def read_piece(data: bytes) -> Piece | None:
    """Return a piece and its score, or None for an unknown, control or unused piece."""
    fields = dict(read_fields(data))
    kind = fields.get(3, NORMAL)
    if kind in (UNKNOWN, CONTROL, UNUSED):
        return None
    text, score = fields[1], struct.unpack("<f", fields.get(2, bytes(4)))[0]  # type: ignore[arg-type]
    if kind != NORMAL:
        raise ValueError(f"a piece of type {kind!r}")
    return to_message(text).decode(), score


def read_fields(data: bytes) -> Iterator[Field]:
    """Yield (field number, value) for each field of a protocol buffer message."""
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
    """Return the variable-length integer at an offset, and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
