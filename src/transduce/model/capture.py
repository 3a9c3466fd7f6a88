"""Attention weights, when somebody asks to see them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.reference import Plain
from transduce.model.transformer import Transformer
from transduce.packed import Packed

# H heads · t query places and s key places of one sentence


@final
@dataclass(frozen=True)
class Weights:
    """Attention weights by layer and sentence: encoder[layer][sentence] is [H t s]."""

    encoder: list[list[Tensor]] = field(default_factory=list)
    decoder: list[list[Tensor]] = field(default_factory=list)
    cross: list[list[Tensor]] = field(default_factory=list)


@torch.no_grad()
def watch(model: Transformer, source: Packed, inputs: Packed) -> Weights:
    """Run a batch through the plain kernel and keep every weight that it used."""
    weights = Weights()
    attends = model.sizes.mixing == "self-attention"
    own = (weights.encoder, weights.decoder) if attends else ()
    uses = iter((*own, weights.cross))  # in the order they are prepared

    def watched(
        queries: Sequence[int], keys: Sequence[int], sight: AttentionMask, device: torch.device
    ) -> "Watched":
        return Watched(Plain(queries, keys, sight, device), next(uses))

    kernel, model.kernel = model.eval().kernel, watched
    try:
        model.decode(inputs, model.encode(source))
    finally:
        model.kernel = kernel
    return weights


@final
@dataclass(frozen=True)
class Watched:
    """Plain attention that writes down where every head looked."""

    plain: Plain
    seen: list[list[Tensor]]

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Attend, and keep the weights of this layer."""
        results = self.plain.sentences(q, k, v, dropout)
        self.seen.append([weights for _, weights in results])
        return torch.cat([seen for seen, _ in results])
