"""From pairs of lines to a store: one pass, a block at a time, in constant memory.

A build that is interrupted leaves nothing under the store's name; the same command starts anew.
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
from transduce.corpus.store import KIND, Store, made_from
from transduce.durable import FolderWriter, atomic_folder
from transduce.errors import InputError
from transduce.settings import Data
from transduce.vocabulary import Vocabulary

BLOCK_CHARACTERS = 1_000_000  # encoded at once, by all cores
PACKAGES = ("transduce", "numpy", "tokenizers")


@final
@dataclass(frozen=True)
class Origin:
    """Where pairs come from: fingerprints of the input, and what the cleaning did to it."""

    inputs: Mapping[str, str]
    cleaning: Callable[[], Mapping[str, object]]  # asked once, after the last pair


@runtime_checkable
class PairEncoder(Protocol):
    """How the lines of both sides become ids: a task, seen from here."""

    @property
    def source(self) -> Vocabulary: ...
    @property
    def target(self) -> Vocabulary: ...
    def encode_sources(self, lines: Sequence[str]) -> list[list[int]]: ...
    def encode_targets(self, lines: Sequence[str]) -> list[list[int]]: ...


@final
@dataclass
class Counts:
    """Pairs before and after the one filter that needs pieces: data.max_length."""

    read: int = 0
    too_long: int = 0
    kept: int = 0


def build(
    folder: Path,
    pairs: Iterable[tuple[str, str]],
    encoder: PairEncoder,
    data: Data,
    *,
    origin: Origin,
    progress: Callable[[int], None],
) -> Store:
    """Encode cleaned pairs into a new folder; `progress` is told how many pairs were read."""
    vocabularies = (encoder.source, encoder.target)
    encoders = (encoder.encode_sources, encoder.encode_targets)
    about = made_from(origin.inputs, vocabularies, data) | {
        "symbols": {side: len(each) for side, each in zip(SIDES, vocabularies, strict=True)},
        "versions": {package: version(package) for package in PACKAGES},
    }
    with atomic_folder(folder, kind=KIND, about=about) as writer:
        counts = Counts()
        with ExitStack() as streams:
            source, target = (
                SideWriter(writer, streams, side, id_type(len(vocabulary)), encode)
                for side, vocabulary, encode in zip(SIDES, vocabularies, encoders, strict=True)
            )
            for block in blocks(pairs):
                write_block(block, source, target, data.max_length, counts)
                progress(counts.read)
        require_pairs(counts, data.max_length)
        about["pairs"] = vars(counts)
        about["pieces"] = {"source": source.pieces, "target": target.pieces}
        about["cleaning"] = dict(origin.cleaning())
    return Store.open(folder)


def blocks(pairs: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Stretches of about a million characters, so that long lines cost no more memory."""
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
    longest: int,
    counts: Counts,
) -> None:
    """Encode a block and keep the pairs of which no side is too long."""
    encoded = zip(
        source.encode([line for line, _ in block]),
        target.encode([line for _, line in block]),
        strict=True,
    )
    kept = [pair for pair in encoded if max(map(len, pair)) <= longest]
    source.append([ids for ids, _ in kept])
    target.append([ids for _, ids in kept])
    counts.read += len(block)
    counts.kept += len(kept)
    counts.too_long += len(block) - len(kept)


@final
class SideWriter:
    """The two files of one side while they grow."""

    def __init__(
        self,
        writer: FolderWriter,
        streams: ExitStack,
        side: str,
        dtype: "np.dtype[Any]",
        encode: Callable[[Sequence[str]], list[list[int]]],
    ) -> None:
        self.encode = encode
        self.type = dtype
        self.ids: BinaryIO = streams.enter_context(writer.open(f"{side}.ids"))
        self.offsets: BinaryIO = streams.enter_context(writer.open(f"{side}.offsets"))
        self.offsets.write(np.zeros(1, OFFSETS).tobytes())
        self.pieces = 0

    def append(self, sentences: Sequence[Sequence[int]]) -> None:
        """Write sentences at the end of the files."""
        lengths = np.array([len(ids) for ids in sentences], OFFSETS)
        self.ids.write(np.fromiter(chain.from_iterable(sentences), self.type).tobytes())
        self.offsets.write((self.pieces + lengths.cumsum()).tobytes())
        self.pieces += int(lengths.sum())


def require_pairs(counts: Counts, longest: int) -> None:
    """Refuse a store with nothing in it."""
    if counts.kept:
        return
    if counts.read:
        raise InputError(
            f"no pair is left to train on: all {counts.read:,} have more than {longest} pieces "
            "on a side (data.max_length, the end counted)",
            "raise data.max_length, or split the lines into sentences",
        )
    raise InputError(
        "no pair is left to train on: none came in",
        "look at the input, and at what the cleaning left out and why",
    )
