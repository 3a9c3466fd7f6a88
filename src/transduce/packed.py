"""The packed batch that all packages share: sentences end to end, without padding.

A batch of three sentences of 4, 2 and 3 tokens is nine ids and three lengths. Embedding,
projections, feed-forward, normalisation and loss are computed for these nine tokens. Only the
attention kernels use the lengths to separate the sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Int
from torch import Tensor

# B sentences · T tokens of all sentences together


@final
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
        """Return the batch with `begin` before each sentence, without its last id (section 3.1)"""
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


def compute_sentence_starts(lengths: Sequence[int]) -> Int[Tensor, " B"]:
    """Return the index of the first token of each of the B sentences of a packed batch."""
    counts = torch.tensor(lengths, dtype=torch.long)
    return counts.cumsum(0) - counts


def move_to_device(tensor: Tensor, device: torch.device | str) -> Tensor:
    """Return a tensor on a device; a copy to a GPU is asynchronous, from pinned memory."""
    if torch.device(device).type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)
