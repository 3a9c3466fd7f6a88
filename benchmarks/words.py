"""Text that is made: words as frequent as in a language, ever new ones the longer it goes on."""

from collections.abc import Iterator

import numpy as np

MEAN = 12  # words of a line
EXPONENT = 0.75  # of Pareto's distribution of ranks: new words come as in real text
BLOCK = 10_000
SYLLABLES = [a + b + c for a in "bdfgklmnprstvz" for b in "aeiou" for c in ("", "n", "r", "s")]


def lines(count: int, seed: int) -> Iterator[str]:
    """Yield a number of random lines."""
    draws = np.random.default_rng(seed)
    while count > 0:
        lengths = np.clip(draws.gamma(6, MEAN / 6, min(count, BLOCK)), 2, 60).astype(int)
        ranks = iter(draws.pareto(EXPONENT, int(lengths.sum())).clip(max=1e12).tolist())
        for length in lengths.tolist():
            yield " ".join([spell_word(int(50 * next(ranks))) for _ in range(length)])
        count -= BLOCK


def spell_word(rank: int) -> str:
    """Return the word of a frequency rank; frequent words are short."""
    word, rest = "", rank
    while True:
        rest, place = divmod(rest, len(SYLLABLES))
        word += SYLLABLES[(place * 97 + len(word)) % len(SYLLABLES)]
        if not rest:
            return word
