"""Conversion of a Marian checkpoint's weights to our tensor names and our order of features

In Marian's positions all sines come before all cosines; ours alternate (section 3.5). Permuting
the d_model features of every vector in the same way converts one to the other, and changes no
output.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from transduce.checkpoint.weights import read_tensors
from transduce.durable.folder import HashingReader
from transduce.errors import FolderError, InputError, short_repr
from transduce.runs.marian.config import CONFIG, NOT_HERE, SAVED, MarianConfig, open_file
from transduce.runs.marian.vocabularies import ImportedVocabularies
from transduce.vocabulary import BEGIN

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
BIAS, SHARED, OUTPUT = "final_logits_bias", "model.shared.weight", "lm_head.weight"
EMBEDDINGS = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
POSITIONS = tuple(f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder"))
POSITIONS_TOLERANCE = 1e-4  # the least, for tables whose angles were computed in float32
BLOCK = 1_024  # positions that are compared at once
AGAIN = "download it again"
NEVER = -100.0  # the output bias of BEGIN, so that BEGIN is never written
Take = Callable[[str], Tensor]


def read_marian_weights(
    folder: Path, config: MarianConfig, symbols: ImportedVocabularies
) -> tuple[dict[str, Tensor], str]:
    """Return a checkpoint's weights under our names, and the sha256 of their file.

    Tensors that are missing, of another shape or unused are refused. Unused positions and copies of
    an embedding matrix are accepted if they have the known values.
    """
    found, sha256 = load_safetensors(folder)
    sizes = config.recipe.architecture
    # the index of each of our features in Marian's order: sine 0, cosine 0, …
    order = torch.arange(sizes.d_model).view(2, sizes.d_model // 2).T.flatten()
    used = set[str]()

    def take(name: str) -> Tensor:
        if name not in found:
            raise FolderError(f"has no tensor {name}", AGAIN, file=folder / WEIGHTS)
        shape = tuple(found[name].shape)
        if shape != expected_shape(name, config):
            fact = f"tensor {name} has the shape {shape}, which is not that of {CONFIG}"
            raise FolderError(fact, AGAIN, file=folder / WEIGHTS)
        used.add(name)
        return found[name].float()

    weights = dict(list_embeddings(take, found, config, symbols, order))
    for side, depth in (("encoder", sizes.encoder_depth), ("decoder", sizes.decoder_depth)):
        for index in range(depth):
            start = f"model.{side}.layers.{index}"
            weights |= convert_layer(take, start, f"{side}.{index}", order)
    for name in sorted(found.keys() - used):
        if not is_repeated(name, found, config):
            fact = f"tensor {short_repr(name)} is none that this model uses"
            raise FolderError(fact, NOT_HERE, file=folder / WEIGHTS)
    return {name: weight.contiguous() for name, weight in weights.items()}, sha256


def find_embedding_names(found: Mapping[str, Tensor], config: MarianConfig) -> tuple[str, str]:
    """Return the names of the encoder's and the decoder's embedding matrix, which may be one."""
    if not config.is_shared:
        return EMBEDDINGS
    name = next((one for one in (SHARED, *EMBEDDINGS) if one in found), SHARED)
    return name, name


def is_repeated(name: str, found: Mapping[str, Tensor], config: MarianConfig) -> bool:
    """Return whether an unused tensor is a copy of the sinusoids or of an embedding matrix.

    The output matrix is the decoder's embedding matrix.
    """
    if name in POSITIONS:
        return is_sinusoid(found[name])
    if name == OUTPUT or (config.is_shared and name in EMBEDDINGS):
        return torch.equal(found[name], found[find_embedding_names(found, config)[1]])
    return False


def is_sinusoid(table: Tensor) -> bool:
    """Return whether a matrix holds Marian's positions: sines at the left, cosines at the right."""
    if table.ndim != 2 or table.shape[1] % 2 or not table.is_floating_point():
        return False
    length, d_model = table.shape
    tolerance = max(4 * torch.finfo(table.dtype).eps, POSITIONS_TOLERANCE)
    rates = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    for start in range(0, length, BLOCK):
        found = table[start : start + BLOCK].double()
        angles = torch.arange(start, start + len(found), dtype=torch.float64)[:, None] * rates
        expected = torch.cat([angles.sin(), angles.cos()], dim=1)
        if not torch.allclose(found, expected, rtol=0, atol=tolerance):
            return False
    return True


def expected_shape(name: str, config: MarianConfig) -> tuple[int, ...]:
    """Return the shape that the checkpoint's tensor with this name must have."""
    sizes = config.recipe.architecture
    d_model, d_ff = sizes.d_model, sizes.d_ff
    shapes = {
        BIAS: (1, config.target_rows),
        "encoder.embed_tokens.weight": (config.source_rows, d_model),
        "embed_tokens.weight": (config.target_rows, d_model),
        SHARED: (config.source_rows, d_model),
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


def list_embeddings(
    take: Take,
    found: Mapping[str, Tensor],
    config: MarianConfig,
    symbols: ImportedVocabularies,
    order: Tensor,
) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, tensor) for both embeddings, the output bias, and an untied output matrix.

    If the checkpoint's embeddings are not multiplied by √d_model, ours are divided by it, and the
    output matrix is stored apart.
    """
    source, target = map(take, find_embedding_names(found, config))
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
    """Return the rows of a matrix with these indices; raise FolderError if it has too few rows."""
    if max(rows) >= len(table):
        fact = f"the vocabulary has symbol {max(rows):,}, and the weights have {len(table):,} rows"
        raise FolderError(fact, "download the checkpoint again")
    return table[torch.tensor(rows)]


def convert_layer(take: Take, start: str, name: str, order: Tensor) -> dict[str, Tensor]:
    """Return layer `start` of the checkpoint as our layer `name`, with features in our `order`.

    `take` returns a checkpoint tensor by name. `order` has the index of each of our d_model
    features in the checkpoint.
    """

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
