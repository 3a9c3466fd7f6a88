"""The facts about a store's text in its manifest: inputs, pairs read, pairs left out by reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from transduce.corpus.side import DAMAGED_HINT
from transduce.durable.records import parse_record
from transduce.errors import FolderError


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
    """The sha256 of each input text of a store, the pairs read, and those left out by reason."""

    inputs: Mapping[str, str]
    read: int
    left_out: Mapping[str, int]


def parse_data_facts(about: Mapping[str, Any], file: Path) -> DataFacts:
    """Return the `DataFacts` in a store's manifest; raise FolderError if they are malformed."""
    match about:
        case {
            "inputs": dict(inputs),
            "pairs": {"too_long": int(too_long)},
            "cleaning": {"read": int(read), "dropped": dict(dropped)},
        } if all(isinstance(one, str) for one in inputs.values()):
            counts = {reason: parse_count(found, file) for reason, found in dropped.items()}
            counts["too many pieces"] = too_long
            if min(counts.values()) >= 0 and sum(counts.values()) <= read:
                return DataFacts(inputs, read, counts)
    raise FolderError("has no usable account of its pairs", DAMAGED_HINT, file=file)


def parse_count(found: object, file: Path) -> int:
    """Return the count in a manifest's entry about pairs left out; refuse a malformed entry."""
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
