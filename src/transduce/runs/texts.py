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
from transduce.corpus.mixture import Share
from transduce.durable.folder import is_nearly_empty
from transduce.errors import InputError
from transduce.settings import Data
from transduce.settings.fields import require
from transduce.tasks import TaskKind, find_task_kind
from transduce.text.clean import EMPTY, RULES, Cleaner
from transduce.text.files import explain_read_errors, read_pairs, read_pairs_tsv
from transduce.text.pair_files import Columns, read_pair_file, require_one_side
from transduce.vocabulary import BEGIN

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

    def __post_init__(self) -> None:
        require_one_side(self.source)
        require_one_side(self.target)

    def read(self) -> Iterator[Pair]:
        """Yield (source line, target line) of every line; refuse files of unequal line counts."""
        require_file(self.source)
        require_file(self.target)
        return read_pairs(self.source, self.target)

    def fingerprint(self) -> str:
        """Return the sha256 of both files as one string."""
        return f"{hash_file(self.source)} {hash_file(self.target)}"


OTHER_WAYS = "--columns 1,2 chooses two columns, --source and --target name two files"


@final
@dataclass(frozen=True)
class TaskFiles:
    """Files that hold source and target in a task's format, such as pairs, trees or labels.

    The path may also be the folder of a treebank, from which one split is read.
    """

    path: Path
    kind: TaskKind
    split: str = "train"
    columns: Columns | None = None  # of source and target, as `read_pair_file` takes them

    def read(self) -> Iterator[Pair]:
        """Yield (source, target) for every line, tree or tagged sentence of the files."""
        for file in self.list_files():
            if self.kind.read_file is read_pairs_tsv:
                yield from read_pair_file(file, self.columns, OTHER_WAYS)
            else:
                yield from self.kind.read_file(file)

    def fingerprint(self) -> str:
        """Return the sha256 of the file; for a folder, the sha256 of the hashes of its files.

        If the file lists pictures or sounds, the pairs that they give are hashed. Chosen columns
        are added to the string.
        """
        if not self.kind.has_languages:  # the content of the listed files counts, too
            return InMemoryPairs(tuple(self.read())).fingerprint().split()[-1]
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
class MixedText:
    """One text of a mixture, and its `Share`: name, weight, the updates that read it, and tag."""

    pairs: Pairs
    share: Share


@final
@dataclass(frozen=True)
class MixedPairs:
    """Several texts that updates read in shares: a user's own, then added ones such as old pairs.

    After its last pair a text begins anew, in another order, so that its share stays the same.
    """

    texts: tuple[MixedText, ...]

    @property
    def main(self) -> Pairs:
        """The main text without added texts, such as gold trees without silver trees."""
        main = tuple(text for text in self.texts if not text.share.is_added)
        return main[0].pairs if len(main) == 1 else MixedPairs(main)

    @property
    def ratio(self) -> float:
        """The number of added pairs read for each main pair, while all texts are read."""
        return sum(text.share.weight for text in self.texts if text.share.is_added)

    def read(self) -> Iterator[Pair]:
        """Yield all pairs once, text by text."""
        return chain.from_iterable(text.pairs.read() for text in self.texts)

    def fingerprint(self) -> str:
        """Return a string of the texts' fingerprints, weights, tags and ranges of updates."""
        first, *others = self.texts
        parts = [first.pairs.fingerprint()]
        first_weight = first.share.weight or 1.0
        for text in others:
            share = text.share
            parts.append(f"mixed {first_weight:g}:{share.weight}" if share.weight else "and")
            parts += [f"tagged by {BEGIN}"] * share.is_tagged
            parts += [f"from {share.start} to {share.stop}"] * ((share.start, share.stop) != (1, 0))
            parts.append(text.pairs.fingerprint())
        if (first.share.start, first.share.stop) != (1, 0):
            parts.append(f"the first from {first.share.start} to {first.share.stop}")
        return " ".join(parts)


