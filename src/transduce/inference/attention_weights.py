"""Records the attention weights of a model on a batch: all of them, or cross-attention only

A call of the model gets `Operations` whose attention also appends its weights to a list.
The model is set to evaluation mode. Nothing else in it changes, so several threads may record at
once.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.paper.operations import AttentionMask, BatchAttention, Operations, attention_weights

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k

Layers = list[list[Tensor]]  # [layer][sentence]: weights [heads, queries, keys]


@final
@dataclass(frozen=True)
class AttentionRecord:
    """A batch's encoder, decoder and cross-attention weights, and the decoder's output vectors.

    A model with another layer in place of self-attention has weights of "cross" only.
    """

    weights: Mapping[str, Layers]  # by kind: "encoder", "decoder", "cross", if there are any
    states: Float[Tensor, "T d_model"]  # the decoder's output, computed with these weights


@torch.no_grad()
def capture_attention(model: Transformer, source: Packed, inputs: Packed) -> AttentionRecord:
    """Run a model on sources and target inputs; return attention weights and decoder output."""
    found, operations = defaultdict[str, Layers](Layers), model.eval().operations
    in_encoder = build_recording_operations(operations, lambda _mask: found["encoder"])
    in_decoder = build_recording_operations(
        operations, lambda mask: found["decoder" if mask.causal else "cross"]
    )
    states = model.decode(inputs, model.encode(source, in_encoder), in_decoder)
    return AttentionRecord(dict(found), states)


@torch.no_grad()
def capture_cross_attention(model: Transformer, source: Packed, inputs: Packed) -> Layers:
    """Return cross-attention weights by layer and sentence: tensors [heads, targets, sources].

    All other attention is computed by the model's own operations.
    """
    operations = model.eval().operations
    cross = Layers()
    recording = build_recording_operations(operations, lambda mask: None if mask.causal else cross)
    model.decode(inputs, model.encode(source), recording)
    return cross


def build_recording_operations(
    operations: Operations, choose: Callable[[AttentionMask], Layers | None]
) -> Operations:
    """Return operations whose attention appends its weights to the list from `choose(mask)`.

    If `choose` returns None, `operations` compute the attention and nothing is appended.
    """

    def build(queries: Sequence[int], keys: Sequence[int], mask: AttentionMask) -> BatchAttention:
        layers = choose(mask)
        if layers is None:
            return operations.build_attention(queries, keys, mask)
        return AttentionBySentence(queries, keys, mask, layers.append)

    return replace(operations, build_attention=build)


@final
@dataclass(frozen=True)
class AttentionBySentence:
    """Attention computed sentence by sentence; `on_weights` gets the weights before their use.

    `on_weights` is called once per layer, with a tensor for each sentence. It may change the
    tensors in place.
    """

    queries: Sequence[int]  # the number of query tokens of each sentence
    keys: Sequence[int]  # the number of key tokens of each sentence
    mask: AttentionMask
    on_weights: Callable[[list[Tensor]], None]

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,  # noqa: ARG002 - a model does not train while its weights are shown
    ) -> Float[Tensor, "T H d_v"]:
        """Return the attention; pass this layer's weights to `on_weights` before their use."""
        both = zip(q.split(list(self.queries)), k.split(list(self.keys)), strict=True)
        weights = []
        for one_q, one_k in both:
            positions = (torch.arange(len(x), device=q.device) for x in (one_q, one_k))
            allowed = self.mask.compute_allowed(*positions)
            weights.append(attention_weights(one_q.transpose(0, 1), one_k.transpose(0, 1), allowed))
        self.on_weights(weights)
        pairs = zip(weights, v.split(list(self.keys)), strict=True)
        return torch.cat([(one @ one_v.transpose(0, 1)).transpose(0, 1) for one, one_v in pairs])
