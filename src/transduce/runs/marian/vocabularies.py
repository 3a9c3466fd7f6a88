"""Conversion of a Marian checkpoint's vocabularies: two SentencePiece models and a symbol list

In Marian one list (vocab.json) gives ids to the pieces of both languages. After the conversion each
language has its own list, which begins with END, BEGIN (Marian's decoder start symbol) and the
unknown symbol.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.errors import FolderError, InputError, short_repr
from transduce.runs.marian.config import NOT_HERE, MarianConfig, read_bytes, read_object
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.sentencepiece import UNKNOWN, Piece, build_sentencepiece
from transduce.vocabulary.sentencepiece_file import (
    SentencePieceModel,
    read_sentencepiece_model,
)
from transduce.vocabulary.symbols import SPECIALS
from transduce.vocabulary.vocabulary import Vocabularies

JOINT, TARGET = "vocab.json", "target_vocab.json"
LIMIT = 1 << 23  # bytes of a file; files of OPUS-MT have under 2 million
FOREIGN = 1_000.0  # subtracted from the lowest score for pieces that no segmentation should use
SymbolIds = Mapping[str, int]  # the checkpoint's id of each symbol


@final
@dataclass(frozen=True)
class ImportedVocabularies:
    """An imported model's vocabularies, and each symbol's row in the checkpoint's embeddings."""

    vocabularies: Vocabularies
    source_rows: list[int]
    target_rows: list[int]


def read_marian_vocabularies(folder: Path, config: MarianConfig) -> ImportedVocabularies:
    """Read a checkpoint's SentencePiece models (.spm) and its one or two symbol lists (.json)."""
    joint = read_symbol_ids(folder / JOINT)
    own = os.path.lexists(folder / TARGET) and not config.is_shared
    ids = (joint, read_symbol_ids(folder / TARGET) if own else joint)
    models = [
        read_sentencepiece_model(read_bytes(file, LIMIT), file)
        for file in (folder / "source.spm", folder / "target.spm")
    ]
    sides = list_source_pieces(models[0], ids[0]), list_target_pieces(models[1], ids[1], config)
    specials = [[config.end, config.start, find_unknown(one, folder / JOINT)] for one in ids]
    if len(sides[0]) > 2 * len(ids[0]):  # most of its pieces would have no weights
        fact = f"has {len(sides[0]):,} pieces, and {JOINT} {len(ids[0]):,} symbols"
        raise FolderError(fact, "download it again", file=folder / "source.spm")
    try:
        kinds = map(build_sentencepiece, sides, (model.charsmap for model in models))
        source, target = map(Vocabulary, kinds)
    except ValueError as error:
        raise FolderError(f"has {error}", "download it again", file=folder / JOINT) from error
    source_rows = [ids[0].get(piece, specials[0][2]) for piece, _ in sides[0]]
    target_rows = [ids[1][piece] for piece, _ in sides[1]]
    return ImportedVocabularies(
        Vocabularies(source, target),
        specials[0] + source_rows,
        specials[1] + target_rows,
    )


def list_source_pieces(model: SentencePieceModel, ids: SymbolIds) -> tuple[Piece, ...]:
    """Return the source model's pieces, then characters that have only an id in vocab.json.

    For a character without a source piece, Marian takes its id in vocab.json, if it has one there.
    """
    known = dict(model.pieces)
    low = min(known.values()) - FOREIGN
    specials = {*SPECIALS, UNKNOWN}
    others = (one for one in ids if len(one) == 1 and one not in known)
    return (*model.pieces, *((one, low) for one in others if one not in specials))


def list_target_pieces(
    model: SentencePieceModel, ids: SymbolIds, config: MarianConfig
) -> tuple[Piece, ...]:
    """Return all pieces that the decoder can write, in the order of their ids.

    Pieces of the source language get so low a score that no target text is split into them.
    """
    scores = dict(model.pieces)
    low = min(scores.values()) - FOREIGN
    unknown = ids.get(UNKNOWN)
    special = {config.end, config.start, unknown}
    listed = sorted((one, piece) for piece, one in ids.items() if one not in special)
    return tuple((piece, scores.get(piece, low)) for _, piece in listed)


def read_symbol_ids(file: Path) -> SymbolIds:
    """Return each symbol's id in a vocab.json; refuse ids with gaps, and symbols for languages."""
    ids = read_object(file, LIMIT)
    if sorted(one for one in ids.values() if type(one) is int) != list(range(len(ids))):
        raise FolderError("does not number its symbols from 0", "download it again", file=file)
    codes = [piece for piece in ids if piece.startswith(">>") and piece.endswith("<<")]
    if codes:
        fact = f"has codes of target languages, such as {short_repr(codes[0])}"
        raise InputError(fact, f"models of one target language are read; {NOT_HERE}", file=file)
    return ids


def find_unknown(ids: SymbolIds, file: Path) -> int:
    """Return the checkpoint's id of the unknown symbol; refuse a symbol list without one."""
    if UNKNOWN not in ids:
        raise FolderError(f"has no symbol {UNKNOWN}", "download it again", file=file)
    return ids[UNKNOWN]
