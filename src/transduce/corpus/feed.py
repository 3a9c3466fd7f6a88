"""The micro-batches of each update, which read the pairs that a `Plan` selects from a store.

An epoch may read pairs in another form than the store has them, such as in upper case. Which pairs
change, and how, is a function of (seed, epoch, pair) alone. Nothing is stored: lengths are measured
when an epoch is planned, and the pairs of an update are changed again when the update is read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.plan import Lengths, Plan
from transduce.corpus.segment import PairEncoder
from transduce.corpus.store import Side, Store
from transduce.packed import Batch, Packed, split_update
from transduce.settings import Data
from transduce.text.changes import Pair, change_pair, draw_changes
from transduce.text.clean import normalise
from transduce.vocabulary import BEGIN, Vocabulary

# M: pairs of an epoch · P: pairs of a block, an update or a batch

Ids = list[int]
BLOCK = 10_000  # pairs that are changed together
UNCHANGED: Mapping[int, tuple[Ids, Ids]] = {}


@final
@dataclass(frozen=True)
class Augmentation:
    """Random changes to a store's pairs in each epoch, such as upper case, at rates in `data`."""

    store: Store
    encoder: PairEncoder
    data: Data
    seed: int

    def measure(self, epoch: int, pairs: Int[np.ndarray, " M"]) -> Lengths:
        """Return the store's (source, target) lengths after this epoch's changes to `pairs`."""
        lengths = (self.store.source_lengths.copy(), self.store.target_lengths.copy())
        for start in range(0, len(pairs), BLOCK):
            for pair, sides in self.change(epoch, pairs[start : start + BLOCK]).items():
                for side_lengths, ids in zip(lengths, sides, strict=True):
                    side_lengths[pair] = len(ids)
        return lengths

    def change(self, epoch: int, pairs: Int[np.ndarray, " P"]) -> dict[int, tuple[Ids, Ids]]:
        """Return {pair index: (source ids, target ids)} for those pairs that this epoch changes.

        A pair that would become too long, or get an unknown label, is not changed.
        """
        changed = list(self.change_texts(epoch, pairs))
        sources = self.encoder.encode_sources([source for _, _, (source, _) in changed])
        targets = self.encoder.encode_targets([target for _, _, (_, target) in changed])
        found = {}
        for (index, tag, _), source, target in zip(changed, sources, targets, strict=True):
            if target and max(len(tag) + len(source), len(target)) <= self.data.max_length:
                found[index] = ([*tag, *source], target)
        return found

    def change_texts(
        self, epoch: int, pairs: Int[np.ndarray, " P"]
    ) -> Iterator[tuple[int, Ids, Pair]]:
        """Yield (index, ids of the tag, new texts) for each of `pairs` that this epoch changes.

        The tag is [BEGIN] or []. Pairs with symbols that have no text, such as <unk>, are left out.
        """
        for index in pairs.tolist():
            draw = draw_changes(self.data, f"change {self.seed} {epoch} {index}")
            if not draw.names:
                continue
            source, target = (side.tolist() for side in self.store.pair(index))
            tag = source[: source[0] == BEGIN]
            old = (
                decode_or_empty(self.encoder.source, source[len(tag) : -1]),
                decode_or_empty(self.encoder.target, target[:-1]),
            )
            if not all(old):
                continue
            new = change_pair(old, draw, self.data)
            if new != old:
                yield index, tag, (normalise(new[0]), normalise(new[1]))


def decode_or_empty(vocabulary: Vocabulary, ids: Ids) -> str:
    """Return the normalised text of `ids`, none of which is END; "" if one of them has no text."""
    return normalise(vocabulary.decode(ids)) if all(map(vocabulary.piece_bytes, ids)) else ""


@final
@dataclass(frozen=True)
class Feed:
    """The micro-batches of every update of a run, computed on demand from the step number."""

    store: Store
    plan: Plan
    micro_batch_tokens: int  # the most tokens in a micro-batch, both sides together
    augmentation: Augmentation | None = None  # the plan must use its `measure`

    def micro_batches(self, step: int) -> list[Batch]:
        """Return the micro-batches of the update `step`, counted from 1."""
        number, position = self.plan.locate(step)
        epoch = self.plan.epoch(number)
        pairs = epoch.select_pairs(position)
        changed = self.augmentation.change(number, pairs) if self.augmentation else UNCHANGED
        parts = split_update(pairs, *epoch.lengths, self.micro_batch_tokens)
        return [read_batch(self.store, part, changed) for part in parts]


def read_batch(
    store: Store,
    indices: Int[np.ndarray, " P"],
    changed: Mapping[int, tuple[Ids, Ids]] = UNCHANGED,
) -> Batch:
    """Return the P pairs with these indices as one batch; ids in `changed` replace the store's."""
    sides = (store.source, store.target)
    return Batch(
        *(
            gather_packed(side, indices, {pair: ids[number] for pair, ids in changed.items()})
            for number, side in enumerate(sides)
        )
    )


def gather_packed(side: Side, indices: Int[np.ndarray, " P"], changed: Mapping[int, Ids]) -> Packed:
    """Return the P sentences with these indices, packed; ids in `changed` replace the side's."""
    if changed:
        sentences = [
            changed.get(pair) or side.gather(np.array([pair])).tolist() for pair in indices.tolist()
        ]
        return Packed.from_sentences(sentences)
    return Packed(torch.from_numpy(side.gather(indices)), tuple(side.lengths[indices].tolist()))
