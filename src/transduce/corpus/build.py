"""Build a store (a corpus as token ids on disk) from pairs of lines, in constant memory.

The pairs are read once, a block at a time. An interrupted build leaves no folder under the store's
name. It leaves saved segments (encoded pairs). The same command, started again, encodes only the
other pairs.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np

from transduce.corpus.mixture import Share, describe_mixture, resolve_shares
from transduce.corpus.segment import (
    EncodedSide,
    PairCounts,
    PairEncoder,
    SavedSegments,
    Segment,
    add_counts,
    count_tokens,
    encode_block,
    join_segments,
)
from transduce.corpus.store import OFFSETS, SIDES, STORE_KIND, TEXTS, Store, build_provenance
from transduce.durable.folder import FolderWriter, atomic_folder, require_absent
from transduce.durable.json import to_json
from transduce.errors import InputError
from transduce.settings import Data
from transduce.version import __version__

SEGMENT_TOKENS = 4_000_000  # a segment with more tokens is saved, after about 15 seconds of work
BLOCK_CHARACTERS = 1_000_000  # number of characters, of both sides, encoded in one call
PACKAGES = ("numpy", "tokenizers")  # the manifest records their versions beside our own


def build_store(  # noqa: PLR0913 - what the store is made from, and what it records
    folder: Path,
    texts: Sequence[Iterable[tuple[str, str]]],
    encoder: PairEncoder,
    data: Data,
    *,
    inputs: Mapping[str, str],
    cleaning: Callable[[], Mapping[str, object]],
    shares: Sequence[Share] = (),
    keeps_texts: bool = False,
    progress: Callable[[int], None],
) -> Store:
    """Encode the pairs of `texts`, write them as a new store to `folder`, and return the store.

    InputError if `folder` exists or no pair is left. The store records `inputs`, the sha256 of
    each input by name, and the report that `cleaning` returns after the last pair. For a mixture,
    `shares` has an entry for each text. If `keeps_texts` is true, the store has the text of every
    pair, too. Pairs in the saved segments of an interrupted call are not encoded again. `progress`
    gets the number of pairs read so far.
    """
    require_absent(folder)
    vocabularies = (encoder.source, encoder.target)
    manifest = build_provenance(inputs, vocabularies, data) | {
        "symbols": {side: len(each) for side, each in zip(SIDES, vocabularies, strict=True)},
        "versions": {"transduce": __version__} | {name: version(name) for name in PACKAGES},
    }
    limits = {"segment_tokens": SEGMENT_TOKENS, "block_characters": BLOCK_CHARACTERS}
    segments, kept, read = list[Segment](), list[int](), 0
    for index, pairs in enumerate(texts):
        share = shares[index] if shares else Share(name="text")
        part = describe_mixture(shares) | ({"text": index} if index else {})
        origin = hashlib.sha256(to_json(manifest | limits | part)).hexdigest()
        symbols = (len(encoder.source), len(encoder.target))
        encode = partial(
            encode_block,
            encoder=encoder,
            max_length=data.max_length,
            is_tagged=share.is_tagged,
            keeps_texts=keeps_texts,
        )
        saved = SavedSegments(folder, origin, symbols, f"text{index}-" if index else "")
        found = encode_segments(saved, pairs, encode, progress, read)
        kept.append(sum(segment.counts.kept for segment in found))
        read += sum(segment.counts.read for segment in found)
        segments += found
    counts = add_counts(segment.counts for segment in segments)
    require_pairs(counts, data.max_length)
    if shares:
        manifest |= describe_mixture(resolve_shares(shares, kept))
    with atomic_folder(folder, kind=STORE_KIND, about=manifest) as writer:
        manifest["pieces"] = {
            "source": write_side(writer, "source", [segment.source for segment in segments]),
            "target": write_side(writer, "target", [segment.target for segment in segments]),
        }
        if keeps_texts:
            writer.write(TEXTS, b"".join(segment.texts for segment in segments))
        manifest["pairs"] = asdict(counts)
        manifest["cleaning"] = dict(cleaning())
    return Store.open(folder)


def encode_segments(
    saved: SavedSegments,
    pairs: Iterable[tuple[str, str]],
    encode: Callable[[Sequence[tuple[str, str]]], Segment],
    progress: Callable[[int], None],
    read: int,
) -> list[Segment]:
    """Return the segments of all pairs: the saved ones, then new ones that `encode` makes.

    A new segment is saved when it is full, so that only the last pairs stay in memory. `progress`
    gets the number of pairs read so far, including the `read` pairs of earlier texts.
    """
    rest = iter(pairs)
    segments = list(saved.open())
    for segment in segments:  # reading their pairs cleans them again, for the cleaning report
        deque(islice(rest, segment.counts.read), maxlen=0)
        read += segment.counts.read
        progress(read)
    unsaved: list[Segment] = []
    for block in group_into_blocks(rest):
        unsaved.append(encode(block))
        read += len(block)
        progress(read)
        if sum(map(count_tokens, unsaved)) > SEGMENT_TOKENS:
            segments.append(saved.save(len(segments), join_segments(unsaved)))
            unsaved.clear()
    return segments + unsaved


def group_into_blocks(pairs: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield consecutive pairs in lists of about a million characters, to bound memory."""
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


def write_side(writer: FolderWriter, name: str, parts: Sequence[EncodedSide]) -> int:
    """Write the parts' token ids end to end as side `name` of a store; return the token count."""
    tokens = 0
    with writer.open(f"{name}.ids") as ids, writer.open(f"{name}.offsets") as offsets:
        offsets.write(np.zeros(1, OFFSETS).tobytes())
        for part in parts:
            ids.write(np.asarray(part.ids).tobytes())
            offsets.write((tokens + part.lengths.cumsum(dtype=OFFSETS)).tobytes())
            tokens += len(part.ids)
    return tokens


def require_pairs(counts: PairCounts, max_length: int) -> None:
    """Raise InputError if no pair was kept; the message says why most pairs were left out."""
    if counts.kept:
        return
    if counts.unknown_label > counts.too_long:
        raise InputError(
            f"nothing is left of {counts.read:,}: {counts.unknown_label:,} have labels that the "
            "training data lack",
            "are both texts annotated in the same way?",
        )
    if counts.read:
        are_all = counts.too_long == counts.read
        how_many = f"{'all' if are_all else f'{counts.too_long:,} of'} {counts.read:,}"
        raise InputError(
            f"nothing is left to train on: {how_many} have more than {max_length} pieces on a side "
            "(data.max_length, the end counted)",
            "raise data.max_length, or split the lines into sentences",
        )
    raise InputError(
        "nothing is left to train on: none came in",
        "look at the input, and at what the cleaning left out and why",
    )
