"""Conversion of a Marian checkpoint's configuration to a recipe, if a recipe can express it"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Any, final

from transduce.durable.json import read_json
from transduce.errors import FolderError, InputError, short_repr
from transduce.recipes.history import MARIAN
from transduce.settings import Recipe
from transduce.settings.data import UNNAMED
from transduce.settings.recipe import with_changes

CONFIG, GENERATION, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"
LIMIT = 1 << 20
SHARES = "share_encoder_decoder_embeddings"
LANGUAGE = re.compile(r"[A-Za-z0-9_-]{1,40}")
CHECK_PATH = "look at the path"
NOT_SAVED = "transformers wrote no such file: take the checkpoint from its source again"
SAVED = "name the folder of a Marian checkpoint, as transformers saves it"
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
    "quantization_config": None,
}
# required values of search settings that are not read; other values but null would change outputs
SEARCH_EXPECTED: Mapping[str, object] = {
    "begin_suppress_tokens": None,
    "diversity_penalty": 0.0,
    "do_sample": False,
    "encoder_no_repeat_ngram_size": 0,
    "forced_bos_token_id": None,
    "min_length": 0,
    "no_repeat_ngram_size": 0,
    "num_beam_groups": 1,
    "repetition_penalty": 1.0,
    "sequence_bias": None,
    "suppress_tokens": None,
}
MOST_BEAM = 100
TWINS = ("attention_heads", "ffn_dim")  # sizes that encoder and decoder must share
EDITED = "take the setting out if the model is to translate without it"
CTRANSLATE2 = "model.bin"  # the weights in a folder of CTranslate2
NOT_HERE = "this model cannot be expressed here; use it with the program that it was made for"


@final
@dataclass(frozen=True, kw_only=True)
class MarianConfig:
    """The recipe of a Marian checkpoint, and the facts that its vocabularies and weights need."""

    recipe: Recipe
    scale_embedding: bool  # whether embeddings are multiplied by √d_model
    is_shared: bool  # whether encoder and decoder have one embedding matrix
    source_rows: int  # rows of the encoder's embedding matrix
    target_rows: int  # rows of the decoder's embedding matrix
    start: int  # id of the symbol that the decoder starts with
    end: int  # id of the end symbol </s>
    pad: int  # id of the padding symbol


def read_config(folder: Path) -> MarianConfig:
    """Read a checkpoint's config.json and related files; refuse what no recipe can express."""
    file = folder / CONFIG
    values = read_object(file)
    if (folder / CTRANSLATE2).exists() and "model_type" not in values:
        hint = "import the checkpoint that it was converted from"
        raise InputError("is a model of CTranslate2, whose weights are not read", hint, file=folder)
    require_values({"model_type": None} | values, EXPECTED, NOT_HERE, file)
    for key in TWINS:
        sizes = [read_count(values, f"{side}_{key}", file) for side in ("encoder", "decoder")]
        if sizes[0] != sizes[1]:
            fact = f"{key} of encoder and decoder differ: {sizes[0]} and {sizes[1]}"
            raise InputError(fact, NOT_HERE, file=file)
    require_values(values, {"num_hidden_layers": values.get("encoder_layers")}, NOT_HERE, file)
    pad, end = read_id(values, "pad_token_id", file), read_id(values, "eos_token_id", file)
    expected = {**SEARCH_EXPECTED, "forced_eos_token_id": end, "bad_words_ids": [[pad]]}
    for found, its_file in (
        (values, file),
        (read_optional(folder / GENERATION), folder / GENERATION),
    ):
        stated = {key: value for key, value in found.items() if value is not None}
        require_values(stated, expected, EDITED, its_file)
    is_shared = read_flag({SHARES: True} | values, SHARES, file)
    rows = read_count(values, "vocab_size", file)
    target_rows = read_count({"decoder_vocab_size": rows} | values, "decoder_vocab_size", file)
    if is_shared:
        require_values(values, {"decoder_vocab_size": rows}, NOT_SAVED, file)
    return MarianConfig(
        recipe=build_recipe(folder, values, file),
        scale_embedding=read_flag({"scale_embedding": False} | values, "scale_embedding", file),
        is_shared=is_shared,
        source_rows=rows,
        target_rows=target_rows,
        start=read_id({"decoder_start_token_id": pad} | values, "decoder_start_token_id", file),
        end=end,
        pad=pad,
    )


def require_values(
    values: Mapping[str, Any], expected: Mapping[str, object], hint: str, file: Path
) -> None:
    """Raise InputError if a key has another value than expected; keys may be missing."""
    for key, wanted in expected.items():
        found = values.get(key, wanted)
        if found != wanted or isinstance(found, bool) != isinstance(wanted, bool):
            raise InputError(f"{key} is {short_repr(found)}, not {wanted!r}", hint, file=file)


