"""The Transformer    (section 3)

Batches are packed: the tokens of all sentences lie end to end, and after the embedding every layer
but attention (or its substitute) treats each token by itself. Parts without weights, such as
attention, are in `Operations` (operations.py).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, final, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from transduce.errors import InputError
from transduce.packed import Packed
from transduce.paper.operations import (
    FULL_ATTENTION,
    PLAIN,
    AttentionMask,
    BatchAttention,
    Cache,
    LayerCache,
    Operations,
    split_heads,
)
from transduce.settings import Architecture

# T target tokens and S source tokens of a whole batch, end to end · V symbols
# H heads · K = d_k · R rows, one for each hypothesis of a search


# --- The model (section 3) ------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class EncoderOutput:
    """The encoder's output z_1 .. z_n for every source sentence of a packed batch    (section 3)"""

    states: Float[Tensor, "S d_model"]
    lengths: tuple[int, ...]


@final
class Transformer(nn.Module):
    """The paper's model: embeddings, encoder, decoder and output projection    (section 3)

    `build_mixing` builds what connects the positions of a sentence: self-attention, or another
    layer that Table 1 compares with it. Where a method takes `operations`, they replace the model's
    own for that call.
    """

    def __init__(
        self,
        sizes: Architecture,
        source_symbols: int,
        target_symbols: int,
        *,
        operations: Operations = PLAIN,
        build_mixing: "BuildMixing | None" = None,
    ) -> None:
        super().__init__()
        build = build_mixing or build_self_attention
        self.sizes, self.operations = sizes, operations
        # `tie_embeddings`: "all", as in the paper, is one matrix; "target" ties target and output
        self.target = self.source = self.output = Embedding(target_symbols, sizes.d_model)
        if sizes.tie_embeddings != "all":
            self.source = Embedding(source_symbols, sizes.d_model)
        if sizes.tie_embeddings == "none":
            self.output = Embedding(target_symbols, sizes.d_model)
        self.source_positions = build_positions(sizes)
        self.target_positions = build_positions(sizes)
        self.dropout = Dropout(sizes.dropout)
        # two stacks of N layers (3.1); in a pre-norm model one more norm follows each stack
        # (typed as Any, since a ModuleList does not know the type of its elements)
        encoder: Any = nn.ModuleList(
            EncoderLayer(sizes, i, build) for i in range(sizes.encoder_depth)
        )
        decoder: Any = nn.ModuleList(
            DecoderLayer(sizes, i, build) for i in range(sizes.decoder_depth)
        )
        self.encoder: Sequence[EncoderLayer] = encoder
        self.decoder: Sequence[DecoderLayer] = decoder
        self.encoder_final_norm = nn.Identity() if sizes.norm == "post" else LayerNorm(sizes)
        self.decoder_final_norm = nn.Identity() if sizes.norm == "post" else LayerNorm(sizes)
        self.output_bias = OutputBias(target_symbols) if sizes.output_bias else None
        self.output_projection = Linear.from_weight(self.output.weight, self.logit_bias)

    def encode(self, source: Packed, operations: Operations | None = None) -> EncoderOutput:
        """Compute the encoder's output z_1 .. z_n of each source x_1 .. x_n    (section 3)"""
        operations = operations or self.operations
        # one attention function serves all layers, since all have the same mask
        attend = self.encoder[0].self_attention.build_attention(operations, source.lengths)
        x = self.embed(source, self.source, self.source_positions)
        for layer in self.encoder:
            x = layer(x, attend)
        return EncoderOutput(self.encoder_final_norm(x), source.lengths)

    def decode(
        self, inputs: Packed, memory: EncoderOutput, operations: Operations | None = None
    ) -> Float[Tensor, "T d_model"]:
        """Return the decoder's states; `inputs` are the targets, shifted right    (section 3.1)"""
        operations = operations or self.operations
        attend = self.decoder[0].self_attention.build_attention(operations, inputs.lengths)
        attend_to_source = operations.build_attention(
            inputs.lengths, memory.lengths, FULL_ATTENTION
        )
        x = self.embed(inputs, self.target, self.target_positions)
        for layer in self.decoder:
            x = layer(x, memory.states, attend, attend_to_source)
        return self.decoder_final_norm(x)

    def logits(self, states: Float[Tensor, "T d_model"]) -> Float[Tensor, "T V"]:
        """Return the logits for a search; the losses compute their own    (3.4)"""
        return self.output_projection(states)

    def target_log_probs(
        self, states: Float[Tensor, "T d_model"], targets: Int[Tensor, " T"]
    ) -> Float[Tensor, " T"]:
        """Return log p of the target token that each of the decoder's states predicts."""
        operation = self.operations.target_log_probs
        return operation(states, self.output.weight, targets, self.logit_bias)

    def embed(
        self,
        tokens: Packed,
        embedding: "Embedding",
        positions: "SinusoidalPositions | LearnedPositions",
    ) -> Float[Tensor, "T d_model"]:
        """Compute Dropout(√d_model · E(w) + PE(pos)) of packed tokens    (3.4, 3.5, 5.4)"""
        x = embedding(tokens.ids) + positions(tokens.compute_positions(), max(tokens.lengths))
        return self.dropout(x)

    def start_cache(self, memory: EncoderOutput, operations: Operations | None = None) -> Cache:
        """Return a cache for the first decoding step, with one row for each encoded source."""
        keys, values = zip(
            *(layer.cross_attention.project_keys_values(memory.states) for layer in self.decoder),
            strict=True,
        )
        return (operations or self.operations).start_cache(keys, values, memory.lengths)

    def decode_step(
        self, ids: Int[Tensor, " R"], cache: Cache, operations: Operations | None = None
    ) -> tuple[Float[Tensor, "R d_model"], Cache]:
        """Append a token to each of R hypotheses; return the decoder's states and the new cache."""
        cache = cache.begin_step(self.decoder[0].self_attention.reach)
        # as `embed`, without dropout
        x = self.target(ids) + self.target_positions(cache.next_positions, cache.longest + 1)
        x = (operations or self.operations).run_layers(self.decoder, x, cache.layer_caches())
        return self.decoder_final_norm(x), cache.advance()

    @property
    def logit_bias(self) -> nn.Parameter | None:
        """The bias added to the logits; None in the paper's model."""
        return None if self.output_bias is None else self.output_bias.weight

    def named_weights(self) -> dict[str, Tensor]:
        """Return all parameters by name, detached; a tied matrix appears once."""
        return {name: tensor.detach() for name, tensor in self.named_parameters()}


