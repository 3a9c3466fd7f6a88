"""The store: a corpus as ids on the disk, with a manifest that says what it was made from.

    source.ids      target.ids       the smallest unsigned type that holds the vocabulary
    source.offsets  target.offsets   where each sentence begins, and the end of the last
    manifest.json                    inputs, settings, vocabularies, versions, counts, sha256 sums

Every file's sha256 is taken when the store is opened, about a second per GB. Ids stay on the disk.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from jaxtyping import Int, Int32

from transduce.corpus.side import AGAIN, SIDES, Side, open_side
from transduce.durable import VerifiedFolder, open_folder
from transduce.errors import FolderError
from transduce.settings import Data
from transduce.vocabulary import Vocabulary

KIND = "store"
BUDGETS = ("source_tokens", "target_tokens")  # they decide updates, not what is stored


@final
@dataclass(frozen=True)
class Store:
    """Pairs of sentences as ids, each side closed by END."""

    source: Side
    target: Side
    about: Mapping[str, Any]  # the manifest
    fingerprint: str  # equal for equal ids of equal vocabularies, whatever made them
    folder: Path

    @staticmethod
    def open(folder: Path) -> "Store":
        """Open a store, or say which file is not as it was written."""
        verified = open_folder(folder, KIND)
        symbols, pairs = read_counts(verified)
        source, target = (open_side(verified, side, symbols[side], pairs) for side in SIDES)
        return Store(source, target, verified.about, fingerprint(verified), folder)

    def require(self, origin: Mapping[str, object]) -> None:
        """Refuse a store that was made from something else: `made_from` says what is wanted."""
        wanted, found = flat(origin), flat({name: self.about.get(name) for name in origin})
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                raise FolderError(
                    f"the store is stale: {name}: "
                    f"expected {wanted.get(name)!r}, found {found.get(name)!r}",
                    "delete the store and prepare it again, or take back what was changed",
                    file=self.folder / "manifest.json",
                )

    def __len__(self) -> int:
        return len(self.source.lengths)

    @property
    def source_lengths(self) -> Int32[np.ndarray, " N"]:
        """Pieces of every source sentence, END counted."""
        return self.source.lengths

    @property
    def target_lengths(self) -> Int32[np.ndarray, " N"]:
        """Pieces of every target sentence, END counted."""
        return self.target.lengths

    def pair(self, number: int) -> tuple[Int[np.ndarray, " S"], Int[np.ndarray, " T"]]:
        """The ids of one pair, counted from 0."""
        one = np.array([number])
        return self.source.gather(one), self.target.gather(one)


def made_from(
    inputs: Mapping[str, str], vocabularies: tuple[Vocabulary, Vocabulary], data: Data
) -> dict[str, object]:
    """All that decides what is stored: fingerprints of the input, vocabularies, settings."""
    settings = dataclasses.asdict(data)
    return {
        "inputs": dict(inputs),
        "vocabularies": dict(zip(SIDES, (each.hash for each in vocabularies), strict=True)),
        "data": {name: value for name, value in settings.items() if name not in BUDGETS},
    }


def flat(values: Mapping[str, object], before: str = "") -> dict[str, object]:
    """Nested tables as one, with names as `--set` writes them: data.max_length."""
    found: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{before}{name}.")
        else:
            found[before + name] = value
    return found


def read_counts(verified: VerifiedFolder) -> tuple[dict[str, int], int]:
    """Symbols of each vocabulary, which give the width of an id, and how many pairs there are."""
    match verified.about:
        case {
            "symbols": {"source": int(source), "target": int(target)},
            "pairs": {"kept": int(kept)},
        }:
            return {"source": source, "target": target}, kept
    file = verified.folder / "manifest.json"
    raise FolderError("has no usable counts of symbols and pairs", AGAIN, file=file)


def fingerprint(verified: VerifiedFolder) -> str:
    """One sha256 for the content: ids, offsets, and what the ids mean."""
    files = [
        verified.entry(f"{side}.{part}").sha256 for side in SIDES for part in ("ids", "offsets")
    ]
    meaning = flat({"vocabularies": verified.about.get("vocabularies")})
    return hashlib.sha256(repr((files, sorted(meaning.items()))).encode()).hexdigest()
