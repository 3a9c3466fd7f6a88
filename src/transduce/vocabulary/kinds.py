"""The two kinds of vocabulary: what each has learned, and the rules by which it cuts words.

Both learn the same pieces from a text and give them the same ids. Byte-pair joins the pieces of a
word in the order in which they were learned. Word-piece takes the longest piece that it knows from
the left, again and again (Wu et al. 2016, the paper's [38]).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

from transduce.vocabulary.symbols import SPECIALS, Merge, letters, symbols

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
# The library's search for the longest piece takes cubic time: minutes for one word of 10,000
# letters. So longer runs are cut first; nothing is lost, for pieces are put together without marks.
LONGEST_WORD = 100
CUT = {
    "type": "Split",
    "pattern": {"Regex": f".{{1,{LONGEST_WORD}}}"},
    "behavior": "Isolated",
    "invert": False,
}


@final
@dataclass(frozen=True)
class BytePair:
    """Byte-pair encoding (Sennrich et al. 2016): its merges say all."""

    merges: tuple[Merge, ...]

    @staticmethod
    def of_merges(merges: Sequence[Merge]) -> "BytePair":
        """All that was learned."""
        return BytePair(tuple(merges))

    @staticmethod
    def of_model(model: Any) -> "BytePair":  # noqa: ANN401 - JSON of others
        """From the file's model: pairs of symbols, each of two that are known before it."""
        known, checked = set(letters()), dict[Merge, None]()
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
        """By id."""
        return symbols(self.merges)

    def words(self) -> dict[str, Any]:
        """How text is cut into words."""
        return BYTE_LEVEL

    def model(self) -> dict[str, Any]:
        """How words are cut into symbols."""
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": numbered(self.symbols),
            "merges": [list(merge) for merge in self.merges],
        }


@final
@dataclass(frozen=True)
class WordPiece:
    """Word-pieces without a mark for the middle of words: its list of pieces says all."""

    pieces: tuple[str, ...]

    @staticmethod
    def of_merges(merges: Sequence[Merge]) -> "WordPiece":
        """What the merges lead to."""
        return WordPiece(tuple(symbols(merges)[len(symbols([])) :]))

    @staticmethod
    def of_model(model: Any) -> "WordPiece":  # noqa: ANN401
        """From the file's model: pieces of two bytes or more."""
        vocab, known = model["vocab"], set(letters())
        pieces = tuple(sorted(vocab, key=vocab.__getitem__)[len(symbols([])) :])
        for piece in pieces:
            if len(piece) < 2 or not known.issuperset(piece):
                raise ValueError(f"{piece!r} is no piece")
        return WordPiece(pieces)

    @cached_property
    def symbols(self) -> list[str]:
        """By id."""
        return [*symbols([]), *self.pieces]

    def words(self) -> dict[str, Any]:
        """How text is cut into words. None holds both letters and < or >, so none is "</s>"."""
        return {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, CUT]}

    def model(self) -> dict[str, Any]:
        """How words are cut into symbols. None is unknown: no vocabulary has a symbol for that."""
        return {
            "type": "WordPiece",
            "unk_token": "<unknown>",
            "continuing_subword_prefix": "",
            "max_input_chars_per_word": LONGEST_WORD,
            "vocab": numbered(self.symbols),
        }


Kind = BytePair | WordPiece
KINDS: Mapping[str, type[BytePair] | type[WordPiece]] = MappingProxyType(
    {"byte-pair": BytePair, "word-piece": WordPiece}
)
MODELS: Mapping[str, type[BytePair] | type[WordPiece]] = MappingProxyType(
    {"BPE": BytePair, "WordPiece": WordPiece}  # by the library's names
)


def numbered(names: Sequence[str]) -> dict[str, int]:
    """Symbols with their ids."""
    return {symbol: number for number, symbol in enumerate(names)}