# --- Encoder and decoder stacks (section 3.1) -----------------------------------------------------


@final
class EncoderLayer(nn.Module):
    """One encoder layer: self-attention, then feed-forward    (section 3.1)"""

    def __init__(self, sizes: Architecture, index: int, build_mixing: "BuildMixing") -> None:
        super().__init__()
        self.self_attention: SelfAttention = build_mixing(sizes, index, causal=False)
        self.add_self = Residual(sizes)
        self.feed_forward, self.add_feed_forward = FeedForward(sizes), Residual(sizes)

    def forward(
        self,
        x: Float[Tensor, "S d_model"],
        attend: Any,  # noqa: ANN401 - what `self_attention.build_attention` returned
    ) -> Float[Tensor, "S d_model"]:
        x = self.add_self(x, lambda y: self.self_attention(y, attend))
        return self.add_feed_forward(x, self.feed_forward)

    def last_matrices(self) -> list[Tensor | None]:
        """Return W^O (None if the mixing has none) and W2, which `scale_by_depth` divides."""
        return [self.self_attention.last_matrix, self.feed_forward.outer.weight]


@final
class DecoderLayer(nn.Module):
    """One decoder layer: masked self-attention, cross-attention, feed-forward    (section 3.1)"""

    def __init__(self, sizes: Architecture, index: int, build_mixing: "BuildMixing") -> None:
        super().__init__()
        self.self_attention: SelfAttention = build_mixing(sizes, index, causal=True)
        self.add_self = Residual(sizes)
        self.cross_attention, self.add_cross = CrossAttention(sizes), Residual(sizes)
        self.feed_forward, self.add_feed_forward = FeedForward(sizes), Residual(sizes)

    def forward(
        self,
        x: Float[Tensor, "T d_model"],
        z: Float[Tensor, "S d_model"],
        attend: Any,  # noqa: ANN401 - what `self_attention.build_attention` returned
        attend_to_source: BatchAttention,
    ) -> Float[Tensor, "T d_model"]:
        """Return the layer's output; z is the encoder's output."""
        x = self.add_self(x, lambda y: self.self_attention(y, attend))
        x = self.add_cross(x, lambda y: self.cross_attention(y, z, attend_to_source))
        return self.add_feed_forward(x, self.feed_forward)

    def decode_step(
        self, x: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Return the states of R hypotheses' newest tokens; cache the tokens' keys and values."""
        x = self.add_self.decode_step(x, partial(self.self_attention.decode_step, cache=cache))
        x = self.add_cross.decode_step(x, partial(self.cross_attention.decode_step, cache=cache))
        return self.add_feed_forward.decode_step(x, self.feed_forward.decode_step)

    def last_matrices(self) -> list[Tensor | None]:
        """Return both attentions' W^O (the first may be None) and W2, for `scale_by_depth`."""
        cross, feed_forward = self.cross_attention.output, self.feed_forward.outer
        return [self.self_attention.last_matrix, cross.weight, feed_forward.weight]


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x)))    (section 3.1)

    The connection around a sub-layer. With `architecture.norm = "pre"`, as in later models, it is
    x + Dropout(Sublayer(LayerNorm(x)))
    """

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.norm, self.is_pre = LayerNorm(sizes), sizes.norm == "pre"
        self.add = AddDropout(sizes.dropout)

    def forward(
        self, x: Float[Tensor, "T d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "T d_model"]:
        if self.is_pre:
            return self.add(x, sublayer(self.norm(x)))
        return self.norm(self.add(x, sublayer(x)))

    def decode_step(
        self, x: Float[Tensor, "R d_model"], add_sublayer: Callable[[Tensor, Tensor], Tensor]
    ) -> Float[Tensor, "R d_model"]:
        """Return `forward` without dropout; `add_sublayer(y, r)` computes r + Sublayer(y).

        This lets a sub-layer add the residual r in the same operation as its last matrix product
        (`Linear.forward_add`).
        """
        return add_sublayer(self.norm(x), x) if self.is_pre else self.norm(add_sublayer(x, x))


class LayerNorm(nn.LayerNorm):
    """gain · (x - mean) / √(variance + ε) + bias, over a token's features    (section 3.1)"""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__(sizes.d_model, eps=sizes.norm_epsilon)

    def initialise(self, generator: torch.Generator) -> None:  # noqa: ARG002 - nothing is drawn
        self.reset_parameters()


