"""The exported model as plain padded PyTorch modules, from which ONNX graphs are made."""

import math
from typing import Any, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from transduce.exports.weights import Affine, Array, Attention, Layer, Stack, Weights
from transduce.settings import Architecture

# B sentences · S source positions · L layers · H heads · K features of a head · V symbols
# T positions, in a decoder step those before the current one, U = T + 1 · Q positions that attend


class LayerCache(NamedTuple):
    """The keys and values of one attention sub-layer, for T source or target positions."""

    keys: Float[Tensor, "B H T K"]
    values: Float[Tensor, "B H T K"]


def to_parameter(array: Array) -> nn.Parameter:
    """Return a numpy array as a torch parameter that is not trained."""
    return nn.Parameter(torch.from_numpy(array.copy()), requires_grad=False)


@final
class PlainAffine(nn.Module):
    """A linear map's matrix and bias, or a layer norm's gain and bias."""

    def __init__(self, affine: Affine) -> None:
        super().__init__()
        self.weight, self.bias = to_parameter(affine.weight), to_parameter(affine.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the linear map x Wᵀ + b."""
        return functional.linear(x, self.weight, self.bias)

    def norm(self, x: Tensor) -> Tensor:
        """Compute the layer normalisation of x with this gain and bias."""
        return functional.layer_norm(
            x, self.bias.shape, self.weight, self.bias, Architecture().norm_epsilon
        )


@final
class PlainAttention(nn.Module):
    """Multi-head attention over padded sentences    (section 3.2.2)"""

    def __init__(self, attention: Attention, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = to_parameter(attention.query), to_parameter(attention.key)
        self.value, self.output = to_parameter(attention.value), to_parameter(attention.output)
        self.norm = PlainAffine(attention.norm)

    def split(self, x: Float[Tensor, "B T d"], matrix: Tensor) -> Float[Tensor, "B H T K"]:
        """Project x with a matrix, and split the result into H heads."""
        return functional.linear(x, matrix).unflatten(2, (self.heads, -1)).transpose(1, 2)

    def project(self, x: Float[Tensor, "B T d"]) -> LayerCache:
        """Return the keys and values of all positions of x."""
        return LayerCache(self.split(x, self.key), self.split(x, self.value))

    def attend(
        self, x: Float[Tensor, "B Q d"], cache: LayerCache, allowed: Bool[Tensor, "B 1 1 T"] | None
    ) -> Float[Tensor, "B Q d"]:
        """Attend from each position of x to the keys that `allowed` marks; None allows all keys."""
        query = self.split(x, self.query)
        scores = query @ cache.keys.transpose(2, 3) / math.sqrt(query.shape[-1])
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        found = scores.softmax(dim=-1) @ cache.values
        return functional.linear(found.transpose(1, 2).flatten(2), self.output)


@final
class PlainLayer(nn.Module):
    """The sub-layers of an encoder or decoder layer, with a residual around each."""

    def __init__(self, layer: Layer, heads: int, *, pre_norm: bool) -> None:
        super().__init__()
        self.pre_norm = pre_norm
        self.own = PlainAttention(layer.self_attention, heads)
        cross = layer.cross_attention
        self.cross = None if cross is None else PlainAttention(cross, heads)
        self.inner, self.outer = PlainAffine(layer.inner), PlainAffine(layer.outer)
        self.norm = PlainAffine(layer.feed_forward_norm)

    def enter(self, x: Tensor, norm: PlainAffine) -> Tensor:
        """Return a sub-layer's input: x after the norm in a pre-norm model, else x itself."""
        return norm.norm(x) if self.pre_norm else x

    def leave(self, x: Tensor, norm: PlainAffine) -> Tensor:
        """Return a sub-layer's result: the sum x after the norm in a post-norm model, else x."""
        return x if self.pre_norm else norm.norm(x)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Return the states x after the feed-forward sub-layer with its residual and norm."""
        hidden = self.inner(self.enter(x, self.norm)).relu()
        return self.leave(x + self.outer(hidden), self.norm)


class PlainStack(nn.Module):
    """The base class of encoder and decoder: embedding, positions, layers, final norm."""

    def __init__(self, stack: Stack, weights: Weights) -> None:
        super().__init__()
        self.embedding, self.positions = (
            to_parameter(stack.embedding),
            to_parameter(stack.positions),
        )
        pre_norm = stack.final_norm is not None
        self.layers: Any = nn.ModuleList(
            PlainLayer(layer, weights.heads, pre_norm=pre_norm) for layer in stack.layers
        )
        self.final_norm = None if stack.final_norm is None else PlainAffine(stack.final_norm)

    def embed(self, ids: Int[Tensor, "B T"], positions: Tensor) -> Float[Tensor, "B T d"]:
        """Return √d_model · E(w) + PE(pos) for token ids w; `positions` has the rows PE(pos)."""
        x = functional.embedding(ids, self.embedding) * math.sqrt(self.embedding.shape[1])
        return x + positions

    def finish(self, x: Tensor) -> Tensor:
        """Return states after the final norm, or unchanged if the model has none (post-norm)."""
        return x if self.final_norm is None else self.final_norm.norm(x)


@final
class PlainEncoder(PlainStack):
    """The encoder; it outputs the keys and values that the decoder's cross-attention needs."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights.encoder, weights)
        crosses = [layer.cross_attention for layer in weights.decoder.layers]
        self.crosses: Any = nn.ModuleList(
            PlainAttention(one, weights.heads) for one in crosses if one is not None
        )

    def forward(
        self, input_ids: Int[Tensor, "B S"], attention_mask: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "L B H S K"], Float[Tensor, "L B H S K"]]:
        """Encode B sources; return the keys and values of each decoder layer's cross-attention."""
        allowed = attention_mask[:, None, None, :]
        x = self.embed(input_ids, self.positions[: input_ids.shape[1]])
        for layer in self.layers:
            y = layer.enter(x, layer.own.norm)
            x = layer.leave(x + layer.own.attend(y, layer.own.project(y), allowed), layer.own.norm)
            x = layer.feed_forward(x)
        found = [cross.project(self.finish(x)) for cross in self.crosses]
        return torch.stack([one.keys for one in found]), torch.stack([one.values for one in found])