def add_pairs(main: Pairs, added: Pairs, ratio: float, names: tuple[str, str]) -> MixedPairs:
    """Return `main` with `added` mixed in: `ratio` added pairs are read per pair of the main text.

    `names` are the names of both texts, such as "gold" and "silver".
    """
    fact = f"{ratio:g} {names[1]} pairs for each of the {names[0]} ones"
    require(0.001 <= ratio <= 1000, fact, "choose a ratio between 0.001 and 1,000")
    share = Share(name=names[1], weight=ratio, is_added=True)
    texts = main.texts if isinstance(main, MixedPairs) else (MixedText(main, Share(name=names[0])),)
    return MixedPairs((*texts, MixedText(added, share)))


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
        """Yield the first `self.count` pairs of the corpus' split."""
        if self.corpus == "phrasebook":
            return phrasebook.pairs(self.split, self.count)
        seed = 10 + ("train", "dev", "test").index(self.split)
        return toys.generate_pairs(self.corpus.removeprefix("toy-"), self.count, seed)

    def fingerprint(self) -> str:
        """Return a string of all that determines the pairs: corpus, split, count, seed, version.

        The seed in the string is always 1.
        """
        grammar = f" grammar {phrasebook.VERSION}" if self.corpus == "phrasebook" else ""
        return f"{self.corpus} {self.split} {self.count} 1{grammar}"


def take_pairs(pairs: Pairs, count: int) -> Iterator[Pair]:
    """Yield the first `count` pairs of a text, or all pairs if `count` is 0."""
    return islice(pairs.read(), count or None)


def clean_pairs(cleaner: Cleaner, pairs: Iterable[Pair], name: str = "") -> Iterator[Pair]:
    """Yield the pairs that cleaning keeps of text `name`; InputError with reasons if it keeps none.

    `name` is the name of this text in a mixture.
    """
    report, kind = cleaner.report, find_task_kind(cleaner.data)
    before = report.read, report.kept
    dropped = {reason: found.count for reason, found in report.dropped.items()}
    yield from cleaner.clean(pairs)
    read, kept = report.read - before[0], report.kept - before[1]
    place = f"{name}: " if name else ""
    require(read > 0, f"{place}the text is empty", "look at its files: they have no lines")
    counts = {one: found.count - dropped.get(one, 0) for one, found in report.dropped.items()}
    here = {reason: count for reason, count in counts.items() if count}
    reasons = "; ".join(f"{reason}: {count:,}" for reason, count in here.items())
    rules = " ".join(f"--set {RULES[one]}" for one in here if one in RULES)
    is_known = bool(name) and list(here) == ["duplicate"]
    look = "they stand in the other texts already" if is_known else "look at the text"
    hint = look + f", or change the rule: {rules}" * bool(rules)
    if list(here) == [EMPTY]:
        hint = "one side of every pair is blank: are these the right files?"
        if kind.unusable != EMPTY:  # the reader's error is in place of a tree
            why = report.dropped[EMPTY].samples[0]["target"]
            reasons, hint = why or kind.unusable, f"are these the right files? {kind.options}"
    fact = f"{place}no {kind.unit} is left of {read:,}, all were left out ({reasons})"
    require(kept > 0, fact, hint)


def build_dev_settings(data: Data) -> Data:
    """Return data settings that let cleaning drop only empty or too long development pairs."""
    return dataclasses.replace(
        data,
        max_length_ratio=float(data.max_characters),
        drop_identical=False,
        drop_duplicates=False,
    )


def require_file(path: Path) -> None:
    """Refuse standard input, folders and special files, as training text is read repeatedly.

    A missing file is not refused.
    """
    hint = "write it to a file first"
    if str(path) == "-":
        raise InputError(
            "training text cannot come from standard input: it is read more than once", hint
        )
    if path.is_dir():
        raise InputError("is a folder, and a text is a file", "name a file in it", file=path)
    if path.exists() and not path.is_file():
        fact = "is no regular file, and training text is read more than once"
        raise InputError(fact, hint, file=path)


def hash_parts(text: Pairs) -> Iterator[tuple[str, str]]:
    """Yield the name and the sha256 of each file of a text, or of the pairs in memory."""
    match text:
        case MixedPairs():
            for one in text.texts:
                yield from hash_parts(one.pairs)
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


def list_pairs(text: Pairs) -> list[tuple[str, str]]:
    """Return a text's pairs to score; those of a file only if their source is not empty."""
    return [one for one in text.read() if one[0] or not isinstance(text, TaskFiles)]


def decode_name(file: Path, parts: int = 1) -> str:
    """Return the last `parts` of a file's path as valid Unicode, whatever its bytes are."""
    return os.fsencode(Path(*file.parts[-parts:])).decode("utf-8", "replace")


def hash_file(path: Path) -> str:
    """Return a file's sha256; raise InputError if the file is special, sparse or unreadable."""
    require_file(path)
    with explain_read_errors(str(path), str), path.open("rb") as file:
        if is_nearly_empty(file.fileno()):
            fact = "is a sparse file: the disk holds less than a thousandth of its bytes"
            raise InputError(fact, "copy the text again", file=path)
        return hashlib.file_digest(file, "sha256").hexdigest()