class AddDropout(nn.Module):
    """x + Dropout(y): how a sub-layer's output y is added to its input x    (section 5.4)"""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(
        self, x: Float[Tensor, "*shape"], y: Float[Tensor, "*shape"]
    ) -> Float[Tensor, "*shape"]:
        return x + functional.dropout(y, self.p, self.training)


class Dropout(nn.Module):
    """0 with probability p, else x / (1 - p); x outside training    (section 5.4)"""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        return functional.dropout(x, self.p, self.training) if self.p else x


# --- Multi-head attention (section 3.2.2) and its uses (section 3.2.3) ----------------------------


@final
class SelfAttention(nn.Module):
    """Multi-head self-attention, MultiHead(X, X, X)    (section 3.2.2)

    One matrix holds W^Q, W^K and W^V of all heads. In the paper d_k = d_v = d_model / h (but for
    rows B of Table 3), no projection has a bias, and `attention_dropout` is 0 (but for parsing).
    """

    def __init__(self, sizes: Architecture, mask: AttentionMask) -> None:
        super().__init__()
        self.mask, self.heads, self.dropout = mask, sizes.heads, sizes.attention_dropout
        self.widths = [sizes.heads * width for width in (sizes.d_k, sizes.d_k, sizes.d_v)]
        total, bias = sum(self.widths), sizes.attention_biases
        self.query_key_value = Linear(sizes.d_model, total, bias=bias, parts=self.widths)
        self.output = Linear(sizes.heads * sizes.d_v, sizes.d_model, bias=bias)
        self.compatibility = Compatibility(sizes)
        self.reach = mask.reach  # how far back the newest token attends; None: no limit

    def build_attention(self, operations: Operations, lengths: Sequence[int]) -> BatchAttention:
        """Return the attention function for sentences of these lengths, under the layer's mask."""
        return operations.build_attention(lengths, lengths, self.mask)

    def forward(
        self, x: Float[Tensor, "T d_model"], attend: BatchAttention
    ) -> Float[Tensor, "T d_model"]:
        """Compute Concat(head_1 .. head_h) W^O over a packed batch    (section 3.2.2)"""
        q, k, v = split_heads(self.query_key_value(x), self.heads, self.widths)
        q = self.compatibility(q)
        return self.output(attend(q, k, v, self.dropout if self.training else 0.0).flatten(1))

    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Cache the newest tokens' keys and values; return residual + their self-attention."""
        q, k, v = cache.split_heads(self.query_key_value(x), self.heads, self.widths)
        cache.append(k, v)
        return self.output.forward_add(cache.attend(self.compatibility(q)), residual)

    @property
    def last_matrix(self) -> Tensor | None:
        """The matrix W^O, which `scale_by_depth` divides."""
        return self.output.weight


