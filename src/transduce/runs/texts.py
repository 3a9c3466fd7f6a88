"""Parallel texts: two files, files in a task's format, pairs in memory, or a generated corpus"""

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol, final, runtime_checkable

from transduce import phrasebook
from transduce.corpus import toys
from transduce.durable.folder import is_nearly_empty
from transduce.errors import InputError
from transduce.settings import Data
from transduce.settings.fields import require
from transduce.tasks import TaskKind, find_task_kind
from transduce.text.clean import EMPTY, Cleaner
from transduce.text.files import read_pairs, read_pairs_tsv

Pair = tuple[str, str]
GENERATED = ("phrasebook", "toy-copy", "toy-reverse", "toy-sort")  # corpora that need no files


@runtime_checkable
class Pairs(Protocol):
    """A parallel text that can be read more than once."""

    def read(self) -> Iterator[Pair]:
        """Yield every (source, target) pair; each call begins with the first pair."""
        ...

    def fingerprint(self) -> str:
        """Return a string that identifies the pairs: equal for equal content."""
        ...


@final
@dataclass(frozen=True)
class FilePair:
    """A parallel text in two files: line i of `target` translates line i of `source`."""

    source: Path
    target: Path

    def read(self) -> Iterator[Pair]:
        """Yield (source line, target line) of every line; refuse files of unequal line counts."""
        require_file(self.source)
        require_file(self.target)
        return read_pairs(self.source, self.target)

    def fingerprint(self) -> str:
        """Return the sha256 of both files as one string."""
        return f"{hash_file(self.source)} {hash_file(self.target)}"


@final
@dataclass(frozen=True)
class TaskFiles:
    """Files that hold source and target in a task's format: TSV columns, trees, or tagged tokens.

    The path may also be the folder of a treebank, from which one split is read.
    """

    path: Path
    kind: TaskKind
    split: str = "train"
    columns: tuple[int, int] | None = None  # of source and target, in a TSV file with more columns

    def read(self) -> Iterator[Pair]:
        """Yield (source, target) for every line, tree or tagged sentence of the files."""
        for file in self.list_files():
            if self.columns is None:
                yield from self.kind.read_file(file)
            else:
                yield from read_pairs_tsv(file, self.columns)

    def fingerprint(self) -> str:
        """Return the sha256 of the file; for a folder, the sha256 of the hashes of its files."""
        hashes = [hash_file(file) for file in self.list_files()]
        found = (
            hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
        )
        return found if self.columns is None else "{} columns {},{}".format(found, *self.columns)

    def list_files(self) -> Sequence[Path]:
        """Return the files of the split; refuse pipes, which cannot be read twice."""
        files = self.kind.list_files(self.path, self.split)
        for file in files:
            require_file(file)
        return files


@final
@dataclass(frozen=True)
class MixedPairs:
    """Training pairs mixed with added pairs, such as gold trees with silver ones.

    Each main pair is followed by `ratio` added pairs on average. The text that ends first is
    repeated until the other one has been read once.
    """

    main: Pairs
    added: Pairs
    ratio: float
    names: tuple[str, str] = ("gold", "silver")  # names of main and added text in errors

    def __post_init__(self) -> None:
        fact = f"{self.ratio:g} {self.names[1]} pairs for each of the {self.names[0]} ones"
        require(0.001 <= self.ratio <= 1000, fact, "choose a ratio between 0.001 and 1,000")

    def read(self) -> Iterator[Pair]:
        """Yield main and added pairs, with `ratio` added pairs after each main pair on average."""
        main, added = map(RepeatedPairs, self.names, (self.main, self.added))
        due = 0.0
        while not (main.was_read and added.was_read):
            yield (main if due < 1 else added).take()
            due += self.ratio if due < 1 else -1.0

    def fingerprint(self) -> str:
        """Return the main fingerprint, the ratio and the added fingerprint as one string."""
        return f"{self.main.fingerprint()} mixed 1:{self.ratio} {self.added.fingerprint()}"


@final
class RepeatedPairs:
    """An endless stream of the pairs of a text, which starts again after the last pair."""

    def __init__(self, name: str, pairs: Pairs) -> None:
        self.pairs, self.was_read = pairs, False  # whether every pair has been taken once
        self.rest = pairs.read()
        self.following = next(self.rest, None)
        require(
            self.following is not None,
            f"the {name} text is empty, and cannot be mixed in",
            "look at the files",
        )

    def take(self) -> Pair:
        """Return the next pair of the text; after the last pair, the first one again."""
        taken, self.following = self.following, next(self.rest, None)
        if self.following is None:
            self.was_read, self.rest = True, self.pairs.read()
            self.following = next(self.rest)
        assert taken is not None
        return taken


