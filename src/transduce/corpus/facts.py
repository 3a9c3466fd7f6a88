"""The facts about a store's text: its inputs, the pairs read, and those left out by reason.

They are in the store's manifest, and in the data.json of a run that is trained on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from transduce.corpus.mixture import Share, read_mixture
from transduce.corpus.side import DAMAGED_HINT
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, parse_record
from transduce.errors import FolderError

DATA = "data.json"


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
    mixture: Sequence[Share] = ()  # the texts of a mixture


def read_data_facts(run: Path) -> DataFacts:
    """Return the inputs and pair counts in a run's data.json; raise FolderError if unusable."""
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
            "pairs": {"too_long": int(too_long)},
            "cleaning": {"read": int(read), "dropped": dict(dropped)},
        } if all(isinstance(one, str) for one in inputs.values()):
            counts = {reason: parse_count(found, file) for reason, found in dropped.items()}
            counts["too many pieces"] = too_long
            if min(counts.values()) >= 0 and sum(counts.values()) <= read:
                return DataFacts(inputs, read, counts, read_mixture(about, file))
    raise FolderError("has no usable account of its pairs", DAMAGED_HINT, file=file)


def parse_count(found: object, file: Path) -> int:
    """Return the count in a manifest's entry on pairs left out; raise FolderError if malformed."""
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
