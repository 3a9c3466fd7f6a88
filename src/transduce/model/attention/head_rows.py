"""Copies packed tokens, one vector per head, into padded blocks and back, by index tables.

Each direction is one `index_select` of rows for a whole batch. On a CPU, scattering with
`index_copy_` takes three times as long, and so does gathering tokens and then transposing heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.model.attention.padded_blocks import BlockTokens
from transduce.packed import move_to_device

# T tokens of a whole batch, end to end · H heads · K = d_k or d_v
# G sentences of one block · L positions of each · P = the sum of G · H · L over all blocks


@final
@dataclass(frozen=True)
class HeadRows:
    """Index tables that copy one vector per token and head into padded blocks, and back."""

    tokens: Int[Tensor, " P"]  # the token whose vector is in each row of the blocks
    heads: Int[Tensor, " P"]  # the head whose vector is in each row of the blocks
    rows: Int[Tensor, " TH"]  # the row of each head of each token that is not padding
    padding: Int[Tensor, " _"] | None  # the rows past a sentence's end; None if there are none
    shapes: Sequence[tuple[int, int]]  # (G · H, L) of each block

    def gather_into_blocks(self, x: Float[Tensor, "T H K"]) -> Float[Tensor, "P K"]:
        """Copy packed tokens to the P rows of all padded blocks, one row per head and position.

        Padding repeats the last token of a sentence.
        """
        step, rest = divmod(x.stride(0), x.shape[2])
        if rest or x.stride(1) != x.shape[2] or x.stride(2) != 1:
            x, step = x.contiguous(), x.shape[1]
        count = (len(x) - 1) * step + x.shape[1]
        every = x.as_strided((count, x.shape[2]), (x.shape[2], 1))  # all heads in memory order
        return every.index_select(0, self.tokens * step + self.heads)

    def scatter_back(self, rows: Float[Tensor, "P K"], heads: int) -> Float[Tensor, "T H K"]:
        """Copy the P rows of all padded blocks back to packed tokens, without the padding."""
        return rows.index_select(0, self.rows).view(-1, heads, rows.shape[1])

    def split_into_blocks(self, rows: Float[Tensor, "P K"]) -> list[Float[Tensor, "GH L K"]]:
        """View the P rows as one tensor per padded block: [sentences G · heads H, length L, K]."""
        counts = [sentences * length for sentences, length in self.shapes]
        return [
            part.view(*shape, rows.shape[1])
            for part, shape in zip(rows.split(counts), self.shapes, strict=True)
        ]


def build_head_rows(blocks: Sequence[BlockTokens], heads: int, device: torch.device) -> HeadRows:
    """Build the index tables of a batch's padded blocks, either for queries or for keys."""
    shapes = [(len(one.indices), heads, one.indices.shape[1]) for one in blocks]
    tokens = concatenate_broadcast([one.indices[:, None] for one in blocks], shapes)
    head = concatenate_broadcast([np.arange(heads)[:, None] for _ in blocks], shapes)
    is_real = concatenate_broadcast([one.is_real[:, None] for one in blocks], shapes)
    real = np.flatnonzero(is_real)
    rows = np.empty(len(real), dtype=np.int64)
    rows[tokens[real] * heads + head[real]] = real
    padding = torch.from_numpy(np.flatnonzero(~is_real))
    return HeadRows(
        tokens=move_to_device(torch.from_numpy(tokens), device),
        heads=move_to_device(torch.from_numpy(head), device),
        rows=move_to_device(torch.from_numpy(rows), device),
        padding=move_to_device(padding, device) if len(padding) else None,
        shapes=[(sentences * heads, length) for sentences, _, length in shapes],
    )


def concatenate_broadcast(
    parts: Sequence[np.ndarray], shapes: Sequence[tuple[int, int, int]]
) -> np.ndarray:
    """Broadcast each of `parts` to its shape in `shapes`; join them, flattened, into one vector."""
    spread = [np.broadcast_to(part, shape) for part, shape in zip(parts, shapes, strict=True)]
    return np.concatenate([part.reshape(-1) for part in spread])
