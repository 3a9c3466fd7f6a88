"""A model of ours as CTranslate2 reads it: the same weights in its own file."""

from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import TransformerSpec  # type: ignore[import-not-found]
from torch import Tensor, nn

from transduce.model.positions import compute_sinusoids
from transduce.model.residual import NORM_EPSILON, PostNorm, PreNorm
from transduce.model.transformer import Transformer
from transduce.vocabulary import BEGIN, END

MAX_POSITIONS = 512


def name_symbols(symbols: int) -> list[str]:
    """Return a made-up word for each symbol."""
    return [f"t{number}" for number in range(symbols)]


def write_model(ours: Transformer, folder: Path) -> None:
    """Write a model's weights as a folder that CTranslate2 opens."""
    spec = TransformerSpec.from_config(ours.sizes.layers, ours.sizes.heads, pre_norm=False)
    for stack in (spec.encoder, spec.decoder):
        stack.scale_embeddings = True
        stack.position_encodings.encodings = (
            compute_sinusoids(MAX_POSITIONS, ours.sizes.d_model).float().numpy()
        )
    spec.encoder.embeddings[0].weight = to_numpy(ours.output.weight)
    spec.decoder.embeddings.weight = to_numpy(ours.output.weight)
    spec.decoder.projection.weight = to_numpy(ours.output.weight)
    for mine, theirs in zip(ours.encoder, spec.encoder.layer, strict=True):
        copy_self(mine, theirs)
    for one, other in zip(ours.decoder, spec.decoder.layer, strict=True):
        copy_self(one, other)
        cross = one.cross_attention
        weights = [cross.query.weight, cross.key_value.weight, cross.output.weight]
        copy_attention(other.attention, weights, one.add_cross)
    names = name_symbols(len(ours.output.weight))
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.eos_token = names[END]
    spec.config.bos_token = spec.config.decoder_start_token = names[BEGIN]
    spec.config.layer_norm_epsilon = NORM_EPSILON
    spec.validate()
    folder.mkdir()
    spec.save(str(folder))


def copy_self(mine: Any, theirs: Any) -> None:  # noqa: ANN401 - layers of both kinds
    """Copy self-attention and the feed-forward network, which both kinds of layer have."""
    attention = mine.self_attention
    weights = [attention.query_key_value.weight, attention.output.weight]
    copy_attention(theirs.self_attention, weights, mine.add_self)
    for linear, own in (
        (theirs.ffn.linear_0, mine.feed_forward.inner),
        (theirs.ffn.linear_1, mine.feed_forward.outer),
    ):
        linear.weight, linear.bias = to_numpy(own.weight), to_numpy(own.bias)
    copy_norm(theirs.ffn.layer_norm, mine.add_feed_forward.norm)


def copy_attention(
    theirs: Any,  # noqa: ANN401
    weights: list[Tensor],
    add: PostNorm | PreNorm,
) -> None:
    """Copy the weights of an attention sub-layer, with biases of zero, and its norm."""
    for linear, weight in zip(theirs.linear, weights, strict=True):
        linear.weight = to_numpy(weight)
        linear.bias = np.zeros(len(weight), dtype=np.float32)
    copy_norm(theirs.layer_norm, add.norm)


def copy_norm(theirs: Any, mine: nn.LayerNorm) -> None:  # noqa: ANN401
    """Copy gain and bias of a norm."""
    theirs.gamma, theirs.beta = to_numpy(mine.weight), to_numpy(mine.bias)


def to_numpy(weight: Tensor) -> "np.ndarray":
    """Return a weight as a numpy array in float32."""
    return weight.detach().float().numpy()
