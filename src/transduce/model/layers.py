"""The encoder layer and the decoder layer, with a residual around each sub-layer    (3.1)"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import BatchAttention
from transduce.model.attention.multi_head import CrossAttention
from transduce.model.decoding.layer_cache import CachedMemory, LayerCache
from transduce.model.feed_forward import FeedForward
from transduce.model.mixing.build import build_mixing
from transduce.model.mixing.mixing import Mixing, MixingContext
from transduce.model.residual import build_residual
from transduce.settings import Architecture

# T target tokens and S source tokens of a whole batch, end to end · R rows, one per hypothesis


@runtime_checkable
class SubLayer(Protocol):
    """A sub-layer with a known last matrix, so that `scale_by_depth` can divide it."""

    @property
    def last_matrix(self) -> Tensor | None:
        """The weight matrix that computes the sub-layer's output; None for an LSTM."""
        ...


@final
class EncoderLayer(nn.Module):
    """One encoder layer: self-attention or another layer of Table 1, then feed-forward    (3.1)"""

    def __init__(self, sizes: Architecture, number: int) -> None:
        super().__init__()
        self.self_attention: Mixing[MixingContext] = build_mixing(sizes, number, causal=False)
        self.add_self = build_residual(sizes)
        self.feed_forward, self.add_feed_forward = FeedForward(sizes), build_residual(sizes)

    def forward(
        self, x: Float[Tensor, "S d_model"], context: MixingContext
    ) -> Float[Tensor, "S d_model"]:
        """Compute this layer's states of packed sources from the states of the layer below."""
        x = self.add_self(x, lambda y: self.self_attention(y, context))
        return self.add_feed_forward(x, self.feed_forward)

    def sub_layers(self) -> Sequence[SubLayer]:
        """Return self-attention (or the layer in its place) and the feed-forward network."""
        return self.self_attention, self.feed_forward

    if TYPE_CHECKING:
        __call__ = forward


@final
class DecoderLayer(nn.Module):
    """One decoder layer: masked self-attention, cross-attention, feed-forward    (section 3.1)"""

    def __init__(self, sizes: Architecture, number: int) -> None:
        super().__init__()
        self.self_attention: Mixing[MixingContext] = build_mixing(sizes, number, causal=True)
        self.add_self = build_residual(sizes)
        self.cross_attention, self.add_cross = CrossAttention(sizes), build_residual(sizes)
        self.feed_forward, self.add_feed_forward = FeedForward(sizes), build_residual(sizes)

    def forward(
        self,
        x: Float[Tensor, "T d_model"],
        z: Float[Tensor, "S d_model"],
        context: MixingContext,
        attend_cross: BatchAttention,
    ) -> Float[Tensor, "T d_model"]:
        """Compute this layer's states from those of the layer below and the encoder's output z."""
        x = self.add_self(x, lambda y: self.self_attention(y, context))
        x = self.add_cross(x, lambda y: self.cross_attention(y, z, attend_cross))
        return self.add_feed_forward(x, self.feed_forward)

    def decode_step(
        self, x: Float[Tensor, "R d_model"], own: LayerCache, memory: CachedMemory
    ) -> Float[Tensor, "R d_model"]:
        """Compute the newest token's states of R hypotheses, and cache its keys and values."""
        x = self.add_self.decode_step(x, partial(self.self_attention.decode_step, cache=own))
        x = self.add_cross.decode_step(x, partial(self.cross_attention.decode_step, memory=memory))
        return self.add_feed_forward.decode_step(x, self.feed_forward.decode_step)

    def sub_layers(self) -> Sequence[SubLayer]:
        """Return self-attention (or the layer in its place), cross-attention and feed-forward."""
        return self.self_attention, self.cross_attention, self.feed_forward

    if TYPE_CHECKING:
        __call__ = forward
