"""Converts a Marian checkpoint's configuration to a recipe; refuses what no recipe can express."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from transduce.durable import read_json
from transduce.errors import FolderError, InputError
from transduce.recipes.history import MARIAN
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes

CONFIG, GENERATION, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"
LIMIT = 1 << 20
ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu"}
# required values of keys in config.json; a missing key counts as equal, except model_type
EXPECTED: Mapping[str, object] = {
    "model_type": "marian",
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
    "encoder_layerdrop": 0.0,
    "decoder_layerdrop": 0.0,
    "tie_word_embeddings": True,
}
TWINS = ("layers", "attention_heads", "ffn_dim")  # sizes that encoder and decoder must share
NOT_HERE = "this model cannot be expressed here; use it with transformers"


@final
@dataclass(frozen=True, kw_only=True)
class MarianConfig:
    """The recipe of a Marian checkpoint, and the facts that its vocabularies and weights need."""

    recipe: Recipe
    scale_embedding: bool  # whether embeddings are multiplied by √d_model
    is_shared: bool  # whether encoder and decoder have one embedding matrix
    start: int  # id of the symbol that the decoder starts with
    end: int  # id of the end symbol </s>
    pad: int  # id of the padding symbol


def read_config(folder: Path) -> MarianConfig:
    """Read a checkpoint's config.json and related files; refuse what no recipe can express."""
    file = folder / CONFIG
    values = read_object(file)
    for key, wanted in EXPECTED.items():
        found = values.get(key, None if key == "model_type" else wanted)
        if found != wanted:
            raise InputError(f"{key} is {found!r}, not {wanted!r}", NOT_HERE, file=file)
    for key in TWINS:
        sizes = [read_count(values, f"{side}_{key}", file) for side in ("encoder", "decoder")]
        if sizes[0] != sizes[1]:
            fact = f"{key} of encoder and decoder differ: {sizes[0]} and {sizes[1]}"
            raise InputError(fact, NOT_HERE, file=file)
    pad, end = read_id(values, "pad_token_id", file), read_id(values, "eos_token_id", file)
    return MarianConfig(
        recipe=build_recipe(folder, values, file),
        scale_embedding=values.get("scale_embedding", False) is True,
        is_shared=values.get("share_encoder_decoder_embeddings", True) is True,
        start=read_id({"decoder_start_token_id": pad} | values, "decoder_start_token_id", file),
        end=end,
        pad=pad,
    )


def build_recipe(folder: Path, values: Mapping[str, Any], file: Path) -> Recipe:
    """Return the recipe `history/marian` with a checkpoint's sizes, languages and search."""
    activation, d_model = values.get("activation_function"), read_count(values, "d_model", file)
    if activation not in ACTIVATIONS:
        raise InputError(f"activation_function is {activation!r}", NOT_HERE, file=file)
    heads = read_count(values, "encoder_attention_heads", file)
    if d_model % heads or d_model % 2:
        fact = f"d_model is {d_model}, of {heads} heads"
        raise FolderError(fact, "look at the path", file=file)
    names = read_optional(folder / TOKENIZER)
    changes = {
        "architecture.layers": read_count(values, "encoder_layers", file),
        "architecture.d_model": d_model,
        "architecture.d_ff": read_count(values, "encoder_ffn_dim", file),
        "architecture.heads": heads,
        "architecture.d_k": d_model // heads,
        "architecture.d_v": d_model // heads,
        "architecture.activation": ACTIVATIONS[activation],
        "architecture.tie_embeddings": "target" if values.get("scale_embedding") else "none",
        "data.corpus": "imported",
        "data.source_language": str(names.get("source_lang") or "source"),
        "data.target_language": str(names.get("target_lang") or "target"),
        **read_search({**values, **read_optional(folder / GENERATION)}),
    }
    about = f"imported from {folder.resolve().name}"
    return replace(with_changes(MARIAN, changes), name=f"{MARIAN.name}, imported", about=about)


def read_search(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return search settings from a generation config: the beam width and the length penalty."""
    beam, power = values.get("num_beams"), values.get("length_penalty", 1.0)
    width = {"search.beam": beam} if type(beam) is int and 0 < beam <= 100 else {}
    return width | {"search.penalty": "none" if power == 0 else "average"}


def read_object(file: Path, limit: int = LIMIT) -> dict[str, Any]:
    """Return the JSON object in a file; refuse a missing, malformed or too large file."""
    return read_json(read_bytes(file, limit), file)


def read_bytes(file: Path, limit: int) -> bytes:
    """Return the bytes of a checkpoint's file; refuse a missing file, or one over `limit` bytes."""
    try:
        size = file.stat().st_size
        if size > limit:
            raise FolderError(f"has {size:,} bytes, over {limit:,}", "look at the path", file=file)
        return file.read_bytes()
    except OSError as error:
        hint = "name the folder of a Marian checkpoint, as transformers saves it"
        raise InputError(f"cannot be read ({error.strerror})", hint, file=file) from error


def read_optional(file: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or {} if the file does not exist."""
    return read_object(file) if file.exists() else {}


def read_count(values: Mapping[str, Any], key: str, file: Path) -> int:
    """Return the size `key` of config.json; FolderError if it is no positive whole number."""
    found = values.get(key)
    if type(found) is not int or not 0 < found < 1 << 24:
        raise FolderError(f"{key} is {found!r}, not a size", "look at the path", file=file)
    return found


def read_id(values: Mapping[str, Any], key: str, file: Path) -> int:
    """Return the special symbol's id `key` of config.json; FolderError if it is no whole number."""
    found = values.get(key)
    if type(found) is not int or found < 0:
        raise FolderError(f"{key} is {found!r}, not an id", "look at the path", file=file)
    return found
