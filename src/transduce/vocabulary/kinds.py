"""The two kinds of vocabulary, byte-pair and word-piece: what is learned and how words are cut.

Both learn the same pieces from a text and give them the same ids. Byte-pair joins the pieces of a
word in the order in which they were learned. Word-piece takes the longest piece that it knows from
the left, again and again (Wu et al. 2016, the paper's [38]).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

from transduce.vocabulary.symbols import SPECIALS, Merge, byte_letters, list_symbols

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
# The library's search for the longest piece takes cubic time: minutes for one word of 10,000
# letters. So longer runs are cut first; nothing is lost, for pieces are put together without marks.
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
    """Byte-pair encoding (Sennrich et al. 2016), which its list of merges determines."""

    merges: tuple[Merge, ...]

    @staticmethod
    def from_merges(merges: Sequence[Merge]) -> "BytePair":
        """Build the vocabulary from merges in the order in which they were learned."""
        return BytePair(tuple(merges))

    @staticmethod
    def from_model(model: Any) -> "BytePair":  # noqa: ANN401 - JSON of others
        """Build it from the "model" entry of a file; raise ValueError for impossible merges."""
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

    def pre_tokenizer_json(self) -> dict[str, Any]:
        """Return the file's "pre_tokenizer" entry: how text is cut into words."""
        return BYTE_LEVEL

    def model_json(self) -> dict[str, Any]:
        """Return the file's "model" entry: how words are cut into symbols."""
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
    """Word-pieces without a continuation mark, which its list of pieces determines."""

    pieces: tuple[str, ...]

    @staticmethod
    def from_merges(merges: Sequence[Merge]) -> "WordPiece":
        """Build the vocabulary from the pieces that learned merges lead to."""
        return WordPiece(tuple(list_symbols(merges)[len(list_symbols([])) :]))

    @staticmethod
    def from_model(model: Any) -> "WordPiece":  # noqa: ANN401
        """Build it from the "model" entry of a file; raise ValueError for impossible pieces."""
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

    def pre_tokenizer_json(self) -> dict[str, Any]:
        """Return the file's "pre_tokenizer" entry: how text is cut into words.

        No word holds both letters and < or >, so none is "</s>".
        """
        return {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, WORD_SPLIT]}

    def model_json(self) -> dict[str, Any]:
        """Return the file's "model" entry: how words are cut into symbols.

        No symbol is unknown: no vocabulary has the `unk_token` that the library asks for.
        """
        return {
            "type": "WordPiece",
            "unk_token": "<unknown>",
            "continuing_subword_prefix": "",
            "max_input_chars_per_word": MAX_WORD_BYTES,
            "vocab": assign_ids(self.symbols),
        }


Kind = BytePair | WordPiece
KINDS: Mapping[str, type[BytePair] | type[WordPiece]] = MappingProxyType(
    {"byte-pair": BytePair, "word-piece": WordPiece}
)
MODELS: Mapping[str, type[BytePair] | type[WordPiece]] = MappingProxyType(
    {"BPE": BytePair, "WordPiece": WordPiece}  # by the library's names
)


def assign_ids(names: Sequence[str]) -> dict[str, int]:
    """Return a dict from each symbol to its index in the list, which is its id."""
    return {symbol: number for number, symbol in enumerate(names)}
