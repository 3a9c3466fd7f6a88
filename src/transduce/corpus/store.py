"""The store: a corpus as token ids on disk, with a manifest of its inputs and settings.

    source.ids      target.ids       token ids, in the smallest unsigned type for the vocabulary
    source.offsets  target.offsets   index of each sentence's first id, then the number of ids
    pairs.tsv                        the text of every pair, in a development set only
    manifest.json                    inputs, settings, vocabularies, versions, counts, sha256 sums

Opening a store checks the sha256 of every file, in about a second per GB. Ids stay on disk. A run
that is trained on a store has the entries of the manifest in its data.json.
"""

import dataclasses
import hashlib
import os
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, cast, final

import numpy as np
from jaxtyping import Int, Int32, Int64, UInt

from transduce.corpus.mixture import MIXTURE, Share
from transduce.durable.folder import (
    MANIFEST,
    VerifiedFolder,
    open_folder,
    read_regular,
    unreadable_error,
)
from transduce.durable.json import from_checksummed_json, parse_record
from transduce.errors import FolderError
from transduce.settings import Data
from transduce.settings.data import CHANGES
from transduce.vocabulary import BEGIN, END, Vocabulary

# N: sentences · T: tokens of all sentences together · P: sentences of a batch

SIDES = ("source", "target")
IdType = np.dtype[np.unsignedinteger]
OFFSETS = np.dtype("<u8")
IDS_AT_ONCE = 1 << 22  # number of ids that are checked at once
DAMAGED_HINT = "the store is damaged or was edited: delete it and prepare it again"
STORE_KIND = "store"
TEXTS, DATA = "pairs.tsv", "data.json"
MAX_SYMBOLS = 1 << 31
# settings that do not affect a store's content
READING = ("source_tokens", "target_tokens", *CHANGES)


@final
@dataclass(frozen=True)
class Store:
    """A prepared corpus on disk: sentence pairs as token ids, each side closed by END."""

    source: "Side"
    target: "Side"
    about: Mapping[str, Any]  # the manifest's entries, such as counts and provenance
    fingerprint: str  # sha256 of the ids, the vocabularies and the shares of a mixture
    folder: Path
    mixture: tuple[Share, ...] = ()  # a mixture's texts, in the order of their pairs

    @staticmethod
    def open(folder: Path) -> "Store":
        """Open a store; FolderError if a file's size, sha256 or content is wrong."""
        verified = open_folder(folder, STORE_KIND)
        if TEXTS in verified.files:
            verified.verified_path(TEXTS)
        symbols, pairs = read_counts(verified)
        mixture = read_mixture(verified.about, folder / MANIFEST)
        ends = list(accumulate(share.pairs for share in mixture))
        tagged = [
            range(end - share.pairs, end)
            for share, end in zip(mixture, ends, strict=True)
            if share.is_tagged
        ]
        source = open_side(verified, "source", symbols["source"], pairs, tagged)
        target = open_side(verified, "target", symbols["target"], pairs)
        return Store(source, target, verified.about, hash_content(verified), folder, mixture)

    def require_provenance(self, origin: Mapping[str, object]) -> None:
        """Raise FolderError unless the store was built from the inputs and settings in `origin`."""
        wanted = flatten_tables(origin)
        found = flatten_tables({name: self.about.get(name) for name in origin})
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                values = f"expected {wanted.get(name)!r}, found {found.get(name)!r}"
                hint = "delete the store and prepare it again, or take back what was changed"
                fact = f"the store is stale: {name}: {values}"
                raise FolderError(fact, hint, file=self.folder / MANIFEST)

    def read_texts(self) -> list[tuple[str, str]]:
        """Return all pairs' normalised (source, target) texts; FolderError if they are not stored.

        Stores of training data have no texts.
        """
        file, content = self.folder / TEXTS, open_folder(self.folder, STORE_KIND).read(TEXTS)
        lines = content.decode(errors="replace").split("\n")[:-1]
        require_consistent(len(lines) == len(self), file, f"{len(self):,} lines", f"{len(lines):,}")
        pairs = [line.split("\t") for line in lines]
        is_plain = all(len(pair) == 2 for pair in pairs)
        require_consistent(is_plain, file, "a source, a tab and a target on every line", "others")
        return [(source, target) for source, target in pairs]

    def __len__(self) -> int:
        return len(self.source.lengths)

    @property
    def source_lengths(self) -> Int32[np.ndarray, " N"]:
        """The number of tokens of each of the N source sentences, END included."""
        return self.source.lengths

    @property
    def target_lengths(self) -> Int32[np.ndarray, " N"]:
        """The number of tokens of each of the N target sentences, END included."""
        return self.target.lengths

    def pair(self, index: int) -> tuple[Int[np.ndarray, " S"], Int[np.ndarray, " T"]]:
        """Return the S source ids and the T target ids of the pair at `index`, from 0."""
        one = np.array([index])
        return self.source.gather(one), self.target.gather(one)


