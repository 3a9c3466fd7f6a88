"""The kinds of vocabulary: byte-pair and word-piece for text, fixed symbol lists for labels.

Byte-pair and word-piece learn the same pieces from a text and give them the same ids. Byte-pair
encoding applies the merges to a word in the order in which they were learned. Word-piece takes the
longest known piece at the start of the word, then of the rest, and so on (Wu et al. 2016, the
paper's [38]). A `ClosedList` is the fixed list of the symbols in the training data, such as
brackets with labels, and cannot encode anything else. `WordLevel` is in word_level.py,
`SentencePiece` in sentencepiece.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

from transduce.vocabulary.sentencepiece import SentencePiece
from transduce.vocabulary.symbols import (
    BLANK_SPLIT,
    SPECIALS,
    Merge,
    assign_ids,
    byte_letters,
    list_symbols,
    list_word_bytes,
    require_words,
    symbol_bytes,
)
from transduce.vocabulary.word_level import UNKNOWN, WordLevel

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
# The library `tokenizers` cuts a word into word-pieces in cubic time; 10,000 letters take minutes.
# Words of more bytes than this are therefore cut first; this is lossless, because pieces are joined
# without continuation marks.
MAX_WORD_BYTES = 100
WORD_SPLIT = {
    "type": "Split",
    "pattern": {"Regex": f".{{1,{MAX_WORD_BYTES}}}"},
    "behavior": "Isolated",
    "invert": False,
}


@final
@dataclass(frozen=True)
class BytePair:
    """A byte-pair encoding (Sennrich et al. 2016), determined by its list of merges."""

    merges: tuple[Merge, ...]

    @staticmethod
    def from_merges(merges: Sequence[Merge]) -> "BytePair":
        """Build a byte-pair vocabulary from merges in the order of learning."""
        return BytePair(tuple(merges))

    @staticmethod
    def from_model(model: Any) -> "BytePair":  # noqa: ANN401 - parsed JSON
        """Build the vocabulary from tokenizer.json's "model" entry; raise ValueError if invalid."""
        known, checked = set(byte_letters()), dict[Merge, None]()
        for left, right in model["merges"]:
            joined = left + right
            if left not in known or right not in known or joined in SPECIALS:
                raise ValueError(f"the merge of {left!r} and {right!r} is impossible")
            known.add(joined)
            checked[left, right] = None
        if len(checked) < len(model["merges"]):
            raise ValueError("a merge stands there twice")
        return BytePair(tuple(checked))

    @cached_property
    def symbols(self) -> list[str]:
        """Return all symbols, indexed by id."""
        return list_symbols(self.merges)

    def symbol_bytes(self) -> list[bytes]:
        """Return the UTF-8 bytes that each symbol stands for, indexed by id."""
        return list_symbol_bytes(self.symbols)

    def prepare(self, text: str) -> str:
        """Return a text unchanged, since each of its bytes is a symbol."""
        return text

    def pre_tokenizer_json(self) -> dict[str, Any]:
        """Return the "pre_tokenizer" entry of tokenizer.json, which cuts text into words."""
        return BYTE_LEVEL

    def decoder_json(self) -> dict[str, Any]:
        """Return the "decoder" entry of tokenizer.json, which joins symbols to text."""
        return BYTE_LEVEL

    def model_json(self) -> dict[str, Any]:
        """Return the "model" entry of tokenizer.json, which cuts words into symbols."""
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": assign_ids(self.symbols),
            "merges": [list(merge) for merge in self.merges],
        }


