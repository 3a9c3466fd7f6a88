"""What is known of a public corpus: its downloads, and how its splits are made of them.

Corpus   a name, two languages, a licence
Split    train, dev or test: parts one after the other, and what is taken of them
Part     one collection, such as Europarl; with alternative text pairs
TextPair the text of both sides, each in a download
Download a file with a known size and hash, at one address or several
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import final
from urllib.parse import urlsplit

Pair = tuple[bytes, bytes]  # a line of each side, without its newline
LineReader = Callable[[Iterator[bytes]], Iterator[bytes]]  # from a file's, with \\n, to the text's
PairFilter = Callable[[Iterable[Pair]], Iterable[Pair]]  # the pairs that belong to a split
WHOLE = "all"  # the split of a text that nobody cut: it serves for training and as a test


def strip_newlines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file that has one sentence a line, without newlines."""
    return (line.removesuffix(b"\n") for line in lines)


def keep_all(pairs: Iterable[Pair]) -> Iterable[Pair]:
    """Return all pairs: the filter of a split that drops none."""
    return pairs


@final
@dataclass(frozen=True)
class Download:
    """One file, the same bytes at every address; size and checksums are 0 or "" if unknown."""

    addresses: tuple[str, ...]
    size: int = 0
    sha256: str = ""
    md5: str = ""
    file_name: str = ""  # where the address does not end in a name

    @property
    def name(self) -> str:
        """The file name: the end of the first address unless it is given."""
        return self.file_name or PurePosixPath(urlsplit(self.addresses[0]).path).name

    @property
    def cache_name(self) -> str:
        """The file name in the folder of downloads, made unique by a hash of the address."""
        return f"{hashlib.sha256(self.addresses[0].encode()).hexdigest()[:8]}-{self.name}"

    @property
    def has_checksum(self) -> bool:
        """Whether a sha256 or md5 of the file is known."""
        return bool(self.sha256 or self.md5)


@final
@dataclass(frozen=True)
class Text:
    """One side of a text: a file or archive member, and the reader of its lines."""

    download: Download
    member: str = ""
    reader: LineReader = strip_newlines


@final
@dataclass(frozen=True)
class TextPair:
    """Both sides of a part's text, each in a download."""

    source: Text
    target: Text


@final
@dataclass(frozen=True)
class Part:
    """One collection of a split, such as Europarl, with alternative downloads of its text."""

    name: str
    text_pairs: tuple[TextPair, ...]
    lines: int = 0  # 0: not known


@final
@dataclass(frozen=True)
class Split:
    """Train, dev or test: parts in order, and the filter that picks the split's pairs."""

    name: str
    parts: tuple[Part, ...]
    lines: int = 0  # 0: the sum of the parts
    pair_filter: PairFilter = keep_all
    sha256: tuple[str, str] = ("", "")  # of the two files

    @property
    def expected(self) -> int:
        """The expected number of lines, or 0 if it is unknown."""
        each = [part.lines for part in self.parts]
        return self.lines or (sum(each) if all(each) else 0)


@final
@dataclass(frozen=True)
class Corpus:
    """A public corpus of two languages: name, licence and splits."""

    name: str
    languages: tuple[str, str]
    about: str
    licence: str
    splits: tuple[Split, ...]
    other_splits: tuple[tuple[str, str], ...] = ()  # splits that are corpora of their own, by name

    @property
    def downloads(self) -> tuple[Download, ...]:
        """The downloads that the first alternative of every part needs, each once."""
        text_pairs = [part.text_pairs[0] for split in self.splits for part in split.parts]
        every = [
            text.download
            for text_pair in text_pairs
            for text in (text_pair.source, text_pair.target)
        ]
        return tuple(dict.fromkeys(every))

    @property
    def size(self) -> int:
        """The bytes to download, or 0 if a download's size is unknown."""
        sizes = [download.size for download in self.downloads]
        return sum(sizes) if all(sizes) else 0