@final
class PlainDecoderStep(PlainStack):
    """One decoder step from the newest symbol, the KV cache and the source's keys and values."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights.decoder, weights)
        self.projection = to_parameter(weights.projection)

    def forward(
        self,
        ids: Int[Tensor, " B"],
        position: Int[Tensor, " 1"],
        attention_mask: Bool[Tensor, "B S"],
        memory: tuple[Float[Tensor, "L B H S K"], Float[Tensor, "L B H S K"]],
        past: tuple[Float[Tensor, "L B H T K"], Float[Tensor, "L B H T K"]],
    ) -> tuple[Float[Tensor, "B V"], Float[Tensor, "L B H U K"], Float[Tensor, "L B H U K"]]:
        """Return log P of the next symbols, and the self-attention cache extended by this step."""
        allowed, caches = attention_mask[:, None, None, :], list[LayerCache]()
        x = self.embed(ids[:, None], self.positions.index_select(0, position)[None])
        for number, layer in enumerate(self.layers):
            y = layer.enter(x, layer.own.norm)
            new = layer.own.project(y)
            keys = torch.cat([past[0][number], new.keys], dim=2)
            caches.append(LayerCache(keys, torch.cat([past[1][number], new.values], dim=2)))
            x = layer.leave(x + layer.own.attend(y, caches[-1], None), layer.own.norm)
            z, cross = layer.enter(x, layer.cross.norm), layer.cross
            memory_cache = LayerCache(memory[0][number], memory[1][number])
            x = layer.leave(x + cross.attend(z, memory_cache, allowed), cross.norm)
            x = layer.feed_forward(x)
        logits = functional.linear(self.finish(x)[:, 0], self.projection)
        stacked = [torch.stack(list(one)) for one in zip(*caches, strict=True)]
        return logits.log_softmax(dim=-1), stacked[0], stacked[1]
