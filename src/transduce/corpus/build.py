"""Build a store (a corpus as token ids on disk) from pairs of lines, in constant memory.

The pairs are read once, a block at a time. An interrupted build leaves no folder under the store's
name; running the same command again starts from the beginning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol, final, runtime_checkable

import numpy as np

from transduce.corpus.side import OFFSETS, SIDES, id_type
from transduce.corpus.store import KIND, TEXTS, Store, build_provenance
from transduce.durable import FolderWriter, atomic_folder
from transduce.errors import InputError
from transduce.settings import Data
from transduce.vocabulary import Vocabulary

BLOCK_CHARACTERS = 1_000_000  # characters of both sides that are encoded in one call
PACKAGES = ("transduce", "numpy", "tokenizers")  # packages whose versions the manifest records


@final
@dataclass(frozen=True)
class Origin:
    """What a new store is built from: the sha256 of each input, and how it was cleaned."""

    inputs: Mapping[str, str]  # sha256 of each input, by name
    cleaning: Callable[[], Mapping[str, object]]  # returns the report; called after the last pair
    keeps_texts: bool = False  # whether the store also has the text of every kept pair


@runtime_checkable
class PairEncoder(Protocol):
    """A task's vocabularies and its functions that turn lines into token ids."""

    @property
    def source(self) -> Vocabulary:
        """The vocabulary of the source lines."""

    @property
    def target(self) -> Vocabulary:
        """The vocabulary of the target lines."""

    def encode_sources(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the source token ids of cleaned lines, each list closed by END."""

    def encode_targets(self, lines: Sequence[str]) -> Sequence[list[int] | None]:
        """Return the target token ids of cleaned lines; None for a line with an unknown label."""


@final
@dataclass
class PairCounts:
    """How many pairs were read, dropped as too long or for an unknown label, and kept."""

    read: int = 0
    too_long: int = 0
    unknown_label: int = 0
    kept: int = 0


def build_store(
    folder: Path,
    pairs: Iterable[tuple[str, str]],
    encoder: PairEncoder,
    data: Data,
    *,
    origin: Origin,
    progress: Callable[[int], None],
) -> Store:
    """Encode cleaned pairs into a new store folder; call `progress` with the number read so far."""
    vocabularies = (encoder.source, encoder.target)
    encoders = (encoder.encode_sources, encoder.encode_targets)
    manifest = build_provenance(origin.inputs, vocabularies, data) | {
        "symbols": {side: len(each) for side, each in zip(SIDES, vocabularies, strict=True)},
        "versions": {package: version(package) for package in PACKAGES},
    }
    with atomic_folder(folder, kind=KIND, about=manifest) as writer:
        counts = PairCounts()
        with ExitStack() as streams:
            source, target = (
                SideWriter(writer, streams, side, id_type(len(vocabulary)), encode)
                for side, vocabulary, encode in zip(SIDES, vocabularies, encoders, strict=True)
            )
            texts = streams.enter_context(writer.open(TEXTS)) if origin.keeps_texts else None
            for block in group_into_blocks(pairs):
                kept = write_block(block, source, target, data.max_length, counts)
                if texts is not None:
                    texts.write("".join(f"{one}\t{other}\n" for one, other in kept).encode())
                progress(counts.read)
        require_pairs(counts, data.max_length)
        manifest["pairs"] = vars(counts)
        manifest["pieces"] = {"source": source.pieces, "target": target.pieces}
        manifest["cleaning"] = dict(origin.cleaning())
    return Store.open(folder)


def group_into_blocks(pairs: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield consecutive pairs in lists of about a million characters, which bounds memory."""
    block: list[tuple[str, str]] = []
    characters = 0
    for source, target in pairs:
        block.append((source, target))
        characters += len(source) + len(target) + 1
        if characters > BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block


def write_block(
    block: Sequence[tuple[str, str]],
    source: "SideWriter",
    target: "SideWriter",
    max_length: int,
    counts: PairCounts,
) -> list[tuple[str, str]]:
    """Encode a block of pairs; write and return those of at most `max_length` tokens on each side.

    Pairs with more tokens on a side, or with a label that the vocabulary lacks, are dropped. The
    numbers of pairs read, dropped and kept are added to `counts`.
    """
    encoded = zip(
        block,
        source.encode([line for line, _ in block]),
        target.encode([line for _, line in block]),
        strict=True,
    )
    known = [(pair, one, other) for pair, one, other in encoded if one and other]
    kept = [
        (pair, one, other) for pair, one, other in known if len(one) <= max_length >= len(other)
    ]
    source.append([ids for _, ids, _ in kept])
    target.append([ids for _, _, ids in kept])
    counts.read += len(block)
    counts.kept += len(kept)
    counts.unknown_label += len(block) - len(known)
    counts.too_long += len(known) - len(kept)
    return [pair for pair, _, _ in kept]


@final
class SideWriter:
    """Writer of one side of a store, source or target: a file of token ids and one of offsets."""

    def __init__(
        self,
        writer: FolderWriter,
        streams: ExitStack,
        side: str,
        dtype: "np.dtype[Any]",
        encode: Callable[[Sequence[str]], Sequence[list[int] | None]],
    ) -> None:
        self.encode = encode
        self.type = dtype
        self.ids: BinaryIO = streams.enter_context(writer.open(f"{side}.ids"))
        self.offsets: BinaryIO = streams.enter_context(writer.open(f"{side}.offsets"))
        self.offsets.write(np.zeros(1, OFFSETS).tobytes())
        self.pieces = 0

    def append(self, sentences: Sequence[Sequence[int]]) -> None:
        """Append sentences: their token ids to the side's .ids file, their ends to .offsets."""
        lengths = np.array([len(ids) for ids in sentences], OFFSETS)
        self.ids.write(np.fromiter(chain.from_iterable(sentences), self.type).tobytes())
        self.offsets.write((self.pieces + lengths.cumsum()).tobytes())
        self.pieces += int(lengths.sum())


def require_pairs(counts: PairCounts, max_length: int) -> None:
    """Raise InputError if no pair was kept; the message tells why most were left out."""
    if counts.kept:
        return
    if counts.unknown_label > counts.too_long:
        raise InputError(
            f"no pair is left of {counts.read:,}: {counts.unknown_label:,} have labels that the "
            "training data lack",
            "are both texts annotated in the same way?",
        )
    if counts.read:
        raise InputError(
            f"no pair is left to train on: all {counts.read:,} have more than {max_length} pieces "
            "on a side (data.max_length, the end counted)",
            "raise data.max_length, or split the lines into sentences",
        )
    raise InputError(
        "no pair is left to train on: none came in",
        "look at the input, and at what the cleaning left out and why",
    )
