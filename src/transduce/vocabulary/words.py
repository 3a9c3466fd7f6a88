"""Groups the pieces of a text into words, such as those between blanks."""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise


def group_words(
    values: Sequence[bytes], find_starts: Callable[[str], list[bool]]
) -> list[tuple[int, int]]:
    """Group pieces, given as bytes, into words; return each word's piece indices [first, end).

    A piece without bytes, such as END, is a word of its own. A piece begins a word if a word begins
    at its first byte that is no blank; a piece of nothing but a blank begins the word after it.
    """
    starts = find_start_bytes(b"".join(values), find_starts)
    firsts, offset, before = list[int](), 0, b""
    for index, value in enumerate(values):
        at = offset + len(value) - len(value.lstrip(b" "))
        if not (before and value) or is_blank(value) or (at in starts and not is_blank(before)):
            firsts.append(index)
        before, offset = value, offset + len(value)
    return list(pairwise([*firsts, len(values)]))


def find_start_bytes(data: bytes, find_starts: Callable[[str], list[bool]]) -> set[int]:
    """Return the byte offsets of word starts, which `find_starts` finds in the decoded text."""
    text = data.decode("utf-8", errors="surrogateescape")
    widths = [len(one.encode("utf-8", errors="surrogateescape")) for one in text]
    offsets = accumulate(widths[:-1], initial=0)
    return {at for at, start in zip(offsets, find_starts(text), strict=False) if start}


def is_blank(value: bytes) -> bool:
    """Return whether a piece is nothing but a blank."""
    return value == b" "


def find_spaced_starts(text: str) -> list[bool]:
    """Return for each character of a tokenised text whether a word begins there, after a blank."""
    return [one != " " and before == " " for before, one in zip(" " + text, text, strict=False)]
