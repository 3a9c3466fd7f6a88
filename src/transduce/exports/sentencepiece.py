"""Writes SentencePiece models that have our pieces, and whose rules clean text as we do.

A model is a protocol buffer; each field has a number and a length. SentencePiece compiles rules on
characters only when it trains a model. So a tiny one is trained, and all but its pieces is copied.
An imported unigram vocabulary has compiled rules of its own, and is written without SentencePiece.
"""

import base64
import json
import struct
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from transduce.durable.files import raise_save_errors
from transduce.exports.target import raise_import_errors
from transduce.text.clean import normalise
from transduce.vocabulary import BEGIN, END, Vocabulary
from transduce.vocabulary.sentencepiece import (
    BYTE,
    CHARSMAP,
    CONTROL,
    NORMAL,
    NORMALISER,
    PIECES,
    SPACE,
    TRAINER,
    TRAINER_TYPE,
    UNIGRAM,
    UNKNOWN,
    UNKNOWN_ID,
    UNKNOWN_TYPE,
    UNUSED,
    read_fields,
)
from transduce.vocabulary.symbols import SPECIALS, byte_letters

LENGTHS = 2  # protobuf's wire type of a field that begins with its length
UNASSIGNED = ("Cn", "Cs", "Co")  # Unicode categories: unassigned, surrogate, private
LETTERS = tuple(byte_letters())
Piece = tuple[str, int]  # its text, and its type, such as NORMAL


def build_byte_letter_model(symbols: Sequence[str]) -> bytes:
    """Return a SentencePiece model of `symbols` with non-ASCII text in GPT-2's byte letters.

    `symbols` are a vocabulary's, by id, and are merged in this order. Input rules write each
    character beyond ASCII as letters, one for each of its UTF-8 bytes; output rules turn the
    letters back into characters.
    """
    learned = [spell_symbol(symbol) for symbol in symbols[len(SPECIALS) :]]
    rules = compile_rules(spell, vocab_size=8)
    return pack_model([("<unk>", UNKNOWN_TYPE), *((piece, NORMAL) for piece in learned)], rules)


def build_unigram_model(vocabulary: Vocabulary) -> bytes:
    """Return an imported unigram vocabulary as a SentencePiece model with its scores and rules."""
    document = json.loads(vocabulary.to_bytes())
    rules = b"".join(
        pack_field(CHARSMAP, base64.b64decode(one["precompiled_charsmap"]))
        for one in document["normalizer"]["normalizers"]
        if one["type"] == "Precompiled"
    )
    known: list[tuple[str, float]] = document["model"]["vocab"][UNKNOWN_ID + 1 :]
    # SentencePiece refuses a model with NUL in a piece; no cleaned text has NUL
    packed = [pack_piece(piece, score, NORMAL) for piece, score in known if "\0" not in piece]
    pieces = [pack_piece(UNKNOWN, 0.0, UNKNOWN_TYPE), *packed]
    trainer = pack_number(TRAINER_TYPE << 3) + pack_number(UNIGRAM)
    return b"".join(
        [
            *(pack_field(PIECES, piece) for piece in pieces),
            pack_field(TRAINER, trainer),
            pack_field(NORMALISER, rules),
        ]
    )


def build_fallback_model(pieces: Sequence[Piece]) -> bytes:
    """Return a SentencePiece model of these pieces, with byte fallback for unknown characters."""
    special = {"unk_id": BEGIN, "bos_id": -1, "eos_id": END, "pad_id": -1}
    return pack_model(pieces, compile_rules(str, vocab_size=300, byte_fallback=True, **special))


def list_fallback_pieces(vocabulary: Vocabulary) -> list[Piece]:
    """Return a vocabulary's pieces as SentencePiece's (text, type), by id, then missing bytes.

    A piece that SentencePiece cannot have, such as a part of a character, is UNUSED. SentencePiece
    needs a symbol for each of the 256 bytes. Our vocabularies have none for printable ASCII, so
    these are added at the end, and then UNUSED pieces up to a multiple of 8.
    """
    pieces: list[Piece] = [(SPECIALS[END], CONTROL), ("<unk>", UNKNOWN_TYPE)]
    for number in range(len(pieces), len(vocabulary)):
        piece = to_fallback_piece(vocabulary.piece_bytes(number))
        pieces.append(piece or (f"<unused {number}>", UNUSED))
    pieces += [(f"<0x{byte:02X}>", BYTE) for byte in range(0x20, 0x7F)]
    return pieces + [(f"<unused {number}>", UNUSED) for number in range(-len(pieces) % 8)]


