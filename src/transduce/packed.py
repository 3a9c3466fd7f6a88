"""The one tensor noun that every room shares: sentences laid end to end, nothing between them.

A batch of three sentences of 4, 2 and 3 pieces is nine ids and three lengths. There is no padding:
embedding, projections, feed-forward, normalisation and loss see real tokens only, and only the
attention kernels know where one sentence ends and the next begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Int
from torch import Tensor

# B sentences · T tokens of all of them together


@final
@dataclass(frozen=True)
class Packed:
    """Sentences end to end. The lengths stay on the CPU, where layouts are made."""

    ids: Int[Tensor, " T"]
    lengths: tuple[int, ...]

    @staticmethod
    def of(sentences: Sequence[Sequence[int]]) -> "Packed":
        """Lay sentences end to end."""
        flat = [piece for sentence in sentences for piece in sentence]
        return Packed(torch.tensor(flat, dtype=torch.long), tuple(map(len, sentences)))

    def to(self, device: torch.device | str) -> "Packed":
        """The same batch on another device."""
        return replace(self, ids=sent(self.ids, device))

    def sentences(self) -> list[list[int]]:
        """The sentences apart again."""
        return [part.tolist() for part in self.ids.split(list(self.lengths))]

    def shifted(self, begin: int) -> "Packed":
        """Every sentence moved right by one place, `begin` in its first    (section 3.1)"""
        firsts = sent(starts(self.lengths), self.ids.device)
        return replace(self, ids=self.ids.roll(1).index_fill_(0, firsts, begin))

    def followed_by(self, fillers: Sequence[int]) -> "Packed":
        """The same sentences and behind them some of so many times the first symbol."""
        ids = torch.nn.functional.pad(self.ids, (0, sum(fillers)))
        return Packed(ids, (*self.lengths, *fillers))

    def positions(self) -> Int[Tensor, " T"]:
        """The place of every token in its own sentence, from 0."""
        lengths = torch.tensor(self.lengths)
        offsets = torch.repeat_interleave(starts(self.lengths), lengths)  # [T]
        return sent(torch.arange(len(offsets)) - offsets, self.ids.device)


def starts(lengths: Sequence[int]) -> Int[Tensor, " B"]:
    """Where each sentence begins in the row of all tokens."""
    counts = torch.tensor(lengths, dtype=torch.long)
    return counts.cumsum(0) - counts


def sent(tensor: Tensor, device: torch.device | str) -> Tensor:
    """The tensor on a device, which is not waited for: a GPU copies from memory that stays put."""
    if torch.device(device).type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)
