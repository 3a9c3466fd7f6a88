"""From a file's lines to those of its text, and from all pairs to those of a split."""

import hashlib
import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from transduce.datasets.values import Pair, Reading, Taking
from transduce.errors import InputError

SEGMENT = re.compile(rb"<seg[^>]*>(.*?)</seg>", re.IGNORECASE)
SPOKEN_OF = re.compile(rb"<(title|description)>(.*?)</\1>")
HELD_OUT = 2_000  # sentences of each of the two sets that Tatoeba is cut into


def segments(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The `<seg>` of the WMT's SGML, blanks made regular, as sacreBLEU reads them."""
    for line in lines:
        found = SEGMENT.search(line)
        if found:
            yield b" ".join(found[1].split())


def spoken(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The same in the XML of the IWSLT, where `&amp;` stands for `&`."""
    for line in segments(lines):
        yield html.unescape(line.decode()).encode()


def talks(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Training text of the IWSLT: of its tagged lines, titles and descriptions are text too."""
    for line in lines:
        found = SPOKEN_OF.search(line)
        if found or not line.lstrip().startswith(b"<"):
            yield (found[2] if found else line).strip()


def column(number: int) -> Reading:
    """One column of a file with tabs; the first is 0."""

    def read(lines: Iterator[bytes]) -> Iterator[bytes]:
        for count, line in enumerate(lines, start=1):
            columns = line.removesuffix(b"\n").removesuffix(b"\r").split(b"\t")
            if len(columns) <= number:
                raise InputError(
                    f"line {count} has no column {number + 1}", "is it the right file?"
                )
            yield columns[number]

    return read


def each(step: int) -> Taking:
    """Every so-manieth pair."""
    return lambda pairs: (p for number, p in enumerate(pairs, start=1) if number % step == 0)


def but_each(step: int) -> Taking:
    """All others."""
    return lambda pairs: (p for number, p in enumerate(pairs, start=1) if number % step)


def without(runs: Iterable[tuple[int, int]]) -> Taking:
    """All but some runs of lines, given by their first and last number from 1."""
    gone = {number for first, last in runs for number in range(first, last + 1)}
    return lambda pairs: (p for number, p in enumerate(pairs, start=1) if number not in gone)


def hashed(split: str) -> Taking:
    """Train, dev or test of a corpus that has no splits of its own, cut by the hash of its text.

    Different source sentences are sorted by the sha256 of their text: the first 2,000 are the test
    set, the next 2,000 the development set, each with the translation whose sha256 is smallest.
    Of the rest, pairs whose target is any translation of those 4,000 are left out of training.
    """

    def take(pairs: Iterable[Pair]) -> Iterator[Pair]:
        translations: dict[bytes, set[bytes]] = defaultdict(set)
        for source, target in pairs:
            translations[regular(source)].add(regular(target))
        order = sorted(translations, key=digest)
        held = {"test": order[:HELD_OUT], "dev": order[HELD_OUT : 2 * HELD_OUT]}
        if split in held:
            return ((one, min(translations[one], key=digest)) for one in held[split])
        seen = set().union(*(translations[one] for one in order[: 2 * HELD_OUT]))
        rest = ((s, t) for s in order[2 * HELD_OUT :] for t in translations[s] if t not in seen)
        return iter(sorted(rest, key=lambda pair: digest(b"\t".join(pair))))

    return take


def regular(line: bytes) -> bytes:
    """Unicode's composed form, one blank between words."""
    return " ".join(unicodedata.normalize("NFC", line.decode()).split()).encode()


def digest(text: bytes) -> bytes:
    """What decides an order that nobody chose."""
    return hashlib.sha256(text).digest()