@final
class CrossAttention(nn.Module):
    """Multi-head attention to the encoder's output Z, MultiHead(X, Z, Z)    (section 3.2.3)"""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.heads, self.dropout = sizes.heads, sizes.attention_dropout
        # widths of all heads' keys and values; queries are as wide as keys
        self.widths = [sizes.heads * width for width in (sizes.d_k, sizes.d_v)]
        total, bias = sum(self.widths), sizes.attention_biases
        self.query = Linear(sizes.d_model, self.widths[0], bias=bias)
        self.key_value = Linear(sizes.d_model, total, bias=bias, parts=self.widths)
        self.output = Linear(sizes.heads * sizes.d_v, sizes.d_model, bias=bias)
        self.compatibility = Compatibility(sizes)

    def forward(
        self, x: Float[Tensor, "T d_model"], z: Float[Tensor, "S d_model"], attend: BatchAttention
    ) -> Float[Tensor, "T d_model"]:
        """Attend from each target token x to the encoder's outputs z for its source sentence."""
        (q,) = split_heads(self.query(x), self.heads, self.widths[:1])
        k, v = self.project_keys_values(z)
        q = self.compatibility(q)
        return self.output(attend(q, k, v, self.dropout if self.training else 0.0).flatten(1))

    def project_keys_values(
        self, z: Float[Tensor, "S d_model"]
    ) -> tuple[Float[Tensor, "S H K"], Float[Tensor, "S H d_v"]]:
        """Project every source token to keys and values, each split into H heads."""
        k, v = split_heads(self.key_value(z), self.heads, self.widths)
        return k, v

    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Return residual + attention from each of R hypotheses to its own source    (3.2.3)"""
        (q,) = cache.split_heads(self.query(x), self.heads, self.widths[:1])
        return self.output.forward_add(cache.attend_to_source(self.compatibility(q)), residual)


@final
class Compatibility(nn.Module):
    """Changes queries, so that attention scores have the form `sizes.compatibility`    (3.2.1, 6.2)

    "scaled-dot", the paper's q · k / √d_k, leaves them as they are.
    "dot" is q · k; q is multiplied by √d_k, which undoes the division.
    "bilinear" is q W · k / √d_k; q is multiplied by the head's matrix W.
    "additive" is w · tanh(q + k); the head's vector w is appended to q.
    """

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.kind, self.heads = sizes.compatibility, sizes.heads
        rows = {"bilinear": sizes.d_k, "additive": 1}.get(self.kind)  # rows of a head's W or w
        self.weight = nn.Parameter(torch.empty(sizes.heads * rows, sizes.d_k)) if rows else None

    def forward(self, q: Float[Tensor, "*T H K"]) -> Float[Tensor, "*T H Q"]:
        """Return changed queries, twice as wide for "additive"."""
        if self.weight is None:
            return q * math.sqrt(q.shape[-1]) if self.kind == "dot" else q
        w = self.weight.to(q.dtype).unflatten(0, (self.heads, -1))  # [H K K] or [H 1 K]
        if self.kind == "bilinear":
            return (q[..., None, :] @ w).squeeze(-2)
        return torch.cat([q, w.squeeze(1).expand_as(q)], dim=-1)

    def initialise(self, generator: torch.Generator) -> None:
        if self.weight is not None:
            fill_glorot(self.weight, generator, [len(self.weight) // self.heads] * self.heads)


@runtime_checkable
class BuildMixing(Protocol):
    """Builds the self-attention of layer `index`, or a substitute with the same methods."""

    def __call__(self, sizes: Architecture, index: int, *, causal: bool) -> Any: ...  # noqa: ANN401


def build_self_attention(
    sizes: Architecture,
    index: int,  # noqa: ARG001 - all layers are alike
    *,
    causal: bool,
) -> SelfAttention:
    """Build the self-attention of an encoder layer, or of a decoder layer if `causal`."""
    assert sizes.mixing == "self-attention", f"{sizes.mixing} needs `build_mixing`"
    r = sizes.decoder_neighbourhood if causal else sizes.encoder_neighbourhood
    return SelfAttention(sizes, AttentionMask(causal=causal, neighbourhood=r))


# --- Position-wise feed-forward networks (section 3.3) --------------------------------------------


@final
class FeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2    (section 3.3, equation 2)

    With `architecture.activation = "swish"` it has x · sigmoid(x) in place of max(0, x).
    """

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.inner = Linear(sizes.d_model, sizes.d_ff, bias=True)
        self.is_swish = sizes.activation == "swish"
        self.dropout = Dropout(sizes.feed_forward_dropout)  # 0 in the paper
        self.outer = Linear(sizes.d_ff, sizes.d_model, bias=True)

    def forward(self, x: Float[Tensor, "T d_model"]) -> Float[Tensor, "T d_model"]:
        return self.outer(self.dropout(self.compute_inner(x)))

    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"]
    ) -> Float[Tensor, "R d_model"]:
        """Return residual + FFN(x) of R hypotheses' newest tokens."""
        return self.outer.forward_add(self.compute_inner(x), residual)

    def compute_inner(self, x: Float[Tensor, "R d_model"]) -> Float[Tensor, "R d_ff"]:
        """Return the inner layer's output, max(0, x W1 + b1), or swish in place of the ReLU."""
        return functional.silu(self.inner(x)) if self.is_swish else self.inner.forward_relu(x)