def to_fallback_piece(data: bytes) -> Piece | None:
    """Return (text, NORMAL) for whole characters, ("<0x0A>", BYTE) for one other byte, else None.

    A piece with ▁ gives None, because SentencePiece writes a space as ▁.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = SPACE  # is refused below
    if SPACE not in text and (len(data) > 1 or text.isprintable()):
        return text.replace(" ", SPACE), NORMAL
    return (f"<0x{data[0]:02X}>", BYTE) if len(data) == 1 else None


def pack_model(pieces: Sequence[Piece], rules: Sequence[tuple[int, bytes]]) -> bytes:
    """Return a SentencePiece model of `pieces`, merged in order, with another model's `rules`.

    `rules` are the protobuf fields of that model; all but its pieces are copied.
    """
    packed = [
        pack_field(PIECES, pack_piece(text, -float(rank) if kind == NORMAL else 0.0, kind))
        for rank, (text, kind) in enumerate(pieces)
    ]
    rest = [pack_field(number, value) for number, value in rules if number != PIECES]
    return b"".join([*packed, *rest])


def compile_rules(spell: Callable[[str], str], **options: Any) -> list[tuple[int, bytes]]:  # noqa: ANN401
    """Return the protobuf fields (number, bytes) of a tiny SentencePiece model with our rules.

    The rules clean a text and apply `spell` to its characters; `options` are the trainer's.
    ImportError without SentencePiece; SaveError if its temporary files cannot be written.
    """
    with raise_import_errors("sentencepiece"):
        import sentencepiece

    with raise_save_errors(Path(gettempdir())), TemporaryDirectory() as temporary:
        folder = Path(temporary)
        every = [chr(code) for code in range(1, sys.maxunicode + 1)]
        assigned = [one for one in every if unicodedata.category(one) not in UNASSIGNED]
        (folder / "text").write_text("a b\nab ba\n" * 9, encoding="utf-8")
        rules = {"normalization": list_input_rules(assigned, spell)}
        if output := list_output_rules(assigned, spell):
            rules["denormalization"] = output
        for name, changes in rules.items():
            lines = (f"{to_hex(before)}\t{to_hex(after)}\n" for before, after in changes.items())
            (folder / name).write_text("".join(lines), encoding="utf-8")
        files: dict[str, Any] = {f"{name}_rule_tsv": str(folder / name) for name in rules}
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"),
            model_prefix=str(folder / "tiny"),
            model_type="bpe",
            **files,
            add_dummy_prefix=False,
            remove_extra_whitespaces=True,
            hard_vocab_limit=False,
            minloglevel=2,
            **options,
        )
        fields = read_fields((folder / "tiny.model").read_bytes())
        return [(number, value) for number, value in fields if isinstance(value, bytes)]


def pack_piece(piece: str, score: float, kind: int) -> bytes:
    """Return the protobuf message of one piece: its text, its score, its type (`kind`)."""
    text = pack_field(1, piece.encode())
    return text + b"\x15" + struct.pack("<f", score) + b"\x18" + pack_number(kind)


def pack_field(field_number: int, content: bytes) -> bytes:
    """Return a protobuf field: its number, the length of its content, and the content."""
    return pack_number(field_number << 3 | LENGTHS) + pack_number(len(content)) + content


def pack_number(value: int) -> bytes:
    """Return a non-negative integer as a protobuf varint, with 7 bits in each byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def spell(text: str) -> str:
    """Return a text with each character beyond ASCII written as one letter per UTF-8 byte."""
    return "".join(
        one if one.isascii() else "".join(LETTERS[byte] for byte in one.encode()) for one in text
    )


def spell_symbol(symbol: str) -> str:
    """Return a vocabulary symbol as a SentencePiece piece, in which a space is written ▁."""
    return symbol.replace(LETTERS[ord(" ")], SPACE)


def clean_character(character: str) -> str:
    """Return a character normalised as if inside a text, so that a space is not stripped."""
    if character.isascii():
        return normalise(f"a{character}b")[1:-1]
    return " " if character.isspace() else normalise(character)


def list_input_rules(characters: Iterable[str], spell: Callable[[str], str]) -> dict[str, str]:
    """Map characters and their decompositions to cleaned spellings; leave out those unchanged."""
    rules = dict[str, str]()
    for one in characters:
        cleaned = spell(clean_character(one))
        forms = {one, unicodedata.normalize("NFD", one), split_canonically(one)}
        rules |= {form: cleaned for form in forms if form != cleaned}
    return rules


def split_canonically(character: str) -> str:
    """Return a character's canonical decomposition, one step deep, or the character itself."""
    found = unicodedata.decomposition(character)
    if not found or found.startswith("<"):
        return character
    return "".join(chr(int(number, 16)) for number in found.split())


def list_output_rules(characters: Iterable[str], spell: Callable[[str], str]) -> dict[str, str]:
    """Map the spelling of each character back to the character, if they differ."""
    return {spelled: one for one in characters if (spelled := spell(one)) != one}


def to_hex(text: str) -> str:
    """Return a text's code points in hexadecimal, separated by spaces, such as "41 308"."""
    return " ".join(f"{ord(one):X}" for one in text)
