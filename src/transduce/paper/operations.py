"""The parts without weights: attention, a search's cache, the loss, the best continuations

These are the plain functions of sections 3.2.1, 3.2.3, 3.4, 5.4 and 6.1. The model, its training
and its search get them as one frozen value, `Operations`. `transduce.fast` replaces some by faster
ones, which change final results only by rounding.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, final, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from transduce.packed import Batch

# B sentences, each with T query or target tokens and S key or source tokens · H heads · K = d_k
# Q: width of a query, which is K, or 2 K for additive scores · k: a width that is K or d_v
# Hd_v = H · d_v: the heads' results concatenated · R2: another number of rows
# T_P and S_P: tokens of all sentences, packed end to end
# in the losses: T target tokens of a whole batch, and P >= T rows; those after T are padding
# R rows, one per hypothesis of a search, W per sentence · N layers · V symbols
# in shapes, #x is x or 1, which broadcasts, and {x} is the value of the argument x


# --- Attention (section 3.2.1) and who may attend to whom (3.2.3, 4) ------------------------------


@dataclass(frozen=True, kw_only=True)
class AttentionMask:
    """Which keys a query may attend to: all, no later ones, only near ones    (3.2.3, 4)"""

    causal: bool = False  # whether a position may attend only to itself and earlier positions
    neighbourhood: int = 0  # an odd r allows a distance of at most (r - 1) / 2; 0: any

    def compute_allowed(
        self, queries: Int[Tensor, " T"], keys: Int[Tensor, " S"]
    ) -> Bool[Tensor, "T S"]:
        """Return a matrix with True where a query position may attend to a key position."""
        ahead = keys[None, :] - queries[:, None]  # [T S]
        allowed = torch.ones_like(ahead, dtype=torch.bool)
        if self.causal:
            allowed &= ahead <= 0
        if self.reach is not None:
            allowed &= ahead.abs() <= self.reach
        return allowed

    @property
    def reach(self) -> int | None:
        """How far a position may attend, (neighbourhood - 1) / 2 positions; None: any distance."""
        return (self.neighbourhood - 1) // 2 if self.neighbourhood else None


FULL_ATTENTION = AttentionMask()


def compatibility_scores(
    q: Float[Tensor, "*B T Q"], k: Float[Tensor, "*B S K"]
) -> Float[Tensor, "*B T S"]:
    """Q Kᵀ / √d_k, or w · tanh(q + k) if each query is [q, w] (additive `Compatibility`)"""
    if q.shape[-1] == k.shape[-1]:
        return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    q, w = q[..., None, :].chunk(2, dim=-1)  # [*B T 1 K]
    return (w @ (q + k[..., None, :, :]).tanh().transpose(-2, -1)).squeeze(-2)


def attention_weights(
    q: Float[Tensor, "*B T Q"], k: Float[Tensor, "*B S K"], allowed: Bool[Tensor, "*#B T S"]
) -> Float[Tensor, "*B T S"]:
    """softmax(Q Kᵀ / √d_k), with 0 for pairs that are not allowed    (section 3.2.1)"""
    return compatibility_scores(q, k).masked_fill(~allowed, -math.inf).softmax(dim=-1)


def attention(
    q: Float[Tensor, "*B T Q"],
    k: Float[Tensor, "*B S K"],
    v: Float[Tensor, "*B S d_v"],
    allowed: Bool[Tensor, "*#B T S"],
    dropout: float = 0.0,
) -> Float[Tensor, "*B T d_v"]:
    """softmax(Q Kᵀ / √d_k) V    (section 3.2.1, equation 1)"""
    return functional.dropout(attention_weights(q, k, allowed), dropout) @ v


def build_padded_attention(
    query_lengths: Sequence[int], key_lengths: Sequence[int], mask: AttentionMask
) -> "BatchAttention":
    """Return a function that pads packed sentences, attends under a mask, and packs the result.

    The mask is applied here and, in decoding steps, in `PlainCache.layer_caches`.
    """

    def attend(
        q: Float[Tensor, "T_P H Q"],
        k: Float[Tensor, "S_P H K"],
        v: Float[Tensor, "S_P H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T_P H d_v"]:
        is_query = token_mask(torch.tensor(query_lengths, device=q.device), max(query_lengths))
        is_key = token_mask(torch.tensor(key_lengths, device=q.device), max(key_lengths))
        queries = torch.arange(is_query.shape[1], device=q.device)
        keys = torch.arange(is_key.shape[1], device=q.device)
        allowed = mask.compute_allowed(queries, keys) & is_key[:, None]  # [B T S]
        # With a neighbourhood, a query in the padding can be too far from every key. The softmax of
        # no keys is NaN, as are its gradients. So padding attends to all, and is dropped below.
        allowed = allowed | ~is_query[:, :, None]
        out = attention(
            pad_sentences(q, query_lengths),
            pad_sentences(k, key_lengths),
            pad_sentences(v, key_lengths),
            allowed[:, None],
            dropout,
        )  # [B H T d_v]
        return out.transpose(1, 2)[is_query]

    return attend


def split_heads(
    x: Float[Tensor, "T_P total"], heads: int, widths: Sequence[int]
) -> list[Float[Tensor, "T_P H k"]]:
    """Split each token's projections into parts of these widths, and each part into H heads.

    A part is the projected queries, keys or values of all heads. Its head i is Q W_i^Q, K W_i^K or
    V W_i^V.
    """
    parts = x.split(list(widths), dim=1) if len(widths) > 1 else (x,)  # one part needs no split
    return [part.unflatten(1, (heads, -1)) for part in parts]


def token_mask(lengths: Int[Tensor, " B"], longest: int) -> Bool[Tensor, "B {longest}"]:
    """Return True for tokens and False for the padding of sentences with these lengths."""
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


def pad_sentences(x: Float[Tensor, "T_P H K"], lengths: Sequence[int]) -> Float[Tensor, "B H T K"]:
    """Pad packed sentences with zeros to one length, and put heads before positions."""
    return pad_sequence(x.split(list(lengths)), batch_first=True).transpose(1, 2)


# --- The loss and the best continuations (sections 5.4 and 6.1) -----------------------------------


def log_softmax(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:
    """log P of V symbols, in at least float32    (section 3.4)"""
    return logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=1)


def smoothing_mass(smoothing: float, form: str, symbols: int) -> float:
    """Return the probability that label smoothing spreads evenly over all V symbols    (5.4)

    In the default form, "szegedy", it is ε. In the form "t2t", that of the authors'
    tensor2tensor, it is m = ε V / (V - 1). The right symbol then has 1 - m + m / V = 1 - ε in all,
    and the wrong ones have ε together.
    """
    return smoothing * symbols / (symbols - 1) if form == "t2t" else smoothing


def smoothed_loss(
    states: Float[Tensor, "P d_model"],
    weight: Float[Tensor, "V d_model"],
    targets: Int[Tensor, " T"],
    mass: float,
    bias: Float[Tensor, " V"] | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return two sums over T targets: the label-smoothed cross-entropy, and -log p(target)    (5.4)

    The loss is Σ [(1 - m) · (-log p(target)) + m · mean over symbols of (-log p)]; m is `mass`.
    The second sum has no gradient. States after the first T are padding and are left out.
    """
    log_p = log_softmax(functional.linear(states[: len(targets)], weight, bias))  # [T V]
    nats, mean = -log_p.gather(1, targets[:, None])[:, 0], -log_p.mean(dim=1)
    return ((1 - mass) * nats + mass * mean).sum(), nats.detach().sum()