class Linear(nn.Module):
    """The linear map x Wᵀ + b; `parts` has the row count of each matrix stacked in W."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool, parts: Sequence[int] = ()) -> None:
        super().__init__()
        self.parts = parts or [outputs]
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None

    @classmethod
    def from_weight(cls, weight: nn.Parameter, bias: nn.Parameter | None = None) -> "Linear":
        """Return a linear map that shares the given weight and the given bias, if any."""
        linear = cls(0, 0, bias=False)
        linear.weight, linear.bias, linear.parts = weight, bias, ()  # `initialise` draws nothing
        return linear

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        return functional.linear(x, self.weight, self.bias)

    def forward_relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Return max(0, x Wᵀ + b)."""
        return functional.linear(x, self.weight, self.bias).relu_()

    def forward_add(
        self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]
    ) -> Float[Tensor, "R m"]:
        """Return residual + x Wᵀ + b."""
        if self.bias is None:
            return torch.addmm(residual, x, self.weight.t())
        return functional.linear(x, self.weight, self.bias).add_(residual)

    def initialise(self, generator: torch.Generator) -> None:
        """Draw each matrix by Glorot's rule; set the bias to 0. Leave shared weights unchanged."""
        if self.parts:
            fill_glorot(self.weight, generator, self.parts)
        if self.parts and self.bias is not None:
            nn.init.zeros_(self.bias)


