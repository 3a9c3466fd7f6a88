"""Batches of sentence pairs, the model's input: the sentences of each side packed end to end."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.side import Side
from transduce.corpus.store import Store
from transduce.packed import Packed

# P: the pairs of a batch

PADDING_SENTENCE_TOKENS = 64  # the greatest length of a padding sentence


@final
@dataclass(frozen=True)
class Batch:
    """The packed source and target sentences of a batch of pairs; END closes each sentence."""

    source: Packed
    target: Packed

    @staticmethod
    def from_store(store: Store, indices: Int[np.ndarray, " P"]) -> "Batch":
        """Read the P pairs with these indices from a store as one batch."""
        return Batch(gather_packed(store.source, indices), gather_packed(store.target, indices))

    def pad_to_multiple(self, multiple: int, longest: int = PADDING_SENTENCE_TOKENS) -> "Batch":
        """Append padding sentences until each side's token count is a multiple of `multiple`.

        Padding sentences are added in pairs, one on each side, of at most `longest` tokens. No
        other sentence attends to a padding sentence, and the loss ignores its tokens.
        """
        sides = (self.source, self.target)
        lacking = [-len(side.ids) % multiple for side in sides]
        if not any(lacking):
            return self
        # every padding pair needs at least one token on each side
        while min(lacking) < count_padding_sentences(lacking, longest):
            lacking[lacking.index(min(lacking))] += multiple
        pairs = count_padding_sentences(lacking, longest)
        return Batch(
            *(
                side.append_padding_sentences(split_evenly(n, pairs))
                for side, n in zip(sides, lacking, strict=True)
            )
        )

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch with its tensors on this device."""
        return Batch(self.source.to(device), self.target.to(device))


def count_padding_sentences(lacking: list[int], longest: int) -> int:
    """Return how many padding sentences each side needs, given how many tokens each side lacks."""
    return -(-max(lacking) // longest)


def split_evenly(number: int, count: int) -> list[int]:
    """Return `count` integers whose sum is `number` and that differ by at most 1."""
    return [number // count + (index < number % count) for index in range(count)]


def gather_packed(side: Side, indices: Int[np.ndarray, " P"]) -> Packed:
    """Read the P sentences with these indices from one side of a store, packed end to end."""
    return Packed(torch.from_numpy(side.gather(indices)), tuple(side.lengths[indices].tolist()))
