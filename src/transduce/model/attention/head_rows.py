"""Heads of tokens as rows of numbers, laid into the places of rectangles and lifted back.

Both ways are one gathering of rows for a whole batch. To scatter rows back would take three times
as long on a CPU, and so would a head's turn to the front after tokens were laid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.model.attention.padded_blocks import Places
from transduce.packed import sent

# T tokens of a whole batch, end to end · H heads · K = d_k or d_v
# G sentences of one rectangle · L places of each · P = the sum of all its G · H · L


@final
@dataclass(frozen=True)
class Rows:
    """Where the rows of all rectangles are from, one rectangle after the other."""

    tokens: Int[Tensor, " P"]
    heads: Int[Tensor, " P"]
    back: Int[Tensor, " TH"]  # the row of each head of each token before its sentence's end
    past: Int[Tensor, " _"] | None  # the rows past it, unless there are none
    shapes: Sequence[tuple[int, int]]  # G · H and L of each rectangle

    def laid(self, x: Float[Tensor, "T H K"]) -> Float[Tensor, "P K"]:
        """Every head of every token in its places."""
        step, rest = divmod(x.stride(0), x.shape[2])
        if rest or x.stride(1) != x.shape[2] or x.stride(2) != 1:
            x, step = x.contiguous(), x.shape[1]
        count = (len(x) - 1) * step + x.shape[1]
        every = x.as_strided((count, x.shape[2]), (x.shape[2], 1))  # with what lies between heads
        return every.index_select(0, self.tokens * step + self.heads)

    def lifted(self, rows: Float[Tensor, "P K"], heads: int) -> Float[Tensor, "T H K"]:
        """The tokens again, from their real places."""
        return rows.index_select(0, self.back).view(-1, heads, rows.shape[1])

    def parts(self, rows: Float[Tensor, "P K"]) -> list[Float[Tensor, "GH L K"]]:
        """The rectangles, windows onto the rows."""
        counts = [sentences * length for sentences, length in self.shapes]
        return [
            part.view(*shape, rows.shape[1])
            for part, shape in zip(rows.split(counts), self.shapes, strict=True)
        ]


def rows_of(places: Sequence[Places], heads: int, device: torch.device) -> Rows:
    """The rows of one side of all rectangles."""
    shapes = [(len(one.tokens), heads, one.tokens.shape[1]) for one in places]
    tokens = in_one_row([one.tokens[:, None] for one in places], shapes)
    turns = in_one_row([np.arange(heads)[:, None] for _ in places], shapes)
    real = in_one_row([one.real[:, None] for one in places], shapes)
    standing = np.flatnonzero(real)
    back = np.empty(len(standing), dtype=np.int64)
    back[tokens[standing] * heads + turns[standing]] = standing
    past = None if real.all() else sent(torch.from_numpy(np.flatnonzero(~real)), device)
    return Rows(
        tokens=sent(torch.from_numpy(tokens), device),
        heads=sent(torch.from_numpy(turns), device),
        back=sent(torch.from_numpy(back), device),
        past=past,
        shapes=[(sentences * heads, length) for sentences, _, length in shapes],
    )


def in_one_row(parts: Sequence[np.ndarray], shapes: Sequence[tuple[int, int, int]]) -> np.ndarray:
    """Each part spread to [G H L], one after the other: [P]."""
    spread = [np.broadcast_to(part, shape) for part, shape in zip(parts, shapes, strict=True)]
    return np.concatenate([part.reshape(-1) for part in spread])
