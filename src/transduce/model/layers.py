"""The two kinds of layer, each sub-layer with a way around it    (section 3.1)"""

from typing import TYPE_CHECKING, Any, final

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import BatchAttention
from transduce.model.attention.multi_head import CrossAttention
from transduce.model.feed_forward import FeedForward
from transduce.model.mixing.build import Mixing, build_mixing
from transduce.model.residual import around
from transduce.settings import Architecture

# T target tokens and S source tokens of a whole batch, end to end


@final
class EncoderLayer(nn.Module):
    """Self-attention, or a mixing of Table 1 in its place, then feed-forward."""

    def __init__(self, sizes: Architecture, number: int) -> None:
        super().__init__()
        self.self_attention: Mixing = build_mixing(sizes, number, causal=False)
        self.add_self = around(sizes)
        self.feed_forward, self.add_feed_forward = FeedForward(sizes), around(sizes)

    def forward(
        self,
        x: Float[Tensor, "S d_model"],
        among: Any,  # noqa: ANN401 - what its mixing asks for
    ) -> Float[Tensor, "S d_model"]:
        """One of the N steps of the encoder."""
        x = self.add_self(x, lambda y: self.self_attention(y, among))
        return self.add_feed_forward(x, self.feed_forward)

    if TYPE_CHECKING:
        __call__ = forward


@final
class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's output, feed-forward."""

    def __init__(self, sizes: Architecture, number: int) -> None:
        super().__init__()
        self.self_attention: Mixing = build_mixing(sizes, number, causal=True)
        self.add_self = around(sizes)
        self.cross_attention, self.add_cross = CrossAttention(sizes), around(sizes)
        self.feed_forward, self.add_feed_forward = FeedForward(sizes), around(sizes)

    def forward(
        self,
        x: Float[Tensor, "T d_model"],
        z: Float[Tensor, "S d_model"],
        among: Any,  # noqa: ANN401 - what its mixing asks for
        attend_cross: BatchAttention,
    ) -> Float[Tensor, "T d_model"]:
        """One of the N steps of the decoder."""
        x = self.add_self(x, lambda y: self.self_attention(y, among))
        x = self.add_cross(x, lambda y: self.cross_attention(y, z, attend_cross))
        return self.add_feed_forward(x, self.feed_forward)

    if TYPE_CHECKING:
        __call__ = forward
