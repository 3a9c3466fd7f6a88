"""What a layer kept of the steps before, when outputs grow by one symbol at a time."""

from dataclasses import dataclass
from typing import final

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

# S sentences · W rows of each, R in all · H heads · c slots, the last W of this step · K = d_k

FOREVER = 1 << 62


@final
@dataclass(frozen=True)
class LayerCache:
    """Windows on a cache: a layer writes into the newest slots and reads those before them.

    Self-attention keeps keys and values, and may be shown slots that nobody wrote yet; a recurrent
    layer its two states; a convolution its inputs, which have one width, and none beside it.
    """

    keys: Float[Tensor, "S H shown K"]
    values: Float[Tensor, "S H shown d_v"]
    seen: Bool[Tensor, "S W c"]  # the slots that a row grew from, its own newest among them
    places: Int[Tensor, "S c"]  # where in its output the symbol of a slot stands
    now: Int[Tensor, " S"]  # where this step's stand
    mask: Float[Tensor, "S 1 W shown"] | None  # -inf where attention may not look

    def keep(self, keys: Float[Tensor, "R H K"], values: Float[Tensor, "R H d_v"]) -> None:
        """Write this step's slots."""
        _, width, slots = self.seen.shape
        for side, new in ((self.keys, keys), (self.values, values)):
            side[:, :, slots - width : slots] = new.unflatten(0, (-1, width)).transpose(1, 2)

    def rows(self, side: Float[Tensor, "S 1 c d"], back: int) -> Float[Tensor, "R d"]:
        """What each row grew from so many steps before this one; zeros before it began."""
        here = self.seen & (self.places == (self.now - back)[:, None])[:, None]  # [S W c]
        slots = here.byte().argmax(dim=2)[..., None].expand(-1, -1, side.shape[3])
        found = side[:, 0].gather(1, slots) * here.any(dim=2)[..., None]
        return found.flatten(0, 1)

    def look(self, q: Float[Tensor, "R H K"]) -> Float[Tensor, "R H d_v"]:
        """Every row attends to what it grew from."""
        return look(q, self.keys, self.values, self.mask)


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
