"""Converts the weights of a Marian checkpoint: our tensor names, and our order of features.

In Marian's positions all sines come before all cosines; ours alternate (section 3.5). Permuting
the d_model features of every vector in the same way converts one to the other, and changes no
output.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from transduce.errors import FolderError, InputError
from transduce.runs.marian.config import MarianConfig
from transduce.runs.marian.vocabularies import ImportedVocabularies
from transduce.vocabulary import BEGIN

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
NEVER = -100.0  # the output bias of BEGIN, so that BEGIN is never written
Take = Callable[[str], Tensor]


def read_marian_weights(
    folder: Path, config: MarianConfig, symbols: ImportedVocabularies
) -> dict[str, Tensor]:
    """Return a Marian checkpoint's weights under our names and in our order of features."""
    found = load_safetensors(folder)
    order = interleave(config.recipe.architecture.d_model)

    def take(name: str) -> Tensor:
        if name not in found:
            raise FolderError(f"has no tensor {name}", "download it again", file=folder / WEIGHTS)
        return found[name].float()

    weights = dict(list_embeddings(take, found, config, symbols, order))
    for side in ("encoder", "decoder"):
        for number in range(config.recipe.architecture.layers):
            start = f"model.{side}.layers.{number}"
            weights |= convert_layer(take, start, f"{side}.{number}", order)
    return {name: weight.contiguous() for name, weight in weights.items()}


def load_safetensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder's model.safetensors; refuse a folder with pickles only."""
    file = folder / WEIGHTS
    if not file.exists():
        hint = "name the folder of a Marian checkpoint, as transformers saves it"
        if (folder / PICKLED).exists():
            hint = (
                f"{PICKLED} may hold code and is not opened: MarianMTModel.from_pretrained(FOLDER)"
                ".save_pretrained(OTHER) writes a safetensors file"
            )
        raise InputError("is not there", hint, file=file)
    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        fact = f"cannot be read: {error}"
        raise FolderError(fact, "download it again", file=file) from error


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
    bias = take_rows(take("final_logits_bias").flatten(), symbols.target_rows).clone()
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