def build_provenance(
    inputs: Mapping[str, str], vocabularies: Iterable[Vocabulary], data: Data
) -> dict[str, object]:
    """Build the record of all that determines a store: input and vocabulary hashes, settings."""
    newer = {"source_row": 0, "target_row": 0}  # left out at 0, because older stores lack them
    settings = dataclasses.asdict(data).items()
    return {
        "inputs": dict(inputs),
        "vocabularies": dict(zip(SIDES, (each.hash for each in vocabularies), strict=True)),
        "data": {
            name: value
            for name, value in settings
            if name not in READING and newer.get(name) != value
        },
    }


def flatten_tables(values: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Return nested dicts as one dict with dotted keys, such as data.max_length."""
    found: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flatten_tables(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def read_counts(verified: VerifiedFolder) -> tuple[dict[str, int], int]:
    """Return a manifest's (vocabulary size by side, number of pairs); FolderError if malformed."""
    match verified.about:
        case {
            "symbols": {"source": int(source), "target": int(target)},
            "pairs": {"kept": int(kept)},
        } if 0 < source <= MAX_SYMBOLS and 0 < target <= MAX_SYMBOLS and kept > 0:
            return {"source": source, "target": target}, kept
    fact = "has no usable counts of symbols and pairs"
    raise FolderError(fact, DAMAGED_HINT, file=verified.folder / MANIFEST)


def hash_content(verified: VerifiedFolder) -> str:
    """Return one sha256 over a store's ids, offsets and vocabularies, and any mixture's shares."""
    files = [
        verified.entry(f"{side}.{part}").sha256 for side in SIDES for part in ("ids", "offsets")
    ]
    vocabularies = flatten_tables({"vocabularies": verified.about.get("vocabularies")})
    content = (files, sorted(vocabularies.items()), *verified.about.get(MIXTURE, ()))
    return hashlib.sha256(repr(content).encode()).hexdigest()


def read_mixture(about: Mapping[str, Any], file: Path) -> tuple[Share, ...]:
    """Return the texts' shares in a store's manifest, () if none; FolderError if malformed."""
    try:
        shares = tuple(parse_record(Share, one) for one in about.get(MIXTURE, ()))
    except (ValueError, TypeError) as error:
        fact = f"has an unusable account of its texts: {error}"
        raise FolderError(fact, DAMAGED_HINT, file=file) from error
    total = sum(share.pairs for share in shares)
    is_sound = all(share.pairs > 0 and 0 < share.weight < float("inf") for share in shares)
    if shares and not (is_sound and total == about["pairs"]["kept"]):
        raise FolderError("has texts that are not its own", DAMAGED_HINT, file=file)
    return shares


@final
class StoredIds:
    """T ids in an open file; `read` returns the bytes of a part.

    The file is not memory-mapped, since SIGBUS kills a process that reads a truncated mapped file.
    """

    def __init__(self, file: Path, kind: IdType, hint: str = DAMAGED_HINT) -> None:
        self.file, self.kind, self.hint = file, kind, hint
        try:
            self.descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise unreadable_error(file, error) from error
        weakref.finalize(self, os.close, self.descriptor)
        size = os.fstat(self.descriptor).st_size
        is_whole = size > 0 and size % kind.itemsize == 0
        require_consistent(is_whole, file, f"ids of {kind.itemsize} bytes", str(size), hint)
        self.count = size // kind.itemsize

    def __len__(self) -> int:
        return self.count

    def read(self, start: int, count: int) -> bytes:
        """Return the bytes of `count` ids from index `start`; FolderError if the file was cut."""
        size, position = count * self.kind.itemsize, start * self.kind.itemsize
        try:
            data = os.pread(self.descriptor, size, position)
        except OSError as error:
            raise unreadable_error(self.file, error) from error
        if len(data) < size:
            end = f"{position + size:,} bytes, found {position + len(data):,}"
            fact = f"was cut while it was used: expected at least {end}"
            raise FolderError(fact, self.hint, file=self.file)
        return data


@final
class SavedIds:
    """A file of T token ids for `np.asarray`, opened for each reading so that few stay open."""

    def __init__(self, file: Path, kind: IdType, hint: str) -> None:
        self.file, self.kind, self.hint = file, kind, hint
        self.count = len(StoredIds(file, kind, hint))

    def __len__(self) -> int:
        return self.count

    def __array__(self, dtype: object = None, copy: object = None) -> UInt[np.ndarray, " T"]:
        ids = StoredIds(self.file, self.kind, self.hint)
        return np.frombuffer(ids.read(0, self.count), self.kind)


@final
@dataclass(frozen=True)
class Side:
    """One side of a store: token ids read from an open file, lengths and offsets in memory."""

    lengths: Int32[np.ndarray, " N"]  # the number of tokens of each sentence
    offsets: Int64[np.ndarray, " N+1"]  # the index of each sentence's first id, then T
    ids: StoredIds

    def gather(self, indices: Int[np.ndarray, " P"]) -> Int[np.ndarray, " _"]:
        """Return the token ids of the P sentences with these indices, end to end in one vector."""
        starts, lengths = self.offsets[indices].tolist(), self.lengths[indices].tolist()
        found = b"".join(map(self.ids.read, starts, lengths))
        return np.frombuffer(found, self.ids.kind).astype(np.int64)


def id_type(symbols: int) -> IdType:
    """Return the smallest little-endian unsigned type that holds the ids 0 to `symbols` - 1."""
    return np.min_scalar_type(symbols - 1).newbyteorder("<")


def open_side(
    verified: VerifiedFolder, side: str, symbols: int, pairs: int, tagged: Sequence[range] = ()
) -> Side:
    """Open the "source" or "target" side of a store; FolderError if its files are not sound.

    The sentences with indices in `tagged` begin with BEGIN.
    """
    ids = StoredIds(verified.verified_path(f"{side}.ids"), id_type(symbols))
    offsets = read_numbers(verified, f"{side}.offsets", OFFSETS, pairs + 1)
    file = verified.folder / f"{side}.offsets"
    end = int(offsets[-1])
    require_consistent(end == len(ids), file, f"{len(ids):,} ids", f"{end:,}")
    rises = bool(offsets[0] == 0 and (offsets[1:] > offsets[:-1]).all())
    require_consistent(rises, file, "offsets that rise from 0", "others")
    offsets = offsets.view(np.int64)
    first = [offsets[part.start : part.stop] for part in tagged]
    tags = np.concatenate([*first, offsets[:0]])
    require_known_ids(ids, offsets[1:] - 1, symbols, tags)
    return Side(np.diff(offsets).astype(np.int32), offsets, ids)


def read_numbers(
    verified: VerifiedFolder, name: str, kind: IdType, count: int, hint: str = DAMAGED_HINT
) -> UInt[np.ndarray, " _"]:
    """Read a file of `count` unsigned integers; FolderError if its size or sha256 is wrong."""
    data, file = verified.read(name), verified.folder / name
    found, rest = divmod(len(data), kind.itemsize)
    expected = f"{count:,} {name.partition('.')[2]}"
    require_consistent((found, rest) == (count, 0), file, expected, f"{found:,}", hint)
    return np.frombuffer(data, kind)


def require_known_ids(
    ids: StoredIds, ends: Int64[np.ndarray, " N"], symbols: int, tags: Int64[np.ndarray, " M"]
) -> None:
    """Raise FolderError for an unknown id, a sentence without END, or a misplaced BEGIN or END.

    `ends` has the index of each sentence's last id, `tags` the index of each BEGIN that is allowed.
    """
    for start in range(0, len(ids), IDS_AT_ONCE):
        count = min(IDS_AT_ONCE, len(ids) - start)
        block = np.frombuffer(ids.read(start, count), ids.kind)
        highest = int(block.max())
        require_consistent(highest < symbols, ids.file, f"ids below {symbols:,}", f"{highest:,}")
        first, last = np.searchsorted(ends, (start, start + count))
        is_closed = bool((block[ends[first:last] - start] == END).all())
        require_consistent(is_closed, ids.file, f"{END} at the end of every sentence", "other ids")
        begin, end = np.searchsorted(tags, (start, start + count))
        has_no_inner_end = np.count_nonzero(block == END) == last - first
        is_tagged = np.array_equal(np.flatnonzero(block == BEGIN), tags[begin:end] - start)
        expected = f"{END} only there, and no {BEGIN}{' but as a tag' * (len(tags) > 0)}"
        require_consistent(bool(has_no_inner_end and is_tagged), ids.file, expected, "others")


def require_consistent(
    holds: bool,  # noqa: FBT001 - a call reads as a sentence
    file: Path,
    expected: str,
    found: str,
    hint: str = DAMAGED_HINT,
) -> None:
    """Raise FolderError, stating what was expected and found, unless `holds` is true."""
    if not holds:
        raise FolderError(f"expected {expected}, found {found}", hint, file=file)


@final
@dataclass(frozen=True)
class Sample:
    """A pair that the cleaning left out: its line number and the beginning of both sides."""

    line: int
    source: str
    target: str


@final
@dataclass(frozen=True)
class DataFacts:
    """A store's facts: sha256 of each input, pairs read, pairs left out by reason, mixture."""

    inputs: Mapping[str, str]
    read: int
    left_out: Mapping[str, int]  # number of pairs by reason
    mixture: Sequence[Share] = ()  # the texts of a mixture


def read_data_facts(run: Path) -> DataFacts:
    """Return the `DataFacts` in a run's data.json; raise FolderError if they are unusable."""
    file = run / DATA
    facts = parse_data_facts(from_checksummed_json(read_regular(file, 1 << 24), file), file)
    if "train" not in facts.inputs:
        raise FolderError("names no training text", DAMAGED_HINT, file=file)
    return facts


def parse_data_facts(about: Mapping[str, Any], file: Path) -> DataFacts:
    """Return the `DataFacts` in a store's manifest; raise FolderError if they are malformed."""
    match about:
        case {
            "inputs": dict(inputs),
            "pairs": {"too_long": int(too_long), **others},
            "cleaning": {"read": int(read), "dropped": dict(dropped)},
        } if all(isinstance(one, str) for one in inputs.values()):
            counts = {reason: parse_count(found, file) for reason, found in dropped.items()}
            counts["too many pieces"] = too_long
            if unknown := cast("int", others.get("unknown_label", 0)):
                counts["a label that training lacks"] = unknown
            are_counts = all(type(one) is int and one >= 0 for one in counts.values())
            if are_counts and sum(counts.values()) <= read:
                return DataFacts(inputs, read, counts, read_mixture(about, file))
    raise FolderError("has no usable account of its pairs", DAMAGED_HINT, file=file)


def parse_count(found: object, file: Path) -> int:
    """Return the count in a manifest's entry on pairs left out; FolderError if malformed."""
    match found:
        case {"count": int(count), "samples": list(samples)}:
            try:
                for sample in samples:
                    parse_record(Sample, sample)
            except ValueError as fault:
                fact = f"has an unusable sample of its pairs: {fault}"
                raise FolderError(fact, DAMAGED_HINT, file=file) from fault
            return count
    raise FolderError("has no usable account of its pairs", DAMAGED_HINT, file=file)
