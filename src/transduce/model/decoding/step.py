"""Incremental decoding: a KV cache for encoded sources, and one decoding step for all rows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.model.decoding.kv_cache import KVCache, round_up_slots
from transduce.model.decoding.layer_cache import (
    CachedMemory,
    LayerCache,
    StepSlots,
    StepTensors,
    build_additive_mask,
)
from transduce.model.layers import DecoderLayer
from transduce.model.transformer import EncoderOutput, Transformer
from transduce.packed import move_to_device

# S sentences · R rows, one per hypothesis · T source tokens of all sentences · s source positions


def start_cache(model: Transformer, memory: EncoderOutput) -> KVCache:
    """Build the KV cache of encoded sources before the first step, with one row per sentence."""
    lengths = torch.tensor(memory.lengths)
    real = torch.arange(round_up_slots(max(memory.lengths))) < lengths[:, None]  # [S s]
    device = memory.states.device
    cells = move_to_device(real.flatten().nonzero()[:, 0], device)
    real = move_to_device(real, device)
    per_layer = [
        layer.cross_attention.project_keys_values(memory.states) for layer in model.decoder
    ]
    keys, values = (
        torch.stack([scatter_to_padded(side, cells, real.shape) for side in sides])
        for sides in zip(*per_layer, strict=True)
    )
    layers, sentences = keys.shape[:2]
    heads, key_width, value_width = model.decoder[0].self_attention.cache_shape
    none = torch.zeros(sentences, 1, 0, dtype=torch.bool, device=device)
    return KVCache(
        keys=keys.new_empty(layers, sentences, heads, 0, key_width),
        values=keys.new_empty(layers, sentences, heads, 0, value_width),
        visible=none,
        positions=none[:, 0].long(),
        lengths=torch.zeros(sentences, dtype=torch.long, device=device),
        max_length=0,
        memory_keys=keys,
        memory_values=values,
        memory_mask=build_additive_mask(~real[:, None, None], keys.dtype),
    )


def scatter_to_padded(
    side: Float[Tensor, "T H k"], cells: Int[Tensor, " T"], shape: torch.Size
) -> Float[Tensor, "S H s k"]:
    """Copy keys or values of T packed tokens to `cells` (flat indices) of a tensor of zeros.

    `shape` is the number of sentences S and of source positions s.
    """
    padded = side.new_zeros(shape.numel(), *side.shape[1:]).index_copy_(0, cells, side)
    return padded.unflatten(0, shape).transpose(1, 2).contiguous()


def decode_step(
    model: Transformer, ids: Int[Tensor, " R"], cache: KVCache
) -> tuple[Float[Tensor, "R d_model"], KVCache]:
    """Append a token to each of R hypotheses; return the decoder's states and the new cache."""
    current, longest = cache.lengths, cache.max_length + 1
    cache = cache.open_slots(max(layer.self_attention.reach for layer in model.decoder))
    position = current.repeat_interleave(cache.visible.shape[1])  # [R]
    x = model.target(ids) + model.target_positions(position, longest)
    run = model.layer_graph or partial(run_layers, model.decoder)
    x = run(x, view_step(cache))
    return model.decoder_final_norm(x), replace(cache, lengths=current + 1, max_length=longest)


def run_layers(
    decoder: Iterable[DecoderLayer], x: Float[Tensor, "R d_model"], step: StepTensors
) -> Float[Tensor, "R d_model"]:
    """Compute the last layer's states of R hypotheses' newest tokens, and cache the tokens."""
    for layer, own, memory in zip(decoder, list_caches(step), list_memories(step), strict=True):
        x = layer.decode_step(x, own, memory)
    return x


def view_step(cache: KVCache) -> StepTensors:
    """Return the parts of a KV cache that the layers of one decoding step read and write."""
    written, width = cache.slot_count, cache.visible.shape[1]
    read, newest = round_up_slots(written), slice(written - width, written)
    return StepTensors(
        keys=cache.keys[:, :, :, :read],
        values=cache.values[:, :, :, :read],
        new_keys=cache.keys[:, :, :, newest],
        new_values=cache.values[:, :, :, newest],
        visible=cache.visible,
        positions=cache.positions,
        current=cache.lengths,
        memory_keys=cache.memory_keys,
        memory_values=cache.memory_values,
        memory_mask=cache.memory_mask,
    )


def list_caches(step: StepTensors) -> Iterator[LayerCache]:
    """Yield each layer's keys and values of the written slots, the newest token's among them."""
    sides = (step.keys, step.values, step.new_keys, step.new_values)
    sentences = step.visible.shape[0]
    slots = StepSlots(step.visible, step.positions, step.current, step.keys, sentences)
    for keys, values, new_keys, new_values in zip(*(one.unbind() for one in sides), strict=True):
        yield LayerCache(keys, values, new_keys, new_values, slots)


def list_memories(step: StepTensors) -> Iterator[CachedMemory]:
    """Yield each layer's keys and values of the encoder's output."""
    sentences = step.memory_mask.shape[0]
    sides = (step.memory_keys.unbind(), step.memory_values.unbind())
    for keys, values in zip(*sides, strict=True):
        yield CachedMemory(keys, values, step.memory_mask, sentences)
