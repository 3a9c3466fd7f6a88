"""A SentencePiece vocabulary that was imported: a unigram model with an unknown symbol.

SentencePiece (Kudo and Richardson 2018) writes spaces as ▁ and cuts a text into the pieces with the
highest sum of scores. The library `tokenizers` does the same with the same pieces and scores.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int64, UInt32

from transduce.vocabulary.symbols import SPECIALS, VocabularyKind

Piece = tuple[str, float]  # a piece and its log-probability
UNKNOWN = "<unk>"
UNKNOWN_ID = len(SPECIALS)
SPACE = "▁"
MAX_PIECE = 1_000  # letters; pieces of about 100,000 crash the library by recursion
MAX_SCORE = 1e6  # the score of a text is the sum of its pieces' scores
RESERVED = re.compile("<(?=/?s>|unk>)")
METASPACE = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}


def build_sentencepiece(pieces: Sequence[Piece], charsmap: str = "") -> VocabularyKind:
    """Build a unigram vocabulary; raise ValueError if `tokenizers` cannot use the pieces.

    The pieces get the ids 3, 4, …, after END, BEGIN and the unknown symbol. `charsmap` is
    SentencePiece's compiled normaliser in base64, "" for none. A literal </s>, <s> or <unk> in a
    text gets a space after its <.
    """
    require_valid_pieces(pieces, charsmap)
    specials = [*SPECIALS, UNKNOWN]
    texts = [piece for piece, _ in pieces]
    lowest = min((score for _, score in pieces), default=0.0)
    vocab = [*([one, lowest] for one in specials), *map(list, pieces)]
    single = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    compiled = {"type": "Precompiled", "precompiled_charsmap": charsmap}
    return VocabularyKind(
        [*specials, *texts],
        [*(b"" for _ in specials), *(text.replace(SPACE, " ").encode() for text in texts)],
        model={"type": "Unigram", "unk_id": UNKNOWN_ID, "vocab": vocab, "byte_fallback": False},
        pre_tokenizer=METASPACE,
        decoder=METASPACE,
        normalizer={
            "type": "Sequence",
            "normalizers": [compiled, single] if charsmap else [single],
        },
        prepare=lambda text: RESERVED.sub("< ", text),
    )


def read_sentencepiece(found: Any) -> VocabularyKind:  # noqa: ANN401 - parsed JSON
    """Build the vocabulary from a parsed tokenizer.json; raise ValueError if it is invalid."""
    pieces = tuple((piece, score) for piece, score in found["model"]["vocab"])
    maps = [one for one in found["normalizer"]["normalizers"] if one["type"] == "Precompiled"]
    charsmap = maps[0]["precompiled_charsmap"] if maps else ""
    return build_sentencepiece(pieces[UNKNOWN_ID + 1 :], charsmap)


def require_valid_pieces(pieces: Sequence[tuple[Any, Any]], charsmap: str) -> None:
    """Raise ValueError for a piece, a score or a base64 `charsmap` that `tokenizers` cannot use."""
    names = {piece for piece, _ in pieces if isinstance(piece, str)}
    if len(names) < len(pieces) or names & {"", UNKNOWN, *SPECIALS}:
        raise ValueError("a piece stands there twice, or is none")
    if any(len(piece) > MAX_PIECE for piece in names):
        raise ValueError(f"a piece of more than {MAX_PIECE:,} letters")
    if not all(type(score) is float and abs(score) <= MAX_SCORE for _, score in pieces):
        raise ValueError(f"a score that is no number up to {MAX_SCORE:,.0f}")
    if charsmap != "":
        require_charsmap(charsmap)


LIMIT = 1 << 21  # bytes; the normalisers that come with SentencePiece have up to 250,000
DEPTH = 1_000  # the most bytes of a text that a charsmap replaces
BLOCK = 1 << 12  # nodes that are checked together
HAS_LEAF, LABEL, VALUE = 1 << 8, 1 << 31 | 0xFF, (1 << 31) - 1  # bits of a trie's unit
Nodes = Int64[
    np.ndarray, " N"
]  # index i of each node in the trie; its child for byte c is at i XOR c


def require_charsmap(text: str) -> None:
    """Raise ValueError unless every path in a base64 charsmap's trie stays inside of its arrays."""
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
        starts = range(0, len(new), BLOCK)
        new = np.concatenate(
            [find_children(units, new[at : at + BLOCK], boundaries) for at in starts]
        )
    raise ValueError(f"a charsmap that replaces texts of more than {DEPTH:,} bytes")


def split_charsmap(text: str) -> tuple[UInt32[np.ndarray, " U"], bytes]:
    """Split a base64 charsmap into trie units and replacements; ValueError if it is malformed."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError) as error:
        raise ValueError("a charsmap that is no base64") from error
    size = int.from_bytes(data[:4], "little")
    if not 4 < len(data) <= LIMIT or not size or size % 4 or size > len(data) - 4:
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
    """Raise ValueError unless all indices are below `size`."""
    if indices.size and indices.max() >= size:
        raise ValueError("a charsmap whose trie leads out of it")
