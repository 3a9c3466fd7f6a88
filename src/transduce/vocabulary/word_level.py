"""A vocabulary of whole words for tokenised text: one symbol for each word, known or not.

A parser and a tagger write symbols per word. If a word were several pieces, the decoder would have
to count words through them (docs/internals/deviations.md says what that costs a small model).
Frequent words are symbols. Every other word is written as its class: its shape and its last
letters, such as "<Aa*ing>", as treebank parsers do with unknown words. A model learns the classes
from the words of the training text that are no symbols.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from transduce.errors import InputError
from transduce.vocabulary.symbols import (
    SPACE_SPLIT,
    SPECIALS,
    VocabularyKind,
    assign_ids,
    list_word_bytes,
    require_words,
)

UNKNOWN = "<unk>"  # the class of a word with no other class
RARE = 2  # words that occur at most this often are examples when classes are chosen
EXAMPLES = 20  # a chosen class has at least this many different rare words
SHARE = 10  # at most a tenth of the symbols are classes
ENDING = 3  # most letters of a class's ending


def build_word_level(classes: Sequence[str], words: Sequence[str]) -> VocabularyKind:
    """Build a vocabulary from classes (UNKNOWN first) and words (the most frequent first).

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


def read_word_level(model: Any) -> VocabularyKind:  # noqa: ANN401 - parsed JSON
    """Build the vocabulary from tokenizer.json's "model" entry; raise ValueError if invalid."""
    vocab = model["vocab"]
    learned = sorted(vocab, key=vocab.__getitem__)[len(SPECIALS) :]
    classes = [symbol for symbol in learned if is_class(symbol)]
    words = learned[len(classes) :]
    if classes[:1] != [UNKNOWN] or any(is_class(word) for word in words):
        raise ValueError("the classes of unknown words do not come first")
    require_words(learned)
    return build_word_level(classes, words)


def learn_word_level(lines: Iterable[str], size: int) -> VocabularyKind:
    """Learn a word-level vocabulary of at most `size` symbols from lines of tokenised text.

    Words that occur once are never symbols, so that classes have examples. Of equally frequent
    words the first by alphabet are taken, so that equal counts give equal files.
    """
    counts = Counter(word for line in lines for word in line.split(" ") if word)
    if not counts:
        raise InputError(
            "there is no text to learn a vocabulary from",
            "are the files empty, or all lines left out?",
        )
    classes = choose_classes(counts, size // SHARE)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    frequent = (
        word for word in ranked if counts[word] > 1 and word not in SPECIALS and not is_class(word)
    )
    return build_word_level(classes, list(islice(frequent, size - len(SPECIALS) - len(classes))))


def choose_classes(counts: Counter[str], most: int) -> tuple[str, ...]:
    """Return UNKNOWN and the classes that have the largest counts of rare words, `most` in all."""
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
    """Return a word's shape: "Aa", or "a1-" with digit and hyphen; without letters "0" or "."."""
    digits = any(one.isdigit() for one in word)
    if not any(one.isalpha() for one in word):
        return "0" if digits else "."
    case = "A" if word.isupper() and len(word) > 1 else "Aa" if word[:1].isupper() else "a"
    return case + "1" * digits + "-" * ("-" in word[1:-1])


def is_class(symbol: str) -> bool:
    """Return whether a symbol is written like a class of unknown words, such as <a*ing>."""
    return len(symbol) > 2 and symbol[0] == "<" and symbol[-1] == ">"
