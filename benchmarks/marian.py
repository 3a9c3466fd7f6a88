"""Hugging Face's Marian at a size of ours, with weights of ours if some are given."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel  # type: ignore[import-not-found]

from benchmarks.shapes import V
from transduce.paper.model import Residual, Transformer, compute_sinusoids
from transduce.settings import Architecture
from transduce.vocabulary import BEGIN, END

MAX_POSITIONS = 256


def build_marian(sizes: Architecture, symbols: int = V) -> Any:  # noqa: ANN401 - a class that is not typed
    """The model with its own first weights."""
    config = MarianConfig(
        vocab_size=symbols,
        max_position_embeddings=MAX_POSITIONS,
        d_model=sizes.d_model,
        encoder_layers=sizes.layers,
        decoder_layers=sizes.decoder_depth,
        encoder_attention_heads=sizes.heads,
        decoder_attention_heads=sizes.heads,
        encoder_ffn_dim=sizes.d_ff,
        decoder_ffn_dim=sizes.d_ff,
        activation_function="relu",
        dropout=sizes.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        scale_embedding=True,
        pad_token_id=BEGIN,
        decoder_start_token_id=BEGIN,
        eos_token_id=END,
        forced_eos_token_id=END,
    )
    return MarianMTModel(config)


@torch.no_grad()
def copy_weights(theirs: Any, ours: Transformer) -> None:  # noqa: ANN401
    """Make Marian compute what our model computes; biases that the paper has not are zero."""
    for name, weight in theirs.named_parameters():
        if name.endswith("proj.bias"):
            weight.zero_()
    for module in theirs.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = ours.sizes.norm_epsilon
    inner = theirs.model
    inner.shared.weight.copy_(ours.output.weight)
    sinusoids = compute_sinusoids(MAX_POSITIONS, ours.sizes.d_model, ours.sizes.positions)
    for stack in (inner.encoder, inner.decoder):
        stack.embed_positions.weight.copy_(sinusoids)
    for mine, layer in zip(ours.encoder, inner.encoder.layers, strict=True):
        copy_self(mine, layer)
    for one, layer in zip(ours.decoder, inner.decoder.layers, strict=True):
        copy_self(one, layer)
        attention = one.cross_attention
        rows = [attention.query.weight, *attention.key_value.weight.chunk(2)]
        copy_attention(layer.encoder_attn, rows, attention.output.weight)
        copy_norm(layer.encoder_attn_layer_norm, one.add_cross)


def copy_self(mine: Any, layer: Any) -> None:  # noqa: ANN401
    """What both kinds of layer have."""
    attention = mine.self_attention
    rows = list(attention.query_key_value.weight.chunk(3))
    copy_attention(layer.self_attn, rows, attention.output.weight)
    copy_norm(layer.self_attn_layer_norm, mine.add_self)
    layer.fc1.load_state_dict(mine.feed_forward.inner.state_dict())
    layer.fc2.load_state_dict(mine.feed_forward.outer.state_dict())
    copy_norm(layer.final_layer_norm, mine.add_feed_forward)


def copy_attention(theirs: Any, rows: list[Tensor], output: Tensor) -> None:  # noqa: ANN401
    """Q, K, V, and what joins the heads."""
    projections = (theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.out_proj)
    for projection, weight in zip(projections, [*rows, output], strict=True):
        projection.weight.copy_(weight)


def copy_norm(theirs: nn.LayerNorm, mine: Residual) -> None:
    """A norm."""
    theirs.load_state_dict(mine.norm.state_dict())