def target_log_probs(
    states: Float[Tensor, "T d_model"],
    weight: Float[Tensor, "V d_model"],
    targets: Int[Tensor, " T"],
    bias: Float[Tensor, " V"] | None = None,
) -> Float[Tensor, " T"]:
    """log p(target) of each of T tokens, given the decoder's states and the output matrix"""
    logits = functional.linear(states, weight, bias)
    return log_softmax(logits).gather(1, targets[:, None])[:, 0]


def stable_topk(
    values: Float[Tensor, "B n"], count: int
) -> tuple[Float[Tensor, "B C"], Int[Tensor, "B C"]]:
    """Return the C = `count` highest values of each row, highest first, and their columns.

    Of equal values the leftmost comes first. NaN comes last.
    """
    columns = values.neg().sort(dim=1, stable=True).indices[:, :count]
    return values.gather(1, columns), columns


def highest_sums(
    scores: Float[Tensor, "B W"], log_probs: Float[Tensor, "R V"], count: int
) -> tuple[Float[Tensor, "B C"], Int[Tensor, "B C"]]:
    """Return each sentence's `count` highest sums of score and log P, and their columns    (6.1)

    A sentence has W V sums: the score of each of its W hypotheses plus log P of each of the V
    symbols that may come next. R = B W. In beam search a hypothesis' score is the log P of its
    symbols so far. The sum of hypothesis w and symbol v is in column w V + v. Equal sums and NaN
    sort as in `stable_topk`.
    """
    sums = scores[:, :, None] + log_probs.view(*scores.shape, -1)  # [B W V]
    return stable_topk(sums.flatten(1), count)


def is_any(flags: Bool[Tensor, "*shape"]) -> bool:
    """Return whether any flag is True.

    A replacement may always return True, which saves waiting for a GPU. Callers must stay correct
    if that True is wrong.
    """
    return bool(flags.any())


def keep_batch(batch: Batch) -> Batch:
    """Return a batch as it is, without padding."""
    return batch


