"""Multi-head attention: self-attention and cross-attention    (section 3.2.2)"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import AttentionKernel, BatchAttention
from transduce.model.attention.mask import AttentionMask
from transduce.model.decoding.layer_cache import (
    UNLIMITED_REACH,
    CachedMemory,
    CacheShape,
    LayerCache,
    attend_to_cache,
)
from transduce.model.linear import Linear
from transduce.model.mixing.mixing import Mixing
from transduce.settings import Architecture

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k
# R rows, one per hypothesis


@final
class SelfAttention(Mixing[BatchAttention]):
    """Multi-head self-attention, MultiHead(X, X, X)    (section 3.2.2)"""

    def __init__(self, sizes: Architecture, mask: AttentionMask) -> None:
        super().__init__()
        self.mask, self.heads, self.dropout = mask, sizes.heads, sizes.attention_dropout
        self.parts = [sizes.heads * width for width in (sizes.d_k, sizes.d_k, sizes.d_v)]
        self.query_key_value = Linear(sizes.d_model, sum(self.parts), bias=sizes.attention_biases)
        self.output = Linear(sizes.heads * sizes.d_v, sizes.d_model, bias=sizes.attention_biases)
        self.cache_shape = CacheShape(sizes.heads, sizes.d_k, sizes.d_v)
        r = mask.neighbourhood
        self.reach = (r - 1) // 2 if r else UNLIMITED_REACH

    def build_context(
        self, lengths: Sequence[int], kernel: AttentionKernel, device: torch.device
    ) -> BatchAttention:
        """Build attention under the layer's mask for a batch, given its sentence lengths."""
        return kernel(lengths, lengths, self.mask, device)

    def forward(
        self, x: Float[Tensor, "T d_model"], attend: BatchAttention
    ) -> Float[Tensor, "T d_model"]:
        """Compute Concat(head_1 .. head_h) W^O over a packed batch    (section 3.2.2)"""
        q, k, v = self.project(x)
        return self.output(attend(q, k, v, self.dropout if self.training else 0.0).flatten(1))

    def project(
        self, x: Float[Tensor, "T d_model"]
    ) -> tuple[Float[Tensor, "T H K"], Float[Tensor, "T H K"], Float[Tensor, "T H d_v"]]:
        """Project every token to queries, keys and values, each split into H heads."""
        parts = self.query_key_value(x).split(self.parts, dim=1)
        q, k, v = (part.unflatten(1, (self.heads, -1)) for part in parts)
        return q, k, v

    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Cache the newest token of each of R hypotheses; return residual + its attention."""
        q, k, v = self.split_by_sentence(self.query_key_value(x), cache.slots.sentences)
        cache.append(k, v)
        return self.output.add(cache.attend(q, self.parts[2]), residual)

    def split_by_sentence(
        self, qkv: Float[Tensor, "R parts"], sentences: int
    ) -> tuple[Float[Tensor, "S H W K"], Float[Tensor, "S H W K"], Float[Tensor, "S H W d_v"]]:
        """Split the projections of R = S W hypotheses into queries, keys and values, by head."""
        if self.cache_shape.key_width == self.cache_shape.value_width:  # with fewer operators
            equal = qkv.view(sentences, -1, 3, self.heads, self.cache_shape.key_width)
            q, k, v = equal.permute(2, 0, 3, 1, 4).unbind()
            return q, k, v
        parts = qkv.split(self.parts, dim=1)
        q, k, v = (p.view(sentences, -1, self.heads, p.shape[1] // self.heads) for p in parts)
        return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)

    def initialise(self, generator: torch.Generator) -> None:
        """Draw W^Q, W^K, W^V, as three separate matrices, and then W^O, by Glorot's rule."""
        self.query_key_value.fill_glorot(generator, self.parts)
        self.output.fill_glorot(generator)

    @property
    def last_matrix(self) -> Tensor:
        """The output matrix W^O, which `scale_by_depth` divides by √(number of sub-layers)."""
        return self.output.weight

    if TYPE_CHECKING:
        __call__ = forward


@final
class CrossAttention(nn.Module):
    """Multi-head attention to the encoder's output Z, MultiHead(X, Z, Z)    (section 3.2.3)"""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.heads, self.dropout = sizes.heads, sizes.attention_dropout
        self.key_width = sizes.d_k
        self.parts = [sizes.heads * width for width in (sizes.d_k, sizes.d_v)]
        self.query = Linear(sizes.d_model, sizes.heads * sizes.d_k, bias=sizes.attention_biases)
        self.key_value = Linear(sizes.d_model, sum(self.parts), bias=sizes.attention_biases)
        self.output = Linear(sizes.heads * sizes.d_v, sizes.d_model, bias=sizes.attention_biases)

    def forward(
        self, x: Float[Tensor, "T d_model"], z: Float[Tensor, "S d_model"], attend: BatchAttention
    ) -> Float[Tensor, "T d_model"]:
        """Attend from every target token x to the encoder's output z of its own source sentence."""
        k, v = self.project_keys_values(z)
        out = attend(self.project_queries(x), k, v, self.dropout if self.training else 0.0)
        return self.output(out.flatten(1))

    def project_queries(self, x: Float[Tensor, "T d_model"]) -> Float[Tensor, "T H K"]:
        """Project every target token to queries, split into H heads."""
        return self.query(x).unflatten(1, (self.heads, -1))

    def decode_step(
        self,
        x: Float[Tensor, "R d_model"],
        residual: Float[Tensor, "R d_model"],
        memory: CachedMemory,
    ) -> Float[Tensor, "R d_model"]:
        """Return residual + attention from each of R hypotheses to its own source    (3.2.3)"""
        q = self.query(x).view(memory.sentences, -1, self.heads, self.key_width).transpose(1, 2)
        out = attend_to_cache(q, memory.keys, memory.values, memory.mask, self.parts[1])
        return self.output.add(out, residual)

    def project_keys_values(
        self, z: Float[Tensor, "S d_model"]
    ) -> tuple[Float[Tensor, "S H K"], Float[Tensor, "S H d_v"]]:
        """Project every source token to keys and values, each split into H heads."""
        parts = self.key_value(z).split(self.parts, dim=1)
        k, v = (part.unflatten(1, (self.heads, -1)) for part in parts)
        return k, v

    def initialise(self, generator: torch.Generator) -> None:
        """Draw W^Q, W^K, W^V, as three separate matrices, and then W^O, by Glorot's rule."""
        self.query.fill_glorot(generator)
        self.key_value.fill_glorot(generator, self.parts)
        self.output.fill_glorot(generator)

    @property
    def last_matrix(self) -> Tensor:
        """The output matrix W^O, which `scale_by_depth` divides by √(number of sub-layers)."""
        return self.output.weight

    if TYPE_CHECKING:
        __call__ = forward
