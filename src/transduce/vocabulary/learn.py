"""Learning a vocabulary's pieces from lines of text    (section 5.1)"""

import json
import random
from array import array
from collections.abc import Iterable
from typing import Any, cast

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from transduce.errors import InputError, suggest_names
from transduce.vocabulary.kinds import KINDS
from transduce.vocabulary.symbols import BYTES, SPECIALS, Merge, list_symbols
from transduce.vocabulary.vocabulary import Vocabulary, require_no_surrogates

# Measured on 124 million characters of five corpora, 37,000 symbols: from 20 million of them the
# vocabulary needs 0.2 % more pieces for unseen text than from all, from 10 million 0.5 %.
SAMPLE_CHARACTERS = 20_000_000


def learn_vocabulary(lines: Iterable[str], size: int, kind: str = "byte-pair") -> Vocabulary:
    """Learn a vocabulary of exactly `size` symbols from lines; equal lines give equal bytes.

    The lines are a stream of any length. Memory is bounded by what learning looks at, a sample of
    at most 20 million characters: the sample itself, and about a kilobyte for each different word
    in it. Shorter text is used whole.
    """
    if kind not in KINDS:
        raise InputError(f"unknown kind of vocabulary {kind!r}", suggest_names(kind, KINDS))
    smallest = len(SPECIALS) + BYTES
    if size < smallest:
        raise InputError(
            f"a vocabulary has at least {smallest} symbols, not {size}",
            "two special symbols and the 256 bytes come first",
        )
    sample = sample_lines(lines)
    if not any(sample):
        raise InputError(
            "there is no text to learn a vocabulary from",
            "are the files empty, or all lines left out?",
        )
    require_no_surrogates(sample)
    vocabulary = Vocabulary(KINDS[kind].from_merges(learn_merges(sample, size)))
    if len(vocabulary) < size:
        raise InputError(
            f"the text supports {len(vocabulary)} symbols, not a vocabulary of {size}",
            f"--set data.vocabulary_size={len(vocabulary)}",
        )
    return vocabulary


def max_vocabulary_size(lines: Iterable[str], size: int) -> int:
    """Return how many symbols, up to `size`, a vocabulary learned from these lines can have."""
    return len(list_symbols(learn_merges(sample_lines(lines), size)))


def sample_lines(lines: Iterable[str]) -> list[str]:
    """Return all lines, or a random sample of them with at most `SAMPLE_CHARACTERS` characters.

    Each line draws a number and stays while it is below a bar; when the lines that stay are too
    many, the bar goes down. Every line has the same chance, wherever in the stream it is.
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
    """Learn byte-pair merges up to `size` symbols, the most frequent pair within words first.

    A pair seen once teaches nothing and is not joined. The library numbers bytes in another order
    than we do, so only the merges are taken from it.
    """
    tokenizer = Tokenizer(models.BPE())
    # bytes under a space-keeping regular expression: no blank is put in front, none is lost
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