# --- The cache of a search (section 6.1) ----------------------------------------------------------


@final
@dataclass(frozen=True)
class PlainCache:
    """For each hypothesis, the keys and values of its tokens and of its source in all layers."""

    past: tuple[Float[Tensor, "N R T H K"], Float[Tensor, "N R T H d_v"]]  # keys and values
    next_positions: Int[Tensor, " R"]  # each hypothesis' length, which is its next token's position
    source: tuple[Float[Tensor, "N R S H K"], Float[Tensor, "N R S H d_v"]]  # keys and values
    source_lengths: Int[Tensor, " R"]
    reach: int | None = None  # how far back the next token may attend; None: to all tokens

    @staticmethod
    def start(
        keys: Sequence[Float[Tensor, "S_P H K"]],
        values: Sequence[Float[Tensor, "S_P H d_v"]],
        lengths: Sequence[int],
    ) -> "PlainCache":
        """Return a cache with each layer's keys and values of the sources, and no past tokens."""
        k, v = (
            torch.stack([pad_sentences(layer, lengths).transpose(1, 2) for layer in layers])
            for layers in (keys, values)
        )
        source_lengths = torch.tensor(lengths, device=k.device)
        nothing = (k[:, :, :0], v[:, :, :0])
        return PlainCache(nothing, torch.zeros_like(source_lengths), (k, v), source_lengths)

    @property
    def longest(self) -> int:
        """The number of tokens of the longest hypothesis."""
        return int(self.next_positions.max())

    def begin_step(self, reach: int | None) -> "PlainCache":
        """Return the cache with room for one more token per row.

        The new token attends to itself and at most `reach` tokens before it (None: to all).
        """
        k, v = (pad_cache(x, x.shape[2] + 1) for x in self.past)
        return replace(self, past=(k, v), reach=reach)

    def layer_caches(self) -> "list[PlainLayerCache]":
        """Return views of each layer's part of the cache; their `append` writes into the cache."""
        positions = torch.arange(self.past[0].shape[2], device=self.next_positions.device)
        back = self.next_positions[:, None] - positions  # [R T]
        allowed = (back >= 0) if self.reach is None else (back >= 0) & (back <= self.reach)
        in_source = token_mask(self.source_lengths, self.source[0].shape[2])
        return [
            PlainLayerCache(*layer, self.next_positions, allowed, in_source)
            for layer in zip(*self.past, *self.source, strict=True)
        ]

    def advance(self) -> "PlainCache":
        """Return the cache after a step, in which every hypothesis grew by a token."""
        return replace(self, next_positions=self.next_positions + 1)

    def reorder(self, rows: Int[Tensor, " R2"]) -> "PlainCache":
        """Return the cache of the hypotheses with these indices, in this order."""
        past, source = ((k[:, rows], v[:, rows]) for k, v in (self.past, self.source))
        return PlainCache(past, self.next_positions[rows], source, self.source_lengths[rows])

    def concatenate(self, other: "PlainCache") -> "PlainCache":
        """Return one cache with the hypotheses of this cache, then the hypotheses of `other`."""

        def join(first: Tensor, second: Tensor) -> Tensor:
            longest = max(first.shape[2], second.shape[2])
            return torch.cat([pad_cache(one, longest) for one in (first, second)], dim=1)

        return PlainCache(
            (join(self.past[0], other.past[0]), join(self.past[1], other.past[1])),
            torch.cat([self.next_positions, other.next_positions]),
            (join(self.source[0], other.source[0]), join(self.source[1], other.source[1])),
            torch.cat([self.source_lengths, other.source_lengths]),
        )


def pad_cache(x: Float[Tensor, "N R T H k"], length: int) -> Float[Tensor, "N R {length} H k"]:
    """Pad the keys or values of every row with zeros to `length` positions."""
    return functional.pad(x, (0, 0, 0, 0, 0, length - x.shape[2]))


@final
@dataclass(frozen=True)
class PlainLayerCache:
    """One layer's keys and values in a decoding step: `append` those of new tokens, then attend."""

    keys: Float[Tensor, "R T H K"]
    values: Float[Tensor, "R T H d_v"]
    source_keys: Float[Tensor, "R S H K"]
    source_values: Float[Tensor, "R S H d_v"]
    positions: Int[Tensor, " R"]  # of the newest tokens
    allowed: Bool[Tensor, "R T"]
    allowed_in_source: Bool[Tensor, "R S"]

    def split_heads(
        self, x: Float[Tensor, "R total"], heads: int, widths: Sequence[int]
    ) -> list[Float[Tensor, "R H k"]]:
        """Split projections into heads; another class of `LayerCache` may return another layout."""
        return split_heads(x, heads, widths)

    def append(self, k: Float[Tensor, "R H K"], v: Float[Tensor, "R H d_v"]) -> None:
        """Write the newest tokens' keys and values into the cache."""
        rows = torch.arange(len(self.positions), device=self.positions.device)
        self.keys[rows, self.positions] = k
        self.values[rows, self.positions] = v

    def attend(self, q: Float[Tensor, "R H Q"]) -> Float[Tensor, "R Hd_v"]:
        """Attend from each newest token to its hypothesis; concatenate the heads    (equation 1)"""
        return attend_within_rows(q, self.keys, self.values, self.allowed)

    def attend_to_source(self, q: Float[Tensor, "R H Q"]) -> Float[Tensor, "R Hd_v"]:
        """Attend from each newest token to its source; concatenate the heads    (equation 1)"""
        return attend_within_rows(q, self.source_keys, self.source_values, self.allowed_in_source)