@final
@dataclass(frozen=True)
class InMemoryPairs:
    """A parallel text in memory: a tuple of (source, target) pairs."""

    pairs: tuple[Pair, ...]

    def read(self) -> Iterator[Pair]:
        """Yield every (source, target) pair in memory."""
        return iter(self.pairs)

    def fingerprint(self) -> str:
        """Return the number of pairs and the sha256 of all their lines."""
        digest = hashlib.sha256()
        for line in chain.from_iterable(self.pairs):
            content = line.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
        return f"pairs {len(self.pairs)} {digest.hexdigest()}"


@final
@dataclass(frozen=True)
class GeneratedCorpus:
    """A parallel text that needs no files of the user: the phrasebook, or a generated toy task."""

    corpus: str
    split: str  # "train", "dev", "test"; the phrasebook also has "combinations"
    count: int

    def read(self) -> Iterator[Pair]:
        """Yield the first `count` pairs."""
        if self.corpus == "phrasebook":
            return phrasebook.pairs(self.split, self.count)
        seed = 10 + ("train", "dev", "test").index(self.split)
        return toys.generate_pairs(self.corpus.removeprefix("toy-"), self.count, seed)

    def fingerprint(self) -> str:
        """Return a string of all that determines the pairs: corpus, split, count, seed, version.

        The seed is always 1; it could once be chosen.
        """
        grammar = f" grammar {phrasebook.VERSION}" if self.corpus == "phrasebook" else ""
        return f"{self.corpus} {self.split} {self.count} 1{grammar}"


def take_pairs(pairs: Pairs, count: int) -> Iterator[Pair]:
    """Yield the first `count` pairs of a text, or all pairs if `count` is 0."""
    return islice(pairs.read(), count or None)


def clean_pairs(cleaner: Cleaner, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the pairs that cleaning keeps; raise InputError with the reasons if it keeps none."""
    yield from cleaner.clean(pairs)
    report, kind = cleaner.report, find_task_kind(cleaner.data)
    require(report.read > 0, "the text is empty", "look at the files")
    reasons = "; ".join(f"{reason}: {found.count:,}" for reason, found in report.dropped.items())
    hint = "look at the text, or change the rule: --set data.drop_identical=false and so on"
    if list(report.dropped) == [EMPTY]:
        hint = "one side of every pair is blank: are these the right files?"
        if kind.unusable != EMPTY:  # the reader's error is in place of a tree
            why = report.dropped[EMPTY].samples[0]["target"]
            reasons, hint = why or kind.unusable, f"are these the right files? {kind.options}"
    fact = f"no {kind.unit} is left of {report.read:,}, all were left out ({reasons})"
    require(report.kept > 0, fact, hint)


def build_dev_settings(data: Data) -> Data:
    """Return data settings that let cleaning drop only empty or too long development pairs."""
    return dataclasses.replace(
        data,
        max_length_ratio=float(data.max_characters),
        drop_identical=False,
        drop_duplicates=False,
    )


def require_file(path: Path) -> None:
    """Refuse a path that is no regular file, because training text is read more than once."""
    hint = "write it to a file first"
    if str(path) == "-":
        raise InputError(
            "training text cannot come from standard input: it is read more than once", hint
        )
    if path.exists() and not path.is_file():
        fact = "is no regular file, and training text is read more than once"
        raise InputError(fact, hint, file=path)


def hash_parts(text: Pairs) -> Iterator[tuple[str, str]]:
    """Yield the name and the sha256 of each file of a text, or of the pairs in memory."""
    match text:
        case MixedPairs():
            yield from hash_parts(text.main)
            yield from hash_parts(text.added)
        case FilePair():
            files = (text.source, text.target)
            hashes = text.fingerprint().split()
            yield from zip(map(decode_name, files), hashes, strict=True)
        case TaskFiles():
            yield decode_name(text.path), text.fingerprint()
        case InMemoryPairs():
            yield f"{len(text.pairs):,} pairs in memory", text.fingerprint().split()[-1]
        case _:
            yield "pairs", text.fingerprint()


def decode_name(file: Path) -> str:
    """Return a file's name as valid Unicode, whatever its bytes are."""
    return os.fsencode(file.name).decode("utf-8", "replace")


def hash_file(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    require_file(path)
    try:
        with path.open("rb") as file:
            if is_nearly_empty(file.fileno()):
                fact = "is a sparse file: the disk holds less than a thousandth of its bytes"
                raise InputError(fact, "copy the text again", file=path)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", "check the path and its rights", file=path
        ) from error
