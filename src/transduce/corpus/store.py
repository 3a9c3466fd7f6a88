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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, cast, final

import numpy as np
from jaxtyping import Int, Int32

from transduce.corpus.mixture import KEY as MIXTURE
from transduce.corpus.mixture import Share, read_mixture
from transduce.corpus.side import DAMAGED_HINT, SIDES, Side, open_side, require_consistent
from transduce.durable.folder import MANIFEST, VerifiedFolder, open_folder, read_regular
from transduce.durable.json import from_checksummed_json, parse_record
from transduce.errors import FolderError
from transduce.settings import Data
from transduce.settings.data import CHANGES
from transduce.vocabulary import Vocabulary

STORE_KIND = "store"
TEXTS, DATA = "pairs.tsv", "data.json"
MAX_SYMBOLS = 1 << 31
# settings that do not affect a store's content
READING = ("source_tokens", "target_tokens", *CHANGES)


@final
@dataclass(frozen=True)
class Store:
    """A prepared corpus on disk: sentence pairs as token ids, each side closed by END."""

    source: Side
    target: Side
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
