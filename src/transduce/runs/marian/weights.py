"""Converts the weights of a Marian checkpoint: our tensor names, and our order of features.

In Marian's positions all sines come before all cosines; ours alternate (section 3.5). Permuting
the d_model features of every vector in the same way converts one to the other, and changes no
output.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import torch
from torch import Tensor

from transduce.checkpoint.weights import read_tensors
from transduce.durable import HashingReader
from transduce.errors import FolderError, InputError
from transduce.runs.marian.config import CONFIG, SAVED, MarianConfig, open_file
from transduce.runs.marian.vocabularies import ImportedVocabularies
from transduce.settings import Architecture
from transduce.vocabulary import BEGIN

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
BIAS = "final_logits_bias"
NEVER = -100.0  # the output bias of BEGIN, so that BEGIN is never written
Take = Callable[[str], Tensor]


@final
@dataclass(frozen=True)
class MarianWeights:
    """The weights of a checkpoint as our model names and orders them, and the file's sha256."""

    weights: dict[str, Tensor]
    sha256: str


def read_marian_weights(
    folder: Path, config: MarianConfig, symbols: ImportedVocabularies
) -> MarianWeights:
    """Return a checkpoint's weights; FolderError for a tensor that is missing or of other shape."""
    found, sha256 = load_safetensors(folder)
    sizes = config.recipe.architecture
    order = interleave(sizes.d_model)

    def take(name: str) -> Tensor:
        if name not in found:
            raise FolderError(f"has no tensor {name}", "download it again", file=folder / WEIGHTS)
        shape = tuple(found[name].shape)
        if shape != find_shape(name, sizes, rows=shape[-1 if name == BIAS else 0] if shape else 0):
            fact = f"tensor {name} has the shape {shape}, which is not that of {CONFIG}"
            raise FolderError(fact, "download it again", file=folder / WEIGHTS)
        return found[name].float()

    weights = dict(list_embeddings(take, found, config, symbols, order))
    for side in ("encoder", "decoder"):
        for number in range(sizes.layers):
            start = f"model.{side}.layers.{number}"
            weights |= convert_layer(take, start, f"{side}.{number}", order)
    return MarianWeights({name: weight.contiguous() for name, weight in weights.items()}, sha256)


def find_shape(name: str, sizes: Architecture, rows: int) -> tuple[int, ...]:
    """Return the shape of a tensor by the end of its name; tables have so many rows."""
    d_model, d_ff = sizes.d_model, sizes.d_ff
    shapes = {
        BIAS: (1, rows),
        "shared.weight": (rows, d_model),
        "embed_tokens.weight": (rows, d_model),
        "fc1.weight": (d_ff, d_model),
        "fc1.bias": (d_ff,),
        "fc2.weight": (d_model, d_ff),
        "_proj.weight": (d_model, d_model),
    }
    return next((shape for end, shape in shapes.items() if name.endswith(end)), (d_model,))


def load_safetensors(folder: Path) -> tuple[dict[str, Tensor], str]:
    """Return the tensors of model.safetensors and its sha256; a pickled file is never opened."""
    file = folder / WEIGHTS
    if not os.path.lexists(file):
        hint = SAVED
        if (folder / PICKLED).exists():
            hint = (
                f"{PICKLED} may hold code and is not opened: MarianMTModel.from_pretrained(FOLDER)"
                ".save_pretrained(OTHER) writes a safetensors file"
            )
        raise InputError("is not there", hint, file=file)
    with open_file(file) as stream:
        reader = HashingReader(stream, os.fstat(stream.fileno()).st_size)
        return read_tensors(reader, file, has_metadata=True), reader.hash_rest()


def interleave(d_model: int) -> Tensor:
    """Return for each of our d_model features its index in Marian's order: sine 0, cosine 0, …"""
    halves = torch.arange(d_model).view(2, d_model // 2)
    return halves.T.flatten()


def list_embeddings(
    take: Take,
    found: Mapping[str, Tensor],
    config: MarianConfig,
    symbols: ImportedVocabularies,
    order: Tensor,
) -> Iterator[tuple[str, Tensor]]:
    """Yield our names and tensors of both embeddings, the output bias, and the output matrix.

    Without scaled embeddings ours are scaled instead, and the output matrix is stored apart.
    """
    names = ["model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"]
    source, target = (take(name if name in found else "model.shared.weight") for name in names)
    scale = 1.0 if config.scale_embedding else config.recipe.architecture.d_model**-0.5
    yield "source.weight", scale * take_rows(source, symbols.source_rows)[:, order]
    rows = take_rows(target, symbols.target_rows)[:, order]
    yield "target.weight", scale * rows
    if not config.scale_embedding:  # the embedding is the output matrix / √d_model: untied
        yield "output.weight", rows
    bias = take_rows(take(BIAS).flatten(), symbols.target_rows).clone()
    bias[BEGIN] = NEVER
    yield "output_bias.weight", bias


def take_rows(table: Tensor, rows: Sequence[int]) -> Tensor:
    """Return the rows of a matrix with the given numbers; FolderError if it has too few rows."""
    if max(rows) >= len(table):
        fact = f"the vocabulary has symbol {max(rows):,}, and the weights have {len(table):,} rows"
        raise FolderError(fact, "download the checkpoint again")
    return table[torch.tensor(rows)]


def convert_layer(take: Take, start: str, name: str, order: Tensor) -> dict[str, Tensor]:
    """Return the weights of one encoder or decoder layer, whose names begin with `name`."""

    def join(parts: Sequence[str], attention: str, kind: str) -> Tensor:
        tensors = [take(f"{start}.{attention}.{part}_proj.{kind}") for part in parts]
        joined = torch.cat(tensors)
        return joined[:, order] if kind == "weight" else joined

    def end(theirs: str, ours: str) -> dict[str, Tensor]:
        return {f"{name}.{ours}.{kind}": take(f"{start}.{theirs}.{kind}")[order] for kind in KINDS}

    weights = {}
    for kind in KINDS:
        weights[f"{name}.self_attention.query_key_value.{kind}"] = join("qkv", "self_attn", kind)
        inner = take(f"{start}.fc1.{kind}")
        weights[f"{name}.feed_forward.inner.{kind}"] = (
            inner[:, order] if kind == "weight" else inner
        )
        if name.startswith("decoder"):
            weights[f"{name}.cross_attention.query.{kind}"] = join("q", "encoder_attn", kind)
            weights[f"{name}.cross_attention.key_value.{kind}"] = join("kv", "encoder_attn", kind)
    weights |= end("self_attn.out_proj", "self_attention.output")
    weights |= end("self_attn_layer_norm", "add_self.norm")
    weights |= end("fc2", "feed_forward.outer")
    weights |= end("final_layer_norm", "add_feed_forward.norm")
    if name.startswith("decoder"):
        weights |= end("encoder_attn.out_proj", "cross_attention.output")
        weights |= end("encoder_attn_layer_norm", "add_cross.norm")
    return weights


KINDS = ("weight", "bias")
