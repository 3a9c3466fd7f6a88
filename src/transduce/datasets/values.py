"""Descriptions of public corpora: their downloads, and the splits made from the downloads.

Corpus   a name, two languages, a licence, and splits
Split    train, dev or test: parts one after the other, and a filter of their pairs
Part     one collection, such as Europarl, with alternative text pairs
TextPair the text of both sides, each in a download
Download a file with its addresses, and its size and checksum if known

A treebank has splits of documents, each a download of one text with its number of trees.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from typing import NamedTuple, final
from urllib.parse import urlsplit

from transduce.errors import InputError

Pair = tuple[bytes, bytes]  # a source line and a target line, without newlines
LineReader = Callable[[Iterator[bytes]], Iterator[bytes]]  # turns a file's lines into text lines
PairFilter = Callable[[Iterable[Pair]], Iterable[Pair]]  # keeps the pairs of a split
WHOLE = "all"  # name of the split of a corpus that is not divided into train, dev and test


class WrongFileError(InputError):
    """Raised when a file on this machine is not the wanted one; no other file is then tried."""


def strip_newlines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a file's lines without their newlines; this is the line reader for plain text."""
    return (line.removesuffix(b"\n") for line in lines)


def read_table(name: str) -> Iterator[list[str]]:
    """Yield the rows, without the head, of a .tsv table that is installed beside this module."""
    table = resources.files("transduce.datasets").joinpath(name).read_text(encoding="utf-8")
    return (row.split("\t") for row in table.splitlines()[1:])


@final
@dataclass(frozen=True)
class Download:
    """A downloadable file with its addresses, size (0: unknown) and checksums ("": unknown)."""

    addresses: tuple[str, ...]
    size: int = 0
    sha256: str = ""
    md5: str = ""
    file_name: str = ""  # set if the address does not end in a file name

    @property
    def name(self) -> str:
        """The name of the file: `file_name` if set, else the end of the first address."""
        return self.file_name or PurePosixPath(urlsplit(self.addresses[0]).path).name

    @property
    def cache_name(self) -> str:
        """The file's name in the folder of downloads; it begins with a hash of the address."""
        return f"{hashlib.sha256(self.addresses[0].encode()).hexdigest()[:8]}-{self.name[-100:]}"

    @property
    def has_checksum(self) -> bool:
        """Whether a sha256 or md5 of the file is known."""
        return bool(self.sha256 or self.md5)


@final
@dataclass(frozen=True)
class Text:
    """One language of a parallel text: a file or archive member, and the reader of its lines."""

    download: Download
    member: str = ""
    reader: LineReader = strip_newlines


class TextPair(NamedTuple):
    """The two languages of a parallel text; both may be in the same download."""

    source: Text
    target: Text


@final
@dataclass(frozen=True)
class Part:
    """A collection in a split, such as Europarl; its first available text pair is used."""

    name: str
    text_pairs: tuple[TextPair, ...]
    lines: int = 0  # expected number of lines; 0 if unknown


@final
@dataclass(frozen=True)
class Split:
    """A split (train, dev, test or "all"): concatenated parts, and a filter of their pairs."""

    name: str
    parts: tuple[Part, ...]
    lines: int = 0  # expected number of lines; 0: the sum of the parts' lines
    pair_filter: PairFilter = iter  # keeps all pairs
    sha256: tuple[str, str] = ("", "")  # expected sha256 of the source and the target file

    @property
    def expected(self) -> int:
        """The expected number of lines of the split, or 0 if it is unknown."""
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
    other_splits: tuple[tuple[str, str], ...] = ()  # (split, the corpus whose test split it is)

    @property
    def size(self) -> int:
        """Total bytes of the files with the first text pair of each part; 0 if one is unknown."""
        first = [part.text_pairs[0] for split in self.splits for part in split.parts]
        sizes = [one.size for one in {text.download for pair in first for text in pair}]
        return sum(sizes) if all(sizes) else 0


@final
@dataclass(frozen=True)
class Document:
    """One file of a treebank: its name, number of trees, and the licence of its text."""

    name: str
    text: Text
    trees: int
    licence: str


@final
@dataclass(frozen=True)
class TreebankSplit:
    """A train, dev or test split of a treebank: its documents, sorted by name."""

    name: str
    documents: tuple[Document, ...]


@final
@dataclass(frozen=True)
class Treebank:
    """A public treebank of one language: name, licence, source and splits."""

    name: str
    about: str
    licence: str
    source: str  # web address of the folder with the files
    splits: tuple[TreebankSplit, ...]
    languages: tuple[str] = ("en",)

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents of all splits."""
        return tuple(document for split in self.splits for document in split.documents)

    @property
    def size(self) -> int:
        """The total size of all documents in bytes."""
        return sum(document.text.download.size for document in self.documents)
