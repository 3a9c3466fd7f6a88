"""A SentencePiece vocabulary that was imported: a unigram model with an unknown symbol.

SentencePiece (Kudo and Richardson 2018) writes blanks as ▁ and cuts a text into the pieces with the
highest sum of scores. The library `tokenizers` does the same with the same pieces and scores.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from transduce.vocabulary.charsmap import require_charsmap
from transduce.vocabulary.symbols import SPECIALS

Piece = tuple[str, float]  # a piece and its log-probability
UNKNOWN = "<unk>"
UNKNOWN_ID = len(SPECIALS)
BLANK = "▁"
MAX_PIECE = 1_000  # letters; at about 100,000 a recursion of the library crashes the process
MAX_SCORE = 1e6  # the score of a text is the sum of all its pieces'
RESERVED = re.compile("<(?=/?s>|unk>)")
METASPACE = {"type": "Metaspace", "replacement": BLANK, "prepend_scheme": "always", "split": True}


@final
@dataclass(frozen=True)
class SentencePiece:
    """A unigram vocabulary, determined by its pieces with scores and its normaliser."""

    pieces: tuple[Piece, ...]  # the symbols with the ids 3, 4, …, after END, BEGIN and the unknown
    charsmap: str = ""  # SentencePiece's compiled normaliser in base64; "" for none

    @staticmethod
    def from_document(found: Any) -> "SentencePiece":  # noqa: ANN401 - parsed JSON
        """Build the vocabulary from a parsed tokenizer.json; raise ValueError if it is invalid."""
        pieces = tuple((piece, score) for piece, score in found["model"]["vocab"])
        maps = [one for one in found["normalizer"]["normalizers"] if one["type"] == "Precompiled"]
        charsmap = maps[0]["precompiled_charsmap"] if maps else ""
        kind = SentencePiece(pieces[UNKNOWN_ID + 1 :], charsmap)
        kind.require_valid()
        return kind

    def require_valid(self) -> None:
        """Raise ValueError for a piece, a score or a normaliser that the library cannot use."""
        found: Sequence[tuple[Any, Any]] = self.pieces
        names = {piece for piece, _ in found if isinstance(piece, str)}
        if len(names) < len(self.pieces) or names & {"", UNKNOWN, *SPECIALS}:
            raise ValueError("a piece stands there twice, or is none")
        if any(len(piece) > MAX_PIECE for piece in names):
            raise ValueError(f"a piece of more than {MAX_PIECE:,} letters")
        if not all(type(score) is float and abs(score) <= MAX_SCORE for _, score in found):
            raise ValueError(f"a score that is no number up to {MAX_SCORE:,.0f}")
        if self.charsmap != "":
            require_charsmap(self.charsmap)

    @cached_property
    def symbols(self) -> list[str]:
        """Return all symbols, indexed by id."""
        return [*SPECIALS, UNKNOWN, *(piece for piece, _ in self.pieces)]

    def symbol_bytes(self) -> list[bytes]:
        """Return the UTF-8 bytes of each symbol, indexed by id; b"" for special symbols."""
        specials = {*SPECIALS, UNKNOWN}
        return [
            b"" if one in specials else one.replace(BLANK, " ").encode() for one in self.symbols
        ]

    def prepare(self, text: str) -> str:
        """Return a text with "< /s>" in place of a literal </s>, and likewise for <s> and <unk>."""
        return RESERVED.sub("< ", text)

    def normalizer_json(self) -> dict[str, Any]:
        """Return the "normalizer" entry of tokenizer.json, with `charsmap` and single blanks."""
        blanks = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
        compiled = {"type": "Precompiled", "precompiled_charsmap": self.charsmap}
        steps = [compiled, blanks] if self.charsmap else [blanks]
        return {"type": "Sequence", "normalizers": steps}

    def pre_tokenizer_json(self) -> dict[str, Any]:
        """Return the "pre_tokenizer" entry of tokenizer.json, which begins words with ▁."""
        return METASPACE

    def decoder_json(self) -> dict[str, Any]:
        """Return the "decoder" entry of tokenizer.json, which turns ▁ into a blank."""
        return METASPACE

    def model_json(self) -> dict[str, Any]:
        """Return the "model" entry of tokenizer.json: special symbols, then pieces."""
        lowest = min((score for _, score in self.pieces), default=0.0)
        specials = [[one, lowest] for one in (*SPECIALS, UNKNOWN)]
        vocab = [*specials, *([piece, score] for piece, score in self.pieces)]
        return {"type": "Unigram", "unk_id": UNKNOWN_ID, "vocab": vocab, "byte_fallback": False}
