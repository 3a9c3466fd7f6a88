"""The kinds of vocabulary: byte-pair, word-piece and whole words for text, closed lists for labels.

Byte-pair and word-piece learn the same pieces from a text and give them the same ids. Byte-pair
encoding applies the merges to a word in the order in which they were learned. Word-piece takes the
longest known piece at the start of the word, then of the rest, and so on (Wu et al. 2016, the
paper's [38]). A closed list is the fixed list of the symbols in the training data, such as brackets
with labels, and cannot encode anything else. SentencePiece is in sentencepiece.py.

A vocabulary of whole words is for tokenised text: one symbol for each word, known or not. A parser
and a tagger write symbols for each word. If words were cut into pieces, the decoder would have to
count words while it reads pieces, which a small model does badly (docs/internals/deviations.md).
Frequent words are symbols. Every other word is written as its class: its shape and its last
letters, such as "<Aa*ing>", as treebank parsers do with unknown words. A model learns the classes
from the words of the training text that are no symbols.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from transduce.errors import InputError
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

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
# The library `tokenizers` cuts a word into word-pieces in cubic time; 10,000 letters take minutes.
# Words of more than MAX_WORD_BYTES bytes are therefore cut first; this is lossless, because pieces
# are joined without continuation marks.
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
        raise ValueError("a merge is listed twice")
    return build_byte_pair(tuple(checked))


def build_word_pieces(pieces: Sequence[str]) -> VocabularyKind:
    """Build a word-piece vocabulary; pieces inside a word have no continuation mark such as ##.

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


def read_word_pieces(symbols: Sequence[str]) -> VocabularyKind:
    """Build a word-piece vocabulary from its symbols, by id; ValueError if a piece is invalid."""
    known, pieces = set(byte_letters()), symbols[len(list_symbols([])) :]
    for piece in pieces:
        if len(piece) < 2 or not known.issuperset(piece):
            raise ValueError(f"{piece!r} is no piece")
    return build_word_pieces(pieces)


def build_closed_list(learned: Sequence[str]) -> VocabularyKind:
    """Build a vocabulary of whole symbols, such as labels, with no symbol for unknown words."""
    symbols = [*SPECIALS, *learned]
    model = {"type": "WordLevel", "vocab": assign_ids(symbols), "unk_token": "<unknown>"}
    return VocabularyKind(symbols, list_word_bytes(symbols), model, SPACE_SPLIT, None)


UNKNOWN = "<unk>"  # the class of a word with no other class
RARE = 2  # words that occur at most this often are examples when classes are chosen
EXAMPLES = 20  # a chosen class has at least this many different rare words
SYMBOLS_PER_CLASS = 10  # at most a tenth of the symbols are classes
ENDING = 3  # most letters of a class's ending


def build_word_level(classes: Sequence[str], words: Sequence[str]) -> VocabularyKind:
    """Build a vocabulary of whole words (most frequent first) and word classes (UNKNOWN first).

    A word that is not in `words` is written as its most specific class that is in `classes`.
    """
    known, known_classes = frozenset(words), frozenset(classes)

    def write_word(word: str) -> str:
        if word in known:
            return word
        return next((one for one in list_classes(word) if one in known_classes), UNKNOWN)

    symbols = [*SPECIALS, *classes, *words]
    return VocabularyKind(
        symbols,
        list_word_bytes(symbols),
        model={"type": "WordLevel", "vocab": assign_ids(symbols), "unk_token": UNKNOWN},
        pre_tokenizer=SPACE_SPLIT,
        decoder=None,
        prepare=lambda text: " ".join(write_word(word) for word in text.split(" ") if word),
    )


def read_word_level(learned: Sequence[str]) -> VocabularyKind:
    """Build a word-level vocabulary from its classes and words; ValueError if not in this order."""
    classes = [symbol for symbol in learned if is_class(symbol)]
    words = learned[len(classes) :]
    if classes[:1] != [UNKNOWN] or any(is_class(word) for word in words):
        raise ValueError("the classes of unknown words do not come first")
    return build_word_level(classes, words)


