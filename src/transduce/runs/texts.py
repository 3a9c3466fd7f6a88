"""Where pairs come from: two files, one file with tabs, or a generator of our own."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, final, runtime_checkable

from transduce import phrasebook
from transduce.corpus import toys
from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.text.clean import Cleaner
from transduce.text.files import read_pairs, read_pairs_tsv

Pair = tuple[str, str]
GENERATED = ("phrasebook", "toy-copy", "toy-reverse", "toy-sort")  # corpora that need no files


@runtime_checkable
class Pairs(Protocol):
    """A parallel text that can be read more than once."""

    def read(self) -> Iterator[Pair]:
        """Every pair, from the first."""
        ...

    def fingerprint(self) -> str:
        """Equal for equal content."""
        ...


@final
@dataclass(frozen=True)
class FilePair:
    """Line i of one file with line i of the other."""

    source: Path
    target: Path

    def read(self) -> Iterator[Pair]:
        """Every pair; unequal counts are refused."""
        require_file(self.source)
        require_file(self.target)
        return read_pairs(self.source, self.target)

    def fingerprint(self) -> str:
        """sha256 of both files."""
        return f"{file_hash(self.source)} {file_hash(self.target)}"


@final
@dataclass(frozen=True)
class TsvFile:
    """Source and target on one line, a tab between."""

    path: Path

    def read(self) -> Iterator[Pair]:
        """Every pair."""
        require_file(self.path)
        return read_pairs_tsv(self.path)

    def fingerprint(self) -> str:
        """sha256 of the file."""
        return file_hash(self.path)


@final
@dataclass(frozen=True)
class GeneratedCorpus:
    """Pairs that a seed yields: the phrasebook's sentences, or a toy."""

    corpus: str
    split: str  # "train", "dev", "test"; the phrasebook also has "combinations"
    count: int
    seed: int = 1

    def read(self) -> Iterator[Pair]:
        """As many pairs as were asked for."""
        if self.corpus == "phrasebook":
            return phrasebook.pairs(self.split, self.count, self.seed)
        seed = self.seed * 10 + ("train", "dev", "test").index(self.split)
        return toys.pairs(self.corpus.removeprefix("toy-"), self.count, seed)

    def fingerprint(self) -> str:
        """What decides the pairs."""
        grammar = f" grammar {phrasebook.VERSION}" if self.corpus == "phrasebook" else ""
        return f"{self.corpus} {self.split} {self.count} {self.seed}{grammar}"


def first(pairs: Pairs, count: int) -> Iterator[Pair]:
    """The first so many pairs; 0 is all."""
    return islice(pairs.read(), count or None)


def cleaned(cleaner: Cleaner, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs that stay; if none does, why."""
    yield from cleaner.clean(pairs)
    report = cleaner.report
    require(report.read > 0, "the text is empty", "look at the files")
    reasons = "; ".join(f"{reason}: {found.count:,}" for reason, found in report.dropped.items())
    require(
        report.kept > 0,
        f"no pair is left of {report.read:,}, all were left out ({reasons})",
        "look at the text, or change the rule: --set data.drop_identical=false and so on",
    )


def require_file(path: Path) -> None:
    """Training text is read more than once, which a pipe cannot give."""
    hint = "write it to a file first"
    if str(path) == "-":
        raise InputError(
            "training text cannot come from standard input: it is read more than once", hint
        )
    if path.exists() and not path.is_file():
        fact = "is no regular file, and training text is read more than once"
        raise InputError(fact, hint, file=path)


def file_hash(path: Path) -> str:
    """sha256 of a file's bytes."""
    require_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", "check the path and its rights", file=path
        ) from error
