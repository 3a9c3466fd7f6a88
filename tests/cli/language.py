"""Two languages of our own in text files: a word in one is the same word backwards in the other."""

import random
from pathlib import Path

WORDS = (
    *("the", "a", "dog", "cat", "man", "woman", "house", "sees", "eats", "runs", "red"),
    *("green", "big", "small", "who", "where", "now", "today", "and", "not", "very", "old"),
)


def sentences(count: int, seed: int) -> list[tuple[str, str]]:
    """So many pairs; equal ones may be among them."""
    draws = random.Random(seed)
    lines = [draws.choices(WORDS, k=draws.randint(2, 9)) for _ in range(count)]
    return [(" ".join(line) + ".", " ".join(word[::-1] for word in line) + ".") for line in lines]


def write(path: Path, lines: list[str]) -> Path:
    """A text file."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def write_corpus(folder: Path, pairs: int = 200) -> Path:
    """a.en, a.de for training and d.en, d.de to look at."""
    for name, count, seed in (("a", pairs, 1), ("d", 20, 2)):
        for side, lines in zip(
            ("en", "de"), zip(*sentences(count, seed), strict=True), strict=True
        ):
            write(folder / f"{name}.{side}", list(lines))
    return folder
