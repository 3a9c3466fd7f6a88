"""What a layer kept of the steps before, when outputs grow by one symbol at a time."""

from dataclasses import dataclass
from typing import final

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

# S sentences · W rows of each, R in all · H heads · c columns, the last of this step, of those
# that are shown · K = d_k

FOREVER = 1 << 62


@final
@dataclass(frozen=True)
class Past:
    """Windows on a cache: a layer writes into the newest column and reads those before it.

    Self-attention keeps keys and values, and may be shown columns that nobody wrote yet; a
    recurrent layer its two states; a convolution its inputs, which have one width, and none beside
    it. Before a row began there are zeros.
    """

    keys: Float[Tensor, "S H shown W K"]
    values: Float[Tensor, "S H shown W d_v"]
    origins: Int[Tensor, "S W c"]  # which of a column's W each row grew from
    mask: Float[Tensor, "S 1 W shownW"] | None  # -inf where attention may not look; None: at all

    def keep(self, keys: Float[Tensor, "R H K"], values: Float[Tensor, "R H d_v"]) -> None:
        """Write this step's column."""
        for side, new in ((self.keys, keys), (self.values, values)):
            side[:, :, self.origins.shape[2] - 1] = new.unflatten(
                0, self.origins.shape[:2]
            ).transpose(1, 2)

    def rows(self, side: Float[Tensor, "S 1 shown W d"], column: int) -> Float[Tensor, "R d"]:
        """What each row grew from in a column, counted from the newest, which is -1."""
        kept, origins = side[:, 0, column], self.origins[:, :, column, None]  # [S W d], [S W 1]
        return kept.gather(1, origins.expand_as(kept)).flatten(0, 1)

    def look(self, q: Float[Tensor, "R H K"]) -> Float[Tensor, "R H d_v"]:
        """Every row attends to what it grew from."""
        return look(q, self.keys.flatten(2, 3), self.values.flatten(2, 3), self.mask)


def look(
    q: Float[Tensor, "R H K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s d_v"],
    mask: Float[Tensor, "S 1 #W s"] | None,
) -> Float[Tensor, "R H d_v"]:
    """softmax(Q Kᵀ / √d_k) V; the rows of a sentence look together    (equation 1)"""
    together = q.unflatten(0, (len(k), -1)).transpose(1, 2)  # [S H W K]
    seen = scaled_dot_product_attention(together, k, v, attn_mask=mask)
    return seen.transpose(1, 2).flatten(0, 1)
