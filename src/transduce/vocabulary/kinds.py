"""The kinds of vocabulary: byte-pair and word-piece for text, fixed symbol lists for labels.

Byte-pair and word-piece learn the same pieces from a text and give them the same ids. Byte-pair
encoding applies the merges to a word in the order in which they were learned. Word-piece takes the
longest known piece at the start of the word, then of the rest, and so on (Wu et al. 2016, the
paper's [38]). A closed list is the fixed list of the symbols in the training data, such as brackets
with labels, and cannot encode anything else. Vocabularies of whole words are in word_level.py,
those of SentencePiece in sentencepiece.py.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from transduce.vocabulary.sentencepiece import read_sentencepiece
from transduce.vocabulary.symbols import (
    SPACE_SPLIT,
    SPECIALS,
    Merge,
    VocabularyKind,
    assign_ids,
    byte_letters,
    list_symbols,
    list_word_bytes,
    require_words,
)
from transduce.vocabulary.word_level import UNKNOWN, read_word_level

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


def build_byte_pair(merges: Sequence[Merge]) -> VocabularyKind:
    """Build a byte-pair encoding (Sennrich et al. 2016) from merges in the order of learning."""
    symbols = list_symbols(merges)
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": assign_ids(symbols),
        "merges": [list(merge) for merge in merges],
    }
    return VocabularyKind(symbols, list_symbol_bytes(symbols), model, BYTE_LEVEL, BYTE_LEVEL)


def read_byte_pair(model: Any) -> VocabularyKind:  # noqa: ANN401 - parsed JSON
    """Build a byte-pair encoding from tokenizer.json's "model" entry; ValueError if invalid."""
    known, checked = set(byte_letters()), dict[Merge, None]()
    for left, right in model["merges"]:
        joined = left + right
        if left not in known or right not in known or joined in SPECIALS:
            raise ValueError(f"the merge of {left!r} and {right!r} is impossible")
        known.add(joined)
        checked[left, right] = None
    if len(checked) < len(model["merges"]):
        raise ValueError("a merge stands there twice")
    return build_byte_pair(tuple(checked))


def build_word_pieces(pieces: Sequence[str]) -> VocabularyKind:
    """Build a word-piece vocabulary; pieces inside a word have no mark such as ## before them.

    ByteLevel cuts < and > from letters, so that no word is "</s>". The library requires an
    `unk_token`; this one is never used, because all bytes are known.
    """
    symbols = [*list_symbols([]), *pieces]
    model = {
        "type": "WordPiece",
        "unk_token": "<unknown>",
        "continuing_subword_prefix": "",
        "max_input_chars_per_word": MAX_WORD_BYTES,
        "vocab": assign_ids(symbols),
    }
    words = {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, WORD_SPLIT]}
    return VocabularyKind(symbols, list_symbol_bytes(symbols), model, words, BYTE_LEVEL)


def read_word_pieces(model: Any) -> VocabularyKind:  # noqa: ANN401
    """Build a word-piece vocabulary from tokenizer.json's "model" entry; ValueError if invalid."""
    vocab, known = model["vocab"], set(byte_letters())
    pieces = sorted(vocab, key=vocab.__getitem__)[len(list_symbols([])) :]
    for piece in pieces:
        if len(piece) < 2 or not known.issuperset(piece):
            raise ValueError(f"{piece!r} is no piece")
    return build_word_pieces(pieces)


def build_closed_list(learned: Sequence[str]) -> VocabularyKind:
    """Build a vocabulary of whole symbols, such as labels, with no symbol for unknown words."""
    symbols = [*SPECIALS, *learned]
    model = {"type": "WordLevel", "vocab": assign_ids(symbols), "unk_token": "<unknown>"}
    return VocabularyKind(symbols, list_word_bytes(symbols), model, SPACE_SPLIT, None)


def read_closed_list(model: Any) -> VocabularyKind:  # noqa: ANN401
    """Build a closed list from tokenizer.json's "model" entry; raise ValueError if invalid."""
    vocab = model["vocab"]
    learned = sorted(vocab, key=vocab.__getitem__)[len(SPECIALS) :]
    require_words(learned)
    return build_closed_list(learned)


KINDS: Mapping[str, Callable[[Sequence[Merge]], VocabularyKind]] = MappingProxyType(
    {  # functions of learned merges
        "byte-pair": build_byte_pair,
        "word-piece": lambda merges: build_word_pieces(
            list_symbols(merges)[len(list_symbols([])) :]
        ),
    }
)


def read_kind(found: Any) -> VocabularyKind:  # noqa: ANN401
    """Build the vocabulary of a parsed tokenizer.json by the type in its "model" entry."""
    model = found["model"]
    match model["type"]:
        case "BPE":
            return read_byte_pair(model)
        case "WordPiece":
            return read_word_pieces(model)
        case "WordLevel" if model["unk_token"] == UNKNOWN:
            return read_word_level(model)
        case "WordLevel":
            return read_closed_list(model)
        case "Unigram":  # the normaliser is part of the vocabulary
            return read_sentencepiece(found)
    raise ValueError(f"no kind of vocabulary is {model['type']!r}")


def list_symbol_bytes(symbols: Sequence[str]) -> list[bytes]:
    """Return the UTF-8 bytes of each symbol of a byte-level vocabulary; b"" for END and BEGIN."""
    values = {letter: byte for byte, letter in enumerate(byte_letters())}
    return [
        b"" if symbol in SPECIALS else bytes(values[letter] for letter in symbol)
        for symbol in symbols
    ]