def build_recipe(folder: Path, values: Mapping[str, Any], file: Path) -> Recipe:
    """Return the recipe `history/marian` with a checkpoint's sizes, languages and search."""
    activation, d_model = values.get("activation_function"), read_count(values, "d_model", file)
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        fact = f"activation_function is {short_repr(activation)}"
        raise InputError(fact, NOT_HERE, file=file)
    heads = read_count(values, "encoder_attention_heads", file)
    if d_model % heads or d_model % 2:
        fact = f"d_model is {d_model}, of {heads} heads"
        raise FolderError(fact, CHECK_PATH, file=file)
    names = read_optional(folder / TOKENIZER)
    encoder, decoder = (
        read_count(values, f"{side}_layers", file) for side in ("encoder", "decoder")
    )
    changes = {
        "architecture.layers": encoder,
        "architecture.decoder_layers": 0 if decoder == encoder else decoder,
        "architecture.d_model": d_model,
        "architecture.d_ff": read_count(values, "encoder_ffn_dim", file),
        "architecture.heads": heads,
        "architecture.d_k": d_model // heads,
        "architecture.d_v": d_model // heads,
        "architecture.activation": ACTIVATIONS[activation],
        "architecture.tie_embeddings": "target" if values.get("scale_embedding") else "none",
        "data.corpus": "imported",
        "data.source_language": read_language(names.get("source_lang"), UNNAMED[0]),
        "data.target_language": read_language(names.get("target_lang"), UNNAMED[1]),
        **read_search({**values, **read_optional(folder / GENERATION)}, file),
    }
    about = f"imported from {folder.resolve().name}"
    return replace(with_changes(MARIAN, changes), name=f"{MARIAN.name}, imported", about=about)


def read_language(name: object, default: str) -> str:
    """Return the language `name` if it is a code, else the default."""
    return name if isinstance(name, str) and LANGUAGE.fullmatch(name) else default


def read_search(values: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return search settings from a generation config: the beam width and the length penalty."""
    beam, power = values.get("num_beams"), values.get("length_penalty", 1.0)
    if type(power) not in (int, float):
        raise FolderError(f"length_penalty is {short_repr(power)}", CHECK_PATH, file=file)
    if beam is not None and not (type(beam) is int and 0 < beam <= MOST_BEAM):
        fact = f"num_beams is {short_repr(beam)}, not a width from 1 to {MOST_BEAM}"
        raise FolderError(fact, CHECK_PATH, file=file)
    width = {} if beam is None else {"search.beam": beam}
    return width | {"search.penalty": "none" if power == 0 else "average"}


def read_object(file: Path, limit: int = LIMIT) -> dict[str, Any]:
    """Return the JSON object in a file; refuse a missing, malformed or too large file."""
    return read_json(read_bytes(file, limit), file)


def read_bytes(file: Path, limit: int) -> bytes:
    """Return the bytes of a checkpoint's file; refuse a missing file, or one over `limit` bytes."""
    with open_file(file) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            raise FolderError(f"has {size:,} bytes, over {limit:,}", CHECK_PATH, file=file)
        return stream.read(limit)


@contextmanager
def open_file(file: Path) -> Iterator[BufferedReader]:
    """Context manager that opens a checkpoint's file or a link to one, but no pipe or device."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise FolderError("is no regular file", CHECK_PATH, file=file)
            yield stream
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", SAVED, file=file) from error


def read_optional(file: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or {} if the file does not exist."""
    return read_object(file) if os.path.lexists(file) else {}


def read_count(
    values: Mapping[str, Any], key: str, file: Path, *, least: int = 1, what: str = "a size"
) -> int:
    """Return the int `key` of config.json; FolderError unless it is from `least` to 2^24 - 1."""
    found = values.get(key)
    if type(found) is not int or not least <= found < 1 << 24:
        raise FolderError(describe_value(values, key, what), NOT_SAVED, file=file)
    return found


def read_id(values: Mapping[str, Any], key: str, file: Path) -> int:
    """Return the symbol id `key` of config.json; raise FolderError if it is no id."""
    return read_count(values, key, file, least=0, what="an id")


def describe_value(values: Mapping[str, Any], key: str, wanted: str) -> str:
    """Return a phrase on a value of config.json that is missing or is not what is wanted."""
    if key not in values:
        return f"{key} is missing"
    return f"{key} is {short_repr(values[key])}, not {wanted}"


def read_flag(values: Mapping[str, Any], key: str, file: Path) -> bool:
    """Return the flag `key` of config.json; raise FolderError if it is neither true nor false."""
    found = values[key]
    if not isinstance(found, bool):
        raise FolderError(describe_value(values, key, "true or false"), NOT_SAVED, file=file)
    return found
