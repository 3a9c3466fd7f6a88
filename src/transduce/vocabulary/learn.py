"""Learning a vocabulary's pieces from lines of text (section 5.1); whole words: kinds.py"""

import json
import random
from array import array
from collections.abc import Iterable
from typing import Any, cast

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from transduce.errors import InputError, suggest_names
from transduce.machine.limits import require_encoding_threads
from transduce.vocabulary.kinds import KINDS, build_closed_list, learn_word_level
from transduce.vocabulary.symbols import BLANKS, BYTES, SPECIALS, Merge, list_symbols
from transduce.vocabulary.vocabulary import Vocabulary, require_no_surrogates

WORD = "word"  # the kind of a vocabulary of whole words
# Measured with 37,000 symbols on 124 million characters of five corpora: a vocabulary learned from
# 20 million of them cuts unseen text into 0.2 % more pieces than one learned from all, and one
# from 10 million into 0.5 % more.
SAMPLE_CHARACTERS = 20_000_000


def learn_vocabulary(lines: Iterable[str], size: int, kind: str = "byte-pair") -> Vocabulary:
    """Learn a vocabulary of `size` symbols from lines; InputError if the text supports fewer.

    The kind "word" has fewer symbols if the text has fewer words. Equal lines give equal files.
    Pieces are learned from a random sample of at most 20 million characters, or from all lines if
    they have no more. This takes memory for the sample, and about a kilobyte for each different
    word in it.
    """
    if kind == WORD:
        return Vocabulary(learn_word_level(lines, size))
    if kind not in KINDS:
        raise InputError(f"unknown kind of vocabulary {kind!r}", suggest_names(kind, KINDS))
    smallest = len(SPECIALS) + BYTES
    if size < smallest:
        raise InputError(
            f"a vocabulary has at least {smallest} symbols, not {size}",
            "two special symbols and the 256 bytes come first",
        )
    require_encoding_threads()
    sample = sample_lines(lines)
    if not any(sample):
        raise InputError(
            "there is no text to learn a vocabulary from",
            "are the files empty, or all lines left out?",
        )
    require_no_surrogates(sample)
    vocabulary = Vocabulary(KINDS[kind](learn_merges(sample, size)))
    if len(vocabulary) < size:
        raise InputError(
            f"the text supports {len(vocabulary):,} symbols, not a vocabulary of {size:,}",
            f"--set data.vocabulary_size={len(vocabulary)}",
        )
    return vocabulary


def learn_closed_list(lines: Iterable[Iterable[str]]) -> Vocabulary:
    """Build a closed-list vocabulary of all symbols in lines; InputError if none or invalid."""
    found = sorted({symbol for line in lines for symbol in line})
    if not found:
        raise InputError("there are no labels to learn", "is the file empty?")
    require_no_surrogates(found)
    for symbol in found:
        if symbol in SPECIALS or not symbol or not BLANKS.isdisjoint(symbol):
            raise InputError(f"{symbol!r} cannot be a label", "rename it in the data")
    return Vocabulary(build_closed_list(found))


def max_vocabulary_size(lines: Iterable[str], size: int) -> int:
    """Return the largest vocabulary size, at most `size`, that can be learned from these lines."""
    return len(list_symbols(learn_merges(sample_lines(lines), size)))


def sample_lines(lines: Iterable[str]) -> list[str]:
    """Return all lines, or a random sample of them with at most `SAMPLE_CHARACTERS` characters.

    A random number in [0, 1) is drawn for each line, and the line is kept while its number is
    below `bar`, which is lowered whenever the kept lines have too many characters. Every line has
    the same probability of being kept, whatever its position. A single line is kept at any length.
    """
    draw = random.Random(1).random
    kept, draws, characters, bar = list[str](), array("d"), 0, 1.0
    for line in lines:
        drawn = draw()
        if drawn >= bar:
            continue
        kept.append(line)
        draws.append(drawn)
        characters += len(line)
        while characters > SAMPLE_CHARACTERS and len(kept) > 1:
            bar *= 0.8
            stay = [drawn < bar for drawn in draws]
            kept = [line for line, stays in zip(kept, stay, strict=True) if stays]
            draws = array("d", (drawn for drawn in draws if drawn < bar))
            characters = sum(map(len, kept))
    return kept


def learn_merges(sample: list[str], size: int) -> list[Merge]:
    """Learn byte-pair merges from sampled lines, for a vocabulary of at most `size` symbols.

    The most frequent pair within words is merged first; pairs that occur only once are not merged.
    Only the merges are taken from the library `tokenizers`, because it orders the ids of the bytes
    in another way.
    """
    tokenizer = Tokenizer(models.BPE())
    # Cut lines into words without adding a space at the start or losing a space.
    tokenizer.pre_tokenizer = cast(
        "Any", pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    )
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=list(SPECIALS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sample, trainer)
    return [(left, right) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]]