def learn_word_level(lines: Iterable[str], size: int) -> VocabularyKind:
    """Learn a vocabulary of at most `size` words and classes; InputError if `lines` has no word.

    The lines are tokenised, with spaces between words.

    Words that occur once are never symbols, so that classes have examples. Of equally frequent
    words the first by alphabet are taken, so that equal counts give equal files.
    """
    counts = Counter(word for line in lines for word in line.split(" ") if word)
    if not counts:
        raise InputError(
            "there is no text to learn a vocabulary from",
            "are the files empty, or all lines left out?",
        )
    classes = choose_classes(counts, size // SYMBOLS_PER_CLASS)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    frequent = (
        word for word in ranked if counts[word] > 1 and word not in SPECIALS and not is_class(word)
    )
    return build_word_level(classes, list(islice(frequent, size - len(SPECIALS) - len(classes))))


def choose_classes(counts: Counter[str], most: int) -> tuple[str, ...]:
    """Return UNKNOWN, then up to `most - 1` classes with the largest sets of rare words, sorted.

    Each of these classes covers at least `EXAMPLES` different rare words.
    """
    rare = (word for word, count in counts.items() if count <= RARE)
    found = Counter(one for word in rare for one in list_classes(word))
    frequent = sorted(one for one in found if found[one] >= EXAMPLES)
    chosen = sorted(frequent, key=lambda one: -found[one])[: max(most - 1, 0)]
    return (UNKNOWN, *sorted(chosen))


def list_classes(word: str) -> Iterator[str]:
    """Yield the classes that a word could have, such as <Aa*ing>, most specific first."""
    shape = find_word_shape(word)
    letters = word.lower()
    for length in range(min(ENDING, len(word) - 1), 0, -1):
        if letters[-length:].isalpha():
            yield f"<{shape}*{letters[-length:]}>"
    yield f"<{shape}>"


def find_word_shape(word: str) -> str:
    """Return a word's shape, such as Aa1-: A, Aa or a by case, 1 for any digits, - for a hyphen.

    A word with no letters has the shape "0" if it has digits, else ".".
    """
    digits = any(one.isdigit() for one in word)
    if not any(one.isalpha() for one in word):
        return "0" if digits else "."
    case = "A" if word.isupper() and len(word) > 1 else "Aa" if word[:1].isupper() else "a"
    return case + "1" * digits + "-" * ("-" in word[1:-1])


def is_class(symbol: str) -> bool:
    """Return whether a symbol is written like a class of unknown words, such as <a*ing>."""
    return len(symbol) > 2 and symbol[0] == "<" and symbol[-1] == ">"


KINDS: Mapping[str, Callable[[Sequence[Merge]], VocabularyKind]] = {
    # functions that build a vocabulary from learned merges
    "byte-pair": build_byte_pair,
    "word-piece": lambda merges: build_word_pieces(list_symbols(merges)[len(list_symbols([])) :]),
}


def read_kind(found: Any) -> VocabularyKind:  # noqa: ANN401
    """Build a vocabulary from a parsed tokenizer.json by its model type; ValueError if unknown."""
    model = found["model"]
    match model["type"]:
        case "BPE":
            return read_byte_pair(model)
        case "Unigram":  # the normaliser is part of the vocabulary
            return read_sentencepiece(found)
        case "WordPiece" | "WordLevel" as kind:
            symbols = sorted(model["vocab"], key=model["vocab"].__getitem__)
            if kind == "WordPiece":
                return read_word_pieces(symbols)
            learned = symbols[len(SPECIALS) :]
            require_words(learned)
            is_open = model["unk_token"] == UNKNOWN
            return read_word_level(learned) if is_open else build_closed_list(learned)
    raise ValueError(f"no kind of vocabulary is {model['type']!r}")


def list_symbol_bytes(symbols: Sequence[str]) -> list[bytes]:
    """Return the UTF-8 bytes of each symbol of a byte-level vocabulary; b"" for END and BEGIN."""
    values = {letter: byte for byte, letter in enumerate(byte_letters())}
    return [
        b"" if symbol in SPECIALS else bytes(values[letter] for letter in symbol)
        for symbol in symbols
    ]
