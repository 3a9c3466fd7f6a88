"""Packed batches, the input of a model: sentences end to end, without padding.

A batch of three sentences of 4, 2 and 3 tokens is nine ids and three lengths. Embedding,
projections, feed-forward, normalisation and loss are computed for these nine tokens. Positions, the
shift to the right, and attention (or its substitute) use the lengths to separate the sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Int, Integer
from torch import Tensor

from transduce.errors import InputError

# B sentences · T tokens of all sentences together


PADDING_SENTENCE_TOKENS = 64  # the greatest length of a padding sentence


@dataclass(frozen=True)
class Packed:
    """A packed batch of token ids and its sentence lengths; the lengths stay on the CPU."""

    ids: Int[Tensor, " T"]
    lengths: tuple[int, ...]

    @staticmethod
    def from_sentences(sentences: Sequence[Sequence[int]]) -> "Packed":
        """Pack lists of token ids end to end into one batch."""
        flat = [token for sentence in sentences for token in sentence]
        return Packed(torch.tensor(flat, dtype=torch.long), tuple(map(len, sentences)))

    def to(self, device: torch.device | str) -> "Packed":
        """Return the batch with its ids on the given device."""
        return replace(self, ids=move_to_device(self.ids, device))

    def to_sentences(self) -> list[list[int]]:
        """Return the token ids as one list per sentence."""
        return [part.tolist() for part in self.ids.split(list(self.lengths))]

    def shift_right(self, begin: int) -> "Packed":
        """Return the batch; each sentence gains `begin` in front and loses its last id    (3.1)"""
        firsts = move_to_device(compute_sentence_starts(self.lengths), self.ids.device)
        return replace(self, ids=self.ids.roll(1).index_fill_(0, firsts, begin))

    def append_padding_sentences(self, lengths: Sequence[int]) -> "Packed":
        """Return the batch followed by padding sentences of these lengths, with ids of 0."""
        ids = torch.nn.functional.pad(self.ids, (0, sum(lengths)))
        return Packed(ids, (*self.lengths, *lengths))

    def compute_positions(self) -> Int[Tensor, " T"]:
        """Return the position of each of the T tokens in its own sentence, counted from 0."""
        lengths = torch.tensor(self.lengths)
        offsets = torch.repeat_interleave(compute_sentence_starts(self.lengths), lengths)  # [T]
        return move_to_device(torch.arange(len(offsets)) - offsets, self.ids.device)


@dataclass(frozen=True)
class Batch:
    """The packed source and target sentences of a batch of pairs; END closes each sentence."""

    source: Packed
    target: Packed

    def pad_to_multiple(self, multiple: int, longest: int = PADDING_SENTENCE_TOKENS) -> "Batch":
        """Return the batch, each side padded with sentences to a multiple of `multiple` tokens.

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
    """Return how many sentences of ≤ `longest` tokens fill the side that lacks more tokens."""
    return -(-max(lacking) // longest)


def split_evenly(number: int, count: int) -> list[int]:
    """Return `count` integers whose sum is `number` and that differ by at most 1."""
    return [number // count + (index < number % count) for index in range(count)]


def compute_sentence_starts(lengths: Sequence[int]) -> Int[Tensor, " B"]:
    """Return the index of each sentence's first token in a packed batch of B sentences."""
    counts = torch.tensor(lengths, dtype=torch.long)
    return counts.cumsum(0) - counts


def move_to_device(tensor: Tensor, device: torch.device | str) -> Tensor:
    """Return a tensor on a device; a copy to a GPU is asynchronous, from pinned memory."""
    if torch.device(device).type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


# N: sentences, or pairs of the corpus · P: pairs of an update
# K: borders of the groups, the first and the last included


def greedy_cut(
    lengths: Sequence[Integer[np.ndarray, " N"]], budgets: Sequence[int]
) -> Int[np.ndarray, " K"]:
    """Cut N sentences into groups within all budgets; return each group's first index, then N.

    `lengths` holds one array of N lengths for each budget, such as source and target. No single
    sentence may exceed a budget. Groups are consecutive, and each is as long as it can be.
    """
    totals = [np.concatenate(([0], row.cumsum(dtype=np.int64))) for row in lengths]
    cuts = [0]
    while cuts[-1] < len(lengths[0]):
        begin = cuts[-1]
        ends = [
            total.searchsorted(total[begin] + budget, side="right") - 1
            for total, budget in zip(totals, budgets, strict=True)
        ]
        cuts.append(int(min(ends)))
        assert cuts[-1] > begin, "a sentence is over a budget by itself"
    return np.array(cuts)


def split_update(
    indices: Int[np.ndarray, " P"],
    source_lengths: Integer[np.ndarray, " N"],
    target_lengths: Integer[np.ndarray, " N"],
    limit: int,
) -> list[Int[np.ndarray, " _"]]:
    """Split pairs `indices` into micro-batches of ≤ `limit` tokens; InputError for a longer pair.

    `indices` selects the update's pairs from the corpus, whose N pairs have the given lengths. The
    update's pairs are sorted by source length, then by target length, because attention is
    computed in groups of similar length.
    """
    source, target = source_lengths[indices], target_lengths[indices]
    order = np.lexsort((indices, target, source))
    tokens = (source + target)[order]
    if len(tokens) and tokens.max() > limit:
        raise InputError(
            f"pair {indices[order[tokens.argmax()]] + 1} has {tokens.max()} pieces, "
            f"more than may be in memory at once (training.micro_batch_tokens = {limit})",
            "raise training.micro_batch_tokens, or lower data.max_length",
        )
    cuts = greedy_cut([tokens], [limit])
    return np.split(indices[order], cuts[1:-1])