@final
@dataclass(frozen=True)
class WordPiece:
    """A word-piece vocabulary without continuation marks, determined by its list of pieces."""

    pieces: tuple[str, ...]

    @staticmethod
    def from_merges(merges: Sequence[Merge]) -> "WordPiece":
        """Build a word-piece vocabulary of the pieces that learned merges produce."""
        return WordPiece(tuple(list_symbols(merges)[len(list_symbols([])) :]))

    @staticmethod
    def from_model(model: Any) -> "WordPiece":  # noqa: ANN401
        """Build the vocabulary from tokenizer.json's "model" entry; raise ValueError if invalid."""
        vocab, known = model["vocab"], set(byte_letters())
        pieces = tuple(sorted(vocab, key=vocab.__getitem__)[len(list_symbols([])) :])
        for piece in pieces:
            if len(piece) < 2 or not known.issuperset(piece):
                raise ValueError(f"{piece!r} is no piece")
        return WordPiece(pieces)

    @cached_property
    def symbols(self) -> list[str]:
        """Return all symbols, indexed by id."""
        return [*list_symbols([]), *self.pieces]

    def symbol_bytes(self) -> list[bytes]:
        """Return the UTF-8 bytes that each symbol stands for, indexed by id."""
        return list_symbol_bytes(self.symbols)

    def decoder_json(self) -> dict[str, Any]:
        """Return the "decoder" entry of tokenizer.json, which joins symbols to text."""
        return BYTE_LEVEL

    def prepare(self, text: str) -> str:
        """Return a text unchanged, since each of its bytes is a symbol."""
        return text

    def pre_tokenizer_json(self) -> dict[str, Any]:
        """Return the "pre_tokenizer" entry of tokenizer.json, which cuts text into words.

        ByteLevel cuts < and > from letters, so that no word is "</s>".
        """
        return {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, WORD_SPLIT]}

    def model_json(self) -> dict[str, Any]:
        """Return the "model" entry of tokenizer.json, which cuts words into symbols.

        The library requires an `unk_token`; this one is never used, because all bytes are known.
        """
        return {
            "type": "WordPiece",
            "unk_token": "<unknown>",
            "continuing_subword_prefix": "",
            "max_input_chars_per_word": MAX_WORD_BYTES,
            "vocab": assign_ids(self.symbols),
        }


@final
@dataclass(frozen=True)
class ClosedList:
    """A vocabulary that is a fixed list of whole symbols, such as a tagger's labels."""

    learned: tuple[str, ...]  # the symbols with the ids 2, 3, …, after END and BEGIN

    @staticmethod
    def from_model(model: Any) -> "ClosedList":  # noqa: ANN401
        """Build the vocabulary from tokenizer.json's "model" entry; raise ValueError if invalid."""
        vocab = model["vocab"]
        learned = tuple(sorted(vocab, key=vocab.__getitem__)[len(SPECIALS) :])
        require_words(learned)
        return ClosedList(learned)

    @cached_property
    def symbols(self) -> list[str]:
        """Return all symbols, indexed by id."""
        return [*SPECIALS, *self.learned]

    def symbol_bytes(self) -> list[bytes]:
        """Return the UTF-8 bytes of each symbol with a blank after it, indexed by id."""
        return list_word_bytes(self.symbols)

    def prepare(self, text: str) -> str:
        """Return a text unchanged, since its labels are symbols."""
        return text

    def pre_tokenizer_json(self) -> dict[str, Any]:
        """Return the "pre_tokenizer" entry of tokenizer.json, which cuts text at blanks."""
        return BLANK_SPLIT

    def decoder_json(self) -> None:
        """Return None, the "decoder" entry of tokenizer.json that joins symbols with blanks."""
        return

    def model_json(self) -> dict[str, Any]:
        """Return the "model" entry of tokenizer.json; it has no symbol for unknown words."""
        vocab = assign_ids(self.symbols)
        return {"type": "WordLevel", "vocab": vocab, "unk_token": "<unknown>"}


VocabularyKind = BytePair | WordPiece | ClosedList | WordLevel | SentencePiece
KINDS: Mapping[str, type[BytePair] | type[WordPiece]] = MappingProxyType(
    {"byte-pair": BytePair, "word-piece": WordPiece}
)
MODELS: Mapping[str, Callable[[Any], VocabularyKind]] = MappingProxyType(
    {  # name in tokenizer.json -> function that builds the kind
        "BPE": BytePair.from_model,
        "WordPiece": WordPiece.from_model,
        "WordLevel": lambda model: (
            WordLevel if model["unk_token"] == UNKNOWN else ClosedList
        ).from_model(model),
    }
)


def list_symbol_bytes(symbols: Sequence[str]) -> list[bytes]:
    """Return the UTF-8 bytes that each symbol of a byte-level vocabulary stands for."""
    values = {letter: byte for byte, letter in enumerate(byte_letters())}
    return [symbol_bytes(symbol, values) for symbol in symbols]
