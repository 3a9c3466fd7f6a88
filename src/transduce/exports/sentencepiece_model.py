"""Builds a SentencePiece model from a byte-pair vocabulary, for Argos Translate.

SentencePiece compiles the rules of sentencepiece_rules.py by training a tiny model. All of that
model but its pieces is copied. A model is a protocol buffer: fields with a number and a length.
"""

import struct
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from transduce.durable.files import raise_save_errors
from transduce.exports.sentencepiece_rules import (
    format_rules,
    list_characters,
    list_input_rules,
    list_output_rules,
    spell_symbol,
)
from transduce.vocabulary.sentencepiece_file import NORMAL, PIECES, UNKNOWN, read_fields
from transduce.vocabulary.symbols import SPECIALS

LENGTHS = 2  # protobuf's wire type of a field that begins with its length


def build_sentencepiece_model(symbols: Sequence[str]) -> bytes:
    """Return the bytes of a SentencePiece model that merges pieces in the order of `symbols`."""
    learned = [spell_symbol(symbol) for symbol in symbols[len(SPECIALS) :]]
    pieces = [pack_piece("<unk>", 0.0, UNKNOWN)]
    pieces += [pack_piece(piece, -float(rank), NORMAL) for rank, piece in enumerate(learned)]
    rest = [pack_field(number, value) for number, value in compile_rules() if number != PIECES]
    return b"".join([*(pack_field(PIECES, piece) for piece in pieces), *rest])


def compile_rules() -> list[tuple[int, bytes]]:
    """Train a tiny SentencePiece model to get our text rules compiled; return its protobuf fields.

    SentencePiece works on files. If they cannot be written, a SaveError names the folder.
    """
    import sentencepiece

    with raise_save_errors(Path(gettempdir())), TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text").write_text("a b\nab ba\n" * 9, encoding="utf-8")
        for file, list_rules in (("in", list_input_rules), ("out", list_output_rules)):
            rules = format_rules(list_rules(list_characters()))
            (folder / file).write_text(rules, encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"),
            model_prefix=str(folder / "tiny"),
            model_type="bpe",
            vocab_size=8,
            normalization_rule_tsv=str(folder / "in"),
            denormalization_rule_tsv=str(folder / "out"),
            add_dummy_prefix=False,
            remove_extra_whitespaces=True,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        fields = read_fields((folder / "tiny.model").read_bytes())
        return [(number, value) for number, value in fields if isinstance(value, bytes)]


def pack_piece(piece: str, score: float, kind: int) -> bytes:
    """Return the protobuf message of one piece: its text, its score, its type (`kind`)."""
    text = pack_field(1, piece.encode())
    return text + b"\x15" + struct.pack("<f", score) + b"\x18" + pack_number(kind)


def pack_field(number: int, content: bytes) -> bytes:
    """Return a protobuf field: its number, the length of its content, and the content."""
    return pack_number(number << 3 | LENGTHS) + pack_number(len(content)) + content


def pack_number(value: int) -> bytes:
    """Return a number as a protobuf varint, with 7 bits in each byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
