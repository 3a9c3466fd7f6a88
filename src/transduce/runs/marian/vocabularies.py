"""Converts the vocabularies of a Marian checkpoint: two SentencePiece models and a symbol list.

Marian numbers the pieces of both languages in one list (vocab.json). After the conversion each
language has its own list, which begins with END, BEGIN (Marian's decoder start symbol) and the
unknown symbol.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.errors import FolderError, InputError, short_repr
from transduce.runs.marian.config import NOT_HERE, MarianConfig, read_bytes, read_object
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.files import Vocabularies
from transduce.vocabulary.sentencepiece import UNKNOWN, Piece, SentencePiece
from transduce.vocabulary.sentencepiece_file import (
    SentencePieceModel,
    read_sentencepiece_model,
)
from transduce.vocabulary.symbols import SPECIALS

JOINT, TARGET = "vocab.json", "target_vocab.json"
LIMIT = 1 << 23  # bytes of a file; those of OPUS-MT have under 2 million
FOREIGN = 1_000.0  # subtracted from the lowest score for pieces that no segmentation should use
Numbers = Mapping[str, int]  # the checkpoint's id of each symbol


@final
@dataclass(frozen=True)
class ImportedVocabularies:
    """An imported model's vocabularies, and each symbol's row in the checkpoint's embeddings."""

    vocabularies: Vocabularies
    source_rows: list[int]
    target_rows: list[int]


def read_marian_vocabularies(folder: Path, config: MarianConfig) -> ImportedVocabularies:
    """Read a checkpoint's SentencePiece models (.spm) and its one or two symbol lists (.json)."""
    joint = read_numbers(folder / JOINT)
    own = os.path.lexists(folder / TARGET) and not config.is_shared
    numbers = (joint, read_numbers(folder / TARGET) if own else joint)
    models = [
        read_sentencepiece_model(read_bytes(file, LIMIT), file)
        for file in (folder / "source.spm", folder / "target.spm")
    ]
    source = SentencePiece(list_source_pieces(models[0], numbers[0]), models[0].charsmap)
    target = list_target_symbols(models[1], numbers[1], config)
    specials = [[config.end, config.start, find_unknown(one, folder / JOINT)] for one in numbers]
    require_usable((source, target), numbers, folder)
    source_rows = [numbers[0].get(piece, specials[0][2]) for piece, _ in source.pieces]
    target_rows = [numbers[1][piece] for piece, _ in target.pieces]
    return ImportedVocabularies(
        Vocabularies(Vocabulary(source), Vocabulary(target)),
        specials[0] + source_rows,
        specials[1] + target_rows,
    )


def require_usable(
    sides: Sequence[SentencePiece], numbers: Sequence[Numbers], folder: Path
) -> None:
    """Refuse symbols that are none, and a source of which most pieces have no row of weights."""
    if len(sides[0].pieces) > 2 * len(numbers[0]):
        fact = f"has {len(sides[0].pieces):,} pieces, and {JOINT} {len(numbers[0]):,} symbols"
        raise FolderError(fact, "download it again", file=folder / "source.spm")
    try:
        for side in sides:
            side.require_valid()
    except ValueError as error:
        raise FolderError(f"has {error}", "download it again", file=folder / JOINT) from error


def list_source_pieces(model: SentencePieceModel, numbers: Numbers) -> tuple[Piece, ...]:
    """Return the source model's pieces, then other characters with an id in the checkpoint.

    Marian looks up a character without a piece in vocab.json, which has the target's pieces, too.
    """
    known = dict(model.pieces)
    low = min(known.values()) - FOREIGN
    specials = {*SPECIALS, UNKNOWN}
    others = (one for one in numbers if len(one) == 1 and one not in known)
    return (*model.pieces, *((one, low) for one in others if one not in specials))


def list_target_symbols(
    model: SentencePieceModel, numbers: Numbers, config: MarianConfig
) -> SentencePiece:
    """Return all pieces that the checkpoint's decoder can write, in the order of their ids.

    Pieces of the source language get so low a score that no target text is split into them.
    """
    scores = dict(model.pieces)
    low = min(scores.values()) - FOREIGN
    unknown = numbers.get(UNKNOWN)
    special = {config.end, config.start, unknown}
    listed = sorted((number, piece) for piece, number in numbers.items() if number not in special)
    pieces = tuple((piece, scores.get(piece, low)) for _, piece in listed)
    return SentencePiece(pieces, model.charsmap)


def read_numbers(file: Path) -> Numbers:
    """Return the id of each symbol in a vocab.json; refuse gaps, and codes of target languages."""
    numbers = read_object(file, LIMIT)
    ids = sorted(number for number in numbers.values() if type(number) is int)
    if ids != list(range(len(numbers))):
        raise FolderError("does not number its symbols from 0", "download it again", file=file)
    codes = [piece for piece in numbers if piece.startswith(">>") and piece.endswith("<<")]
    if codes:
        fact = f"has codes of target languages, such as {short_repr(codes[0])}"
        raise InputError(fact, f"models of one target language are read; {NOT_HERE}", file=file)
    return numbers


def find_unknown(numbers: Numbers, file: Path) -> int:
    """Return the checkpoint's id of the unknown symbol."""
    if UNKNOWN not in numbers:
        raise FolderError(f"has no symbol {UNKNOWN}", "download it again", file=file)
    return numbers[UNKNOWN]
