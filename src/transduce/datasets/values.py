"""Descriptions of public corpora: their downloads, and the splits made from the downloads.

Corpus   a name, two languages, a licence, and splits
Split    train, dev or test: parts one after the other, and a filter of their pairs
Part     one collection, such as Europarl, with alternative pairs of texts, each in a download
Download a file with its addresses, and its size and checksum if known

A treebank is a corpus of one language. Its parts are documents, each with a single text of trees.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from typing import final
from urllib.parse import urlsplit

from transduce.errors import InputError

Lines = tuple[bytes, ...]  # a source line and a target line, or a single tree, without newlines
LineReader = Callable[[Iterator[bytes]], Iterator[bytes]]  # turns a file's lines into text lines
PairFilter = Callable[[Iterable[Lines]], Iterable[Lines]]  # keeps the pairs of a split
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


Texts = tuple[Text, ...]  # a source and a target, perhaps in one download; or one text of trees


@final
@dataclass(frozen=True)
class Part:
    """A collection in a split, such as Europarl, or a document of a treebank."""

    name: str
    ways: tuple[Texts, ...]  # alternatives; the first one whose files are available is used
    lines: int = 0  # expected number of lines; 0 if unknown
    licence: str = ""  # of this part alone


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
    """A public corpus of two languages, or a treebank of one: name, licence and splits."""

    name: str
    languages: tuple[str, ...]
    about: str
    licence: str
    splits: tuple[Split, ...]
    other_splits: tuple[tuple[str, str], ...] = ()  # (split, the corpus whose test split it is)
    source: str = ""  # web address of the folder with a treebank's files

    @property
    def is_treebank(self) -> bool:
        """Whether the corpus is a treebank, which has only one language."""
        return len(self.languages) == 1

    @property
    def parts(self) -> list[Part]:
        """The parts of all splits, each once."""
        return list(dict.fromkeys(part for split in self.splits for part in split.parts))

    @property
    def size(self) -> int:
        """Total bytes of every part's files of first choice; 0 if one size is unknown."""
        first = {text.download for part in self.parts for text in part.ways[0]}
        sizes = [one.size for one in first]
        return sum(sizes) if all(sizes) else 0
