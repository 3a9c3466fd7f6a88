"""What is known of a public corpus: where its bytes lie, what they are, and what is made of them.

Corpus   a name, two languages, a licence
Split    train, dev or test: parts one after the other, and what is taken of them
Part     one collection, such as Europarl; it may be had in several ways
Way      the text of both sides, each in a download
Download a file with a known size and hash, at one address or several
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import final
from urllib.parse import urlsplit

Pair = tuple[bytes, bytes]  # a line of each side, without its newline
Reading = Callable[[Iterator[bytes]], Iterator[bytes]]  # from a file's, with \\n, to the text's
Taking = Callable[[Iterable[Pair]], Iterable[Pair]]  # the pairs that belong to a split
WHOLE = "all"  # the split of a text that nobody cut: it serves for training and as a test


def as_they_are(lines: Iterator[bytes]) -> Iterator[bytes]:
    """One sentence a line."""
    return (line.removesuffix(b"\n") for line in lines)


def everything(pairs: Iterable[Pair]) -> Iterable[Pair]:
    """All pairs are of the split."""
    return pairs


@final
@dataclass(frozen=True)
class Download:
    """The same bytes at every address; what is not known of them is 0 or empty."""

    addresses: tuple[str, ...]
    size: int = 0
    sha256: str = ""
    md5: str = ""
    called: str = ""  # where the address does not end in a name

    @property
    def name(self) -> str:
        """What people call the file: the end of its first address."""
        return self.called or PurePosixPath(urlsplit(self.addresses[0]).path).name

    @property
    def kept_as(self) -> str:
        """Its name among all downloads, of which several may be called `train.en.gz`."""
        return f"{hashlib.sha256(self.addresses[0].encode()).hexdigest()[:8]}-{self.name}"

    @property
    def is_known(self) -> bool:
        """Whether bytes can be told from others."""
        return bool(self.sha256 or self.md5)


@final
@dataclass(frozen=True)
class Text:
    """One side: a file, or the member of an archive that fits, and how its lines are read."""

    download: Download
    member: str = ""
    reading: Reading = as_they_are


@final
@dataclass(frozen=True)
class Way:
    """One way to both sides of a part."""

    source: Text
    target: Text


@final
@dataclass(frozen=True)
class Part:
    """A collection; line i of both sides belongs together."""

    name: str
    ways: tuple[Way, ...]
    lines: int = 0  # 0: not known


@final
@dataclass(frozen=True)
class Split:
    """Parts one after the other, and those of their pairs that are meant."""

    name: str
    parts: tuple[Part, ...]
    lines: int = 0  # 0: the sum of the parts
    taking: Taking = everything
    sha256: tuple[str, str] = ("", "")  # of the two files

    @property
    def expected(self) -> int:
        """How many lines it should have; 0 if that is not known."""
        each = [part.lines for part in self.parts]
        return self.lines or (sum(each) if all(each) else 0)


@final
@dataclass(frozen=True)
class Corpus:
    """A public corpus of two languages."""

    name: str
    languages: tuple[str, str]
    about: str
    licence: str
    splits: tuple[Split, ...]
    elsewhere: tuple[tuple[str, str], ...] = ()  # splits that are corpora of their own, by name

    @property
    def downloads(self) -> tuple[Download, ...]:
        """What its first ways need, each once."""
        ways = [part.ways[0] for split in self.splits for part in split.parts]
        every = [text.download for way in ways for text in (way.source, way.target)]
        return tuple(dict.fromkeys(every))

    @property
    def size(self) -> int:
        """Bytes to be fetched; 0 if one of the downloads has no known size."""
        sizes = [download.size for download in self.downloads]
        return sum(sizes) if all(sizes) else 0
