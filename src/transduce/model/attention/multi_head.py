"""Several heads of attention over the same words    (section 3.2.2)"""

from typing import TYPE_CHECKING, final

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import BatchAttention
from transduce.model.decoding.layer_cache import FOREVER, LayerCache
from transduce.settings import Architecture

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k · R rows


@final
class SelfAttention(nn.Module):
    """MultiHead(X, X, X), the three input projections as one product. No biases: matrices only."""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.widths = (sizes.d_k, sizes.d_k, sizes.d_v)
        self.heads, self.dropout = sizes.heads, sizes.attention_dropout
        self.kept, self.reach = (sizes.heads, sizes.d_k, sizes.d_v), FOREVER
        inputs = sizes.heads * sum(self.widths)
        self.query_key_value = nn.Linear(sizes.d_model, inputs, bias=False)
        self.output = nn.Linear(sizes.heads * sizes.d_v, sizes.d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "T d_model"], attend: BatchAttention
    ) -> Float[Tensor, "T d_model"]:
        """Concat(head_1 .. head_h) W^O, every head attending in its own projection."""
        q, k, v = self.projected(x)
        return self.output(attend(q, k, v, self.dropout if self.training else 0.0).flatten(1))

    def projected(
        self, x: Float[Tensor, "T d_model"]
    ) -> tuple[Float[Tensor, "T H K"], Float[Tensor, "T H K"], Float[Tensor, "T H d_v"]]:
        """Q, K and V of every token, heads apart."""
        parts = self.query_key_value(x).split([self.heads * w for w in self.widths], dim=1)
        q, k, v = (part.unflatten(1, (self.heads, -1)) for part in parts)
        return q, k, v

    def step(self, x: Float[Tensor, "R d_model"], past: LayerCache) -> Float[Tensor, "R d_model"]:
        """One symbol more in every row: its key and value are kept, and it looks at all."""
        q, k, v = self.projected(x)
        past.keep(k, v)
        return self.output(past.look(q).flatten(1))

    if TYPE_CHECKING:
        __call__ = forward


@final
class CrossAttention(nn.Module):
    """MultiHead(X, Z, Z): queries from the decoder, keys and values from the encoder's output."""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.widths = (sizes.d_k, sizes.d_v)
        self.heads, self.dropout = sizes.heads, sizes.attention_dropout
        self.query = nn.Linear(sizes.d_model, sizes.heads * sizes.d_k, bias=False)
        self.key_value = nn.Linear(sizes.d_model, sizes.heads * sum(self.widths), bias=False)
        self.output = nn.Linear(sizes.heads * sizes.d_v, sizes.d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "T d_model"], z: Float[Tensor, "S d_model"], attend: BatchAttention
    ) -> Float[Tensor, "T d_model"]:
        """Every target token looks at its own sentence's source."""
        k, v = self.memory(z)
        seen = attend(self.queries(x), k, v, self.dropout if self.training else 0.0)
        return self.output(seen.flatten(1))

    def queries(self, x: Float[Tensor, "T d_model"]) -> Float[Tensor, "T H K"]:
        """Q of every target token, heads apart."""
        return self.query(x).unflatten(1, (self.heads, -1))

    def memory(
        self, z: Float[Tensor, "S d_model"]
    ) -> tuple[Float[Tensor, "S H K"], Float[Tensor, "S H d_v"]]:
        """K and V of every source token, heads apart."""
        parts = self.key_value(z).split([self.heads * w for w in self.widths], dim=1)
        k, v = (part.unflatten(1, (self.heads, -1)) for part in parts)
        return k, v

    if TYPE_CHECKING:
        __call__ = forward