def attend_within_rows(
    q: Float[Tensor, "R H Q"],
    k: Float[Tensor, "R S H K"],
    v: Float[Tensor, "R S H d_v"],
    allowed: Bool[Tensor, "R S"],
) -> Float[Tensor, "R Hd_v"]:
    """Attend from one query in each row to the row's keys; concatenate the heads."""
    keys, values = k.transpose(1, 2), v.transpose(1, 2)
    return attention(q[:, :, None], keys, values, allowed[:, None, None]).flatten(1)


def run_layers(
    decoder: "Iterable[StepLayer]", x: Float[Tensor, "R d_model"], caches: "Iterable[LayerCache]"
) -> Float[Tensor, "R d_model"]:
    """Do one decoding step of all layers; return the last layer's states of the newest tokens."""
    for layer, cache in zip(decoder, caches, strict=True):
        x = layer.decode_step(x, cache)
    return x


# --- The functions as one value ------------------------------------------------------------------


@runtime_checkable
class BatchAttention(Protocol):
    """Computes softmax(Q Kᵀ / √d_k) V for one packed batch    (equation 1)"""

    def __call__(
        self,
        q: Float[Tensor, "T_P H Q"],
        k: Float[Tensor, "S_P H K"],
        v: Float[Tensor, "S_P H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T_P H d_v"]: ...


@runtime_checkable
class LayerCache(Protocol):
    """What a decoder layer needs in one decoding step; see `PlainLayerCache`."""

    def split_heads(
        self, x: Float[Tensor, "R total"], heads: int, widths: Sequence[int]
    ) -> Sequence[Tensor]: ...
    def append(self, k: Tensor, v: Tensor) -> None: ...
    def attend(self, q: Tensor) -> Float[Tensor, "R Hd_v"]: ...
    def attend_to_source(self, q: Tensor) -> Float[Tensor, "R Hd_v"]: ...


@runtime_checkable
class Cache(Protocol):
    """The state of incremental decoding; see `PlainCache`.

    A cache may share memory with the caches it was made from. Use only the newest one.
    """

    @property
    def next_positions(self) -> Int[Tensor, " R"]: ...
    @property
    def longest(self) -> int: ...
    def begin_step(self, reach: int | None) -> Self: ...
    def layer_caches(self) -> Iterable[LayerCache]: ...
    def advance(self) -> Self: ...
    def reorder(self, rows: Int[Tensor, " R2"]) -> Self: ...
    def concatenate(self, other: Self) -> Self: ...


@runtime_checkable
class StepLayer(Protocol):
    """A decoder layer with the method that a decoding step calls."""

    def decode_step(
        self, x: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]: ...


BuildAttention = Callable[[Sequence[int], Sequence[int], AttentionMask], BatchAttention]
StartCache = Callable[[Sequence[Tensor], Sequence[Tensor], Sequence[int]], Cache]
RunLayers = Callable[[Iterable[StepLayer], Tensor, Iterable[LayerCache]], Tensor]
SmoothedLoss = Callable[[Tensor, Tensor, Tensor, float, Tensor | None], tuple[Tensor, Tensor]]
HighestSums = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]
IsAny = Callable[[Tensor], bool]


@final
@dataclass(frozen=True, kw_only=True)
class Operations:
    """The functions called by model, update and search; by default the plain ones above.

    A replacement takes the same arguments and changes final results only by rounding. Another
    `log_softmax` may overwrite its argument. Another `pad_batch` may add padding sentences.
    """

    build_attention: BuildAttention = build_padded_attention
    start_cache: StartCache = PlainCache.start
    run_layers: RunLayers = run_layers
    smoothed_loss: SmoothedLoss = smoothed_loss
    log_softmax: Callable[[Tensor], Tensor] = log_softmax
    target_log_probs: Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor] = target_log_probs
    highest_sums: HighestSums = highest_sums
    is_any: IsAny = is_any
    pad_batch: Callable[[Batch], Batch] = keep_batch


PLAIN = Operations()