# --- Embeddings and softmax (section 3.4) ---------------------------------------------------------


@final
class Embedding(nn.Module):
    """A learned vector for every symbol of a vocabulary, multiplied by √d_model    (section 3.4)"""

    def __init__(self, symbols: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(symbols, d_model))

    def forward(self, ids: Int[Tensor, " T"]) -> Float[Tensor, "T d_model"]:
        return functional.embedding(ids, self.weight) * math.sqrt(self.weight.shape[1])

    def initialise(self, generator: torch.Generator) -> None:
        nn.init.normal_(self.weight, std=self.weight.shape[1] ** -0.5, generator=generator)


@final
class OutputBias(nn.Module):
    """A bias for the logit of every symbol; the paper's model has none."""

    def __init__(self, symbols: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(symbols))

    def initialise(self, generator: torch.Generator) -> None:  # noqa: ARG002 - nothing is drawn
        nn.init.zeros_(self.weight)


# --- Positional encoding (section 3.5) ------------------------------------------------------------


def compute_sinusoids(
    count: int, d_model: int, form: str = "sinusoidal"
) -> Float[Tensor, "count d_model"]:
    """Return PE of positions 0 .. `count` - 1 in this form; d_model must be even    (section 3.5)

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model))
    PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))

    The form "tensor2tensor" is that of the authors' code and of Marian: all sines come first, then
    all cosines, and the exponent is i / (d_model/2 - 1).
    """
    pos = torch.arange(count, dtype=torch.float64)[:, None]
    i = torch.arange(d_model // 2, dtype=torch.float64)[None, :]
    if form == "tensor2tensor":
        angle = pos / 10_000 ** (i / max(d_model // 2 - 1, 1))
        return torch.cat([angle.sin(), angle.cos()], dim=1)
    angle = pos / 10_000 ** (2 * i / d_model)  # [count d_model/2]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@final
class SinusoidalPositions(nn.Module):
    """A table of sinusoidal positional encodings, which grows for longer sentences    (3.5)"""

    def __init__(self, d_model: int, form: str = "sinusoidal") -> None:
        super().__init__()
        self.d_model, self.form = d_model, form
        table = compute_sinusoids(512, d_model, form).float()
        self.register_buffer("table", table, persistent=False)
        self.table: Tensor

    def forward(self, positions: Int[Tensor, " T"], longest: int) -> Float[Tensor, "T d_model"]:
        """Return the encoding of each token's position; every position must be below `longest`."""
        table = self.table
        if longest > len(table):
            self.table = table = compute_sinusoids(2 * longest, self.d_model, self.form).to(table)
        return table[positions]


@final
class LearnedPositions(nn.Module):
    """A table of learned positional encodings, one for each position    (Table 3, row E)"""

    def __init__(self, count: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, d_model))

    def forward(self, positions: Int[Tensor, " T"], longest: int) -> Float[Tensor, "T d_model"]:
        """Return each token's position vector; raise InputError for positions not learned."""
        if longest > len(self.weight):
            raise InputError(
                f"a sentence has {longest} pieces, this model learned {len(self.weight)} positions",
                "split the line, or train with a larger architecture.max_positions, or sinusoids",
            )
        return self.weight[positions]

    def initialise(self, generator: torch.Generator) -> None:
        nn.init.normal_(self.weight, std=math.sqrt(1 / 2), generator=generator)


def build_positions(sizes: Architecture) -> SinusoidalPositions | LearnedPositions:
    """Build the positional encoding that `architecture.positions` names."""
    if sizes.positions == "learned":
        return LearnedPositions(sizes.max_positions, sizes.d_model)
    return SinusoidalPositions(sizes.d_model, sizes.positions)


# --- Initial weights, which the paper does not state ----------------------------------------------
#
# - Matrices: Glorot uniform. W^Q, W^K and W^V of all heads count as three matrices, even where one
#   tensor stores them. Biases are 0, gains of norms are 1.
# - Embeddings: normal with standard deviation d_model^-0.5. They are multiplied by √d_model and so
#   begin about as large as the sinusoids; learned positions have the sinusoids' standard deviation,
#   √½ (docs/internals/decisions/0044).
# - With `architecture.initialisation = "by-depth"`, our default, the last matrix of each sub-layer
#   is then divided by √(number of sub-layers in its stack), so that a stack's sub-layers together
#   add about as much variance as the stack's input has. Undivided, the sub-layers of a post-norm
#   model add more. Then each LayerNorm shrinks the token's embedding more, and the model needs
#   twice as many updates until it attends to the source (docs/internals/decisions/0014).


def build_transformer(
    sizes: Architecture,
    source_symbols: int,
    target_symbols: int,
    seed: int,
    build_mixing: BuildMixing | None = None,
) -> Transformer:
    """Build an untrained model whose initial weights are determined by the seed alone."""
    model = Transformer(sizes, source_symbols, target_symbols, build_mixing=build_mixing)
    initialise(model, torch.Generator().manual_seed(seed))
    if sizes.initialisation == "by-depth":
        scale_by_depth([*model.encoder])
        scale_by_depth([*model.decoder])
    return model


@runtime_checkable
class DrawsWeights(Protocol):
    """A layer that draws its own weights in place; its sub-modules draw theirs."""

    def initialise(self, generator: torch.Generator) -> None: ...


@torch.no_grad()
def initialise(model: nn.Module, generator: torch.Generator) -> None:
    """Draw the initial weights of a model in place, layer by layer in the order of `modules()`.

    Fails if any weight stays unset, because the seed would not determine that weight.
    """
    for weight in model.parameters():
        weight.fill_(math.nan)
    for module in model.modules():
        if isinstance(module, DrawsWeights):
            module.initialise(generator)
    unset = [name for name, weight in model.named_parameters() if weight.isnan().any()]
    assert not unset, f"no layer's `initialise` sets {', '.join(unset)}"


@torch.no_grad()
def scale_by_depth(layers: Sequence[EncoderLayer | DecoderLayer]) -> None:
    """Divide each sub-layer's last matrix, W^O or W2, in place by √(number of sub-layers)."""
    matrices = [matrix for layer in layers for matrix in layer.last_matrices()]
    for matrix in matrices:
        if matrix is not None:  # an LSTM (Table 1) has no such matrix
            matrix.div_(math.sqrt(len(matrices)))


def fill_glorot(weight: Tensor, generator: torch.Generator, rows: Sequence[int] = ()) -> None:
    """Draw a weight in place from U(±√(6 / (fan-in + fan-out))).

    If it stacks several matrices, `rows` has the row count of each, which is that matrix's fan-out.
    """
    for matrix in weight.split(list(rows) or [weight.shape[0]]):
        bound = math.sqrt(6 / sum(matrix.shape))
        nn.init.uniform_(matrix, -bound, bound, generator=generator)


# --- The model in a search (section 6.1) ----------------------------------------------------------


@final
@dataclass(frozen=True)
class StepwiseTransformer:
    """A Transformer as a `StepwiseModel` (search.py), whose steps return log P of all symbols."""

    model: Transformer
    operations: Operations | None = None  # None: the model's operations

    @property
    def device(self) -> torch.device:
        return self.model.output.weight.device

    def start(self, sources: Sequence[Sequence[int]]) -> Cache:
        batch = Packed.from_sentences(sources).to(self.device)
        memory = self.model.encode(batch, self.operations)
        return self.model.start_cache(memory, self.operations)

    def step(self, state: Cache, ids: Int[Tensor, " R"]) -> tuple[Float[Tensor, "R V"], Cache]:
        outputs, cache = self.model.decode_step(ids, state, self.operations)
        log_softmax = (self.operations or self.model.operations).log_softmax
        return log_softmax(self.model.logits(outputs)), cache

    def reorder(self, state: Cache, rows: Int[Tensor, " R2"]) -> Cache:
        return state.reorder(rows)

    def concatenate(self, first: Cache, second: Cache) -> Cache:
        return first.concatenate(second)
