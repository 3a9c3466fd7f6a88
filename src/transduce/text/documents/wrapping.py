"""Wrapping of words into lines of a limited width, or evenly into a limited number of lines."""

from collections.abc import Callable, Sequence

Measure = Callable[[str], int]  # returns the number of characters that a word takes in a line


def wrap(
    words: Sequence[str], width: int, measure: Measure = len, indents: tuple[int, int] = (0, 0)
) -> list[str]:
    """Join words into lines of at most `width` characters, unless a word is longer.

    `indents` are the columns to leave free in the first line and in all other lines.
    """
    lines, room = list[list[str]](), 0
    for word in words:
        length = measure(word)
        if not lines or length + 1 > room:
            room = width + 1 - indents[bool(lines)]
            lines.append([])
        lines[-1].append(word)
        room -= length + 1
    return [" ".join(line) for line in lines]


def wrap_evenly(words: Sequence[str], count: int, measure: Measure = len) -> list[str]:
    """Join words into at most `count` lines so that the longest line is as short as possible."""
    low, high = 1, sum(map(measure, words)) + len(words)
    while low < high:
        middle = (low + high) // 2
        if len(wrap(words, middle, measure)) > count:
            low = middle + 1
        else:
            high = middle
    return wrap(words, high, measure)
