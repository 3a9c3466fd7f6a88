"""`transduce.import_model` converts a Marian checkpoint to a model folder.

In Marian one list (vocab.json) gives ids to the pieces of both languages. After the conversion each
language has its own list, which begins with END, BEGIN (Marian's decoder start symbol) and the
unknown symbol. In Marian's positions all sines come before all cosines; ours alternate (section
3.5). Permuting the d_model features of every vector in the same way converts the first order to the
second, and changes no output.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from transduce.checkpoint.card import CardFacts, format_model_card
from transduce.checkpoint.stored_model import save_model
from transduce.checkpoint.weights import read_tensors, require_matching_tensors
from transduce.durable.folder import HashingReader, require_absent
from transduce.durable.json import read_json
from transduce.errors import FolderError, InputError, short_repr
from transduce.paper.model import Transformer
from transduce.recipes.history import MARIAN
from transduce.runs.ledger import describe_size
from transduce.runs.texts import decode_name
from transduce.settings import Recipe
from transduce.settings.data import UNNAMED
from transduce.settings.recipe import UNSHOWN, with_changes
from transduce.tasks import build_task
from transduce.text.arguments import read_path
from transduce.version import __version__
from transduce.vocabulary import BEGIN, Vocabulary
from transduce.vocabulary.sentencepiece import (
    UNKNOWN,
    Piece,
    SentencePieceModel,
    build_sentencepiece,
    read_sentencepiece_model,
    write_runs,
)
from transduce.vocabulary.symbols import SPECIALS
from transduce.vocabulary.vocabulary import Vocabularies

SMALLEST = 258  # the smallest value of data.vocabulary_size


@final
@dataclass(frozen=True)
class ImportedModel:
    """A model folder made from another program's checkpoint: path, recipe, parameter count."""

    folder: Path
    recipe: Recipe
    parameters: int

    def __fspath__(self) -> str:
        return str(self.folder)


def import_model(checkpoint: str | PathLike[str], output: str | PathLike[str]) -> ImportedModel:
    """Convert a Marian checkpoint of Hugging Face (such as OPUS-MT) to a model folder.

    `checkpoint` is a folder with config.json, model.safetensors, vocab.json, source.spm and
    target.spm, as `save_pretrained` writes it; `output` is a new folder. The model then translates,
    is evaluated, and can be adapted (`transduce.train(..., parent=output)`) like any other. A
    checkpoint that no recipe can express is refused with the reason.

        model = transduce.import_model("opus-mt-en-de", "model")
    """
    folder, target = read_path("checkpoint", checkpoint), read_path("output", output)
    require_absent(target)
    config = read_config(folder)
    vocabularies, rows = read_marian_vocabularies(folder, config)
    sizes = [len(one) for one in vocabularies]
    recipe = with_changes(config.recipe, {"data.vocabulary_size": max(SMALLEST, *sizes)})
    found, sha256 = read_marian_weights(folder, config, rows)  # before a large model is built
    model = Transformer(recipe.architecture, *sizes)
    weights = require_matching_tensors(found, model.named_weights(), file=folder / WEIGHTS)
    parameters = sum(weight.numel() for weight in weights.values())
    facts = CardFacts(
        description=build_task(recipe.data, vocabularies).describe(recipe.data),
        parameters=parameters,
        updates=0,
        imported=sha256,
        pairs_read=0,
        versions={"transduce": __version__},
        size=describe_size(recipe.architecture, *sizes),
    )
    card = format_model_card(recipe, facts)
    save_model(target, weights, recipe, vocabularies, card, about={"imported": sha256})
    return ImportedModel(target, recipe, parameters)


CONFIG, GENERATION, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"
CONFIG_LIMIT = 1 << 20
SHARES = "share_encoder_decoder_embeddings"
LANGUAGE = re.compile(r"[A-Za-z0-9_-]{1,40}")
CHECK_PATH, AGAIN = "look at the path", "download it again"
NOT_SAVED = "transformers wrote no such file: take the checkpoint from its source again"
SAVED = "name the folder of a Marian checkpoint, as transformers saves it"
ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu"}
# required values of keys in config.json; a missing key counts as equal
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
# required values of search settings that are not read; null and a missing key are accepted, too
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
    """A Marian checkpoint as a recipe, its embedding sizes, and start and end ids."""

    recipe: Recipe
    is_shared: bool  # whether encoder and decoder have one embedding matrix
    source_rows: int  # rows of the encoder's embedding matrix
    target_rows: int  # rows of the decoder's embedding matrix
    start: int  # id of the symbol that the decoder starts with
    end: int  # id of the end symbol </s>


def read_config(folder: Path) -> MarianConfig:
    """Read a checkpoint's config.json and related files; refuse what no recipe can express."""
    file = folder / CONFIG
    values = read_object(file)
    if (folder / CTRANSLATE2).exists() and "model_type" not in values:
        hint = "import the checkpoint that it was converted from"
        raise InputError("is a model of CTranslate2, whose weights are not read", hint, file=folder)
    if "model_type" not in values:
        raise InputError("names no model_type", "is it a checkpoint of Hugging Face?", file=file)
    require_values(values, EXPECTED, NOT_HERE, file)
    for key in TWINS:
        sizes = [read_count(values, f"{side}_{key}", file) for side in ("encoder", "decoder")]
        if sizes[0] != sizes[1]:
            fact = f"{key} of encoder and decoder differ: {sizes[0]} and {sizes[1]}"
            raise InputError(fact, NOT_HERE, file=file)
    require_values(values, {"num_hidden_layers": values.get("encoder_layers")}, NOT_HERE, file)
    pad, end = read_id(values, "pad_token_id", file), read_id(values, "eos_token_id", file)
    expected = {**SEARCH_EXPECTED, "forced_eos_token_id": end, "bad_words_ids": [[pad]]}
    generation = folder / GENERATION
    for found, its_file in ((values, file), (read_optional(generation), generation)):
        stated = {key: value for key, value in found.items() if value is not None}
        require_values(stated, expected, EDITED, its_file)
    is_shared = read_flag({SHARES: True} | values, SHARES, file)
    rows = read_count(values, "vocab_size", file)
    target_rows = read_count({"decoder_vocab_size": rows} | values, "decoder_vocab_size", file)
    if is_shared:
        require_values(values, {"decoder_vocab_size": rows}, NOT_SAVED, file)
    return MarianConfig(
        recipe=build_recipe(folder, values, file),
        is_shared=is_shared,
        source_rows=rows,
        target_rows=target_rows,
        start=read_id({"decoder_start_token_id": pad} | values, "decoder_start_token_id", file),
        end=end,
    )


def require_values(
    values: Mapping[str, Any], expected: Mapping[str, object], hint: str, file: Path
) -> None:
    """Raise InputError if a key of `expected` is in `values` with another value."""
    for key, wanted in expected.items():
        found = values.get(key, wanted)
        if found != wanted or isinstance(found, bool) != isinstance(wanted, bool):
            raise InputError(f"{key} is {short_repr(found)}, not {wanted!r}", hint, file=file)


def build_recipe(folder: Path, values: Mapping[str, Any], file: Path) -> Recipe:
    """Return `history/marian` with sizes, languages and search from a Marian folder's configs."""
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
    is_scaled = read_flag({"scale_embedding": False, **values}, "scale_embedding", file)
    changes = {
        "architecture.layers": encoder,
        "architecture.decoder_layers": 0 if decoder == encoder else decoder,
        "architecture.d_model": d_model,
        "architecture.d_ff": read_count(values, "encoder_ffn_dim", file),
        "architecture.heads": heads,
        "architecture.d_k": d_model // heads,
        "architecture.d_v": d_model // heads,
        "architecture.activation": ACTIVATIONS[activation],
        "architecture.tie_embeddings": "target" if is_scaled else "none",
        "data.corpus": "imported",
        "data.source_language": read_language(names.get("source_lang"), UNNAMED[0]),
        "data.target_language": read_language(names.get("target_lang"), UNNAMED[1]),
        **read_search({**values, **read_optional(folder / GENERATION)}, file),
    }
    about = f"imported from {UNSHOWN.sub('?', decode_name(folder.resolve()))}"
    return replace(with_changes(MARIAN, changes), name=f"{MARIAN.name}, imported", about=about)


def read_language(name: object, default: str) -> str:
    """Return the language `name` if it is a code, else the default."""
    return name if isinstance(name, str) and LANGUAGE.fullmatch(name) else default


def read_search(values: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return search settings from a generation config: the beam width and the length penalty."""
    beam, power = values.get("num_beams"), values.get("length_penalty")
    power = 1.0 if power is None else power
    if type(power) not in (int, float):
        raise FolderError(f"length_penalty is {short_repr(power)}", CHECK_PATH, file=file)
    if power not in (0, 1):
        raise InputError(f"length_penalty is {power}, not 0 or 1", EDITED, file=file)
    if beam is not None and not (type(beam) is int and 0 < beam <= MOST_BEAM):
        fact = f"num_beams is {short_repr(beam)}, not a width from 1 to {MOST_BEAM}"
        raise FolderError(fact, CHECK_PATH, file=file)
    width = {} if beam is None else {"search.beam": beam}
    return width | {"search.penalty": "none" if power == 0 else "average"}


def read_object(file: Path, limit: int = CONFIG_LIMIT) -> dict[str, Any]:
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
    """Context manager that opens a file or a link to one; FolderError for a pipe or device."""
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


JOINT, TARGET = "vocab.json", "target_vocab.json"
VOCABULARY_LIMIT = 1 << 23  # bytes of a file; files of OPUS-MT have under 2 million
FOREIGN = 1_000.0  # pieces that no segmentation should use get the lowest score minus this
SymbolIds = Mapping[str, int]  # the checkpoint's id of each symbol
Rows = tuple[list[int], list[int]]  # each source and target symbol's row in the embeddings


def read_marian_vocabularies(folder: Path, config: MarianConfig) -> tuple[Vocabularies, Rows]:
    """Read .spm models and .json symbol lists; return vocabularies and rows of embeddings."""
    joint = read_symbol_ids(folder / JOINT)
    has_two = os.path.lexists(folder / TARGET) and not config.is_shared
    ids = (joint, read_symbol_ids(folder / TARGET) if has_two else joint)
    models = [
        read_sentencepiece_model(read_bytes(file, VOCABULARY_LIMIT), file)
        for file in (folder / "source.spm", folder / "target.spm")
    ]
    sides = list_source_pieces(models[0], ids[0]), list_target_pieces(models[1], ids[1], config)
    specials = [[config.end, config.start, one[UNKNOWN]] for one in ids]
    if len(sides[0]) > 2 * len(ids[0]):  # most of its pieces would have no weights
        fact = f"has {len(sides[0]):,} pieces, and {JOINT} {len(ids[0]):,} symbols"
        raise FolderError(fact, AGAIN, file=folder / "source.spm")
    try:
        letters = (letter for piece, _ in models[0].pieces for letter in piece)
        runs = (write_runs(letters), "")
        kinds = map(build_sentencepiece, sides, (model.charsmap for model in models), runs)
        source, target = map(Vocabulary, kinds)
    except ValueError as error:
        raise FolderError(f"has {error}", AGAIN, file=folder / JOINT) from error
    source_rows = specials[0] + [ids[0].get(piece, specials[0][2]) for piece, _ in sides[0]]
    target_rows = specials[1] + [ids[1][piece] for piece, _ in sides[1]]
    return Vocabularies(source, target), (source_rows, target_rows)


def list_source_pieces(model: SentencePieceModel, ids: SymbolIds) -> tuple[Piece, ...]:
    """Return the source model's pieces, then the single characters that only vocab.json has.

    For a character without a source piece, Marian takes its id in vocab.json, if it has one there.
    Several without a piece, side by side, become one unknown symbol (`write_runs`).
    """
    known = dict(model.pieces)
    low = min(known.values()) - FOREIGN
    specials = {*SPECIALS, UNKNOWN}
    others = (one for one in ids if len(one) == 1 and one not in known)
    return (*model.pieces, *((one, low) for one in others if one not in specials))


def list_target_pieces(
    model: SentencePieceModel, ids: SymbolIds, config: MarianConfig
) -> tuple[Piece, ...]:
    """Return all pieces that the decoder can write, in the order of their ids.

    Pieces of the source language get so low a score that no target text is split into them.
    """
    scores = dict(model.pieces)
    low = min(scores.values()) - FOREIGN
    special = {config.end, config.start, ids[UNKNOWN]}
    listed = sorted((one, piece) for piece, one in ids.items() if one not in special)
    return tuple((piece, scores.get(piece, low)) for _, piece in listed)


def read_symbol_ids(file: Path) -> SymbolIds:
    """Return each symbol's id in a vocab.json.

    Codes such as >>de<<, gaps in the ids, and a list without the unknown symbol are refused.
    """
    ids = read_object(file, VOCABULARY_LIMIT)
    if sorted(one for one in ids.values() if type(one) is int) != list(range(len(ids))):
        raise FolderError("does not number its symbols from 0", AGAIN, file=file)
    codes = [piece for piece in ids if piece.startswith(">>") and piece.endswith("<<")]
    if codes:
        fact = f"has codes of target languages, such as {short_repr(codes[0])}"
        raise InputError(fact, f"models of one target language are read; {NOT_HERE}", file=file)
    if UNKNOWN not in ids:
        raise FolderError(f"has no symbol {UNKNOWN}", AGAIN, file=file)
    return ids


WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
BIAS, SHARED, OUTPUT = "final_logits_bias", "model.shared.weight", "lm_head.weight"
EMBEDDINGS = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
POSITIONS = tuple(f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder"))
POSITIONS_TOLERANCE = 1e-4  # at least this is allowed, since angles may be computed in float32
POSITIONS_AT_ONCE = 1_024  # positions that are compared at once
NEVER = -100.0  # the output bias of BEGIN, so that BEGIN is never written
TENSOR_KINDS = ("weight", "bias")
READERS = {  # our matrices with a column for each feature -> the checkpoint's, which are stacked
    "self_attention.query_key_value": [f"self_attn.{one}_proj" for one in "qkv"],
    "feed_forward.inner": ["fc1"],
    "cross_attention.query": ["encoder_attn.q_proj"],
    "cross_attention.key_value": ["encoder_attn.k_proj", "encoder_attn.v_proj"],
}
WRITERS = {  # our matrices and norms with a row for each feature -> the checkpoint's
    "self_attention.output": "self_attn.out_proj",
    "add_self.norm": "self_attn_layer_norm",
    "feed_forward.outer": "fc2",
    "add_feed_forward.norm": "final_layer_norm",
    "cross_attention.output": "encoder_attn.out_proj",
    "add_cross.norm": "encoder_attn_layer_norm",
}
Take = Callable[[str], Tensor]  # the tensor of a name in the checkpoint


def read_marian_weights(
    folder: Path, config: MarianConfig, rows: Rows
) -> tuple[dict[str, Tensor], str]:
    """Return a checkpoint's weights under our names, and the sha256 of their file.

    Tensors that are missing, of another shape or unused are refused. Unused tables of positions and
    copies of an embedding matrix are accepted if they have the known values.
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

    weights = dict(list_embeddings(take, found, config, rows, order))
    for side, depth in (("encoder", sizes.encoder_depth), ("decoder", sizes.decoder_depth)):
        for index in range(depth):
            start = f"model.{side}.layers.{index}"
            weights |= convert_layer(take, start, f"{side}.{index}", order)
    for name in sorted(found.keys() - used):
        if not is_repeated(name, found, config):
            fact = f"tensor {short_repr(name)} is not one that this model uses"
            raise FolderError(fact, NOT_HERE, file=folder / WEIGHTS)
    return {name: weight.contiguous() for name, weight in weights.items()}, sha256


def find_embedding_names(found: Mapping[str, Tensor], config: MarianConfig) -> tuple[str, str]:
    """Return the encoder's and decoder's embedding name: the same one twice if they are shared."""
    if not config.is_shared:
        return EMBEDDINGS
    name = next((one for one in (SHARED, *EMBEDDINGS) if one in found), SHARED)
    return name, name


def is_repeated(name: str, found: Mapping[str, Tensor], config: MarianConfig) -> bool:
    """Return whether a surplus tensor only repeats the sinusoids or an embedding matrix.

    The output matrix must be a copy of the decoder's embedding matrix.
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
    for start in range(0, length, POSITIONS_AT_ONCE):
        found = table[start : start + POSITIONS_AT_ONCE].double()
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
    """Return the tensors of model.safetensors, and its sha256; never open a pickled file."""
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
    rows: Rows,
    order: Tensor,
) -> Iterator[tuple[str, Tensor]]:
    """Yield (our name, tensor) of the embeddings, the output bias and any untied output matrix.

    If the checkpoint's embeddings are not multiplied by √d_model, ours are divided by it, and the
    output matrix is stored apart.
    """
    names, sizes = find_embedding_names(found, config), config.recipe.architecture
    source, target = (
        take_rows(take(name), own)[:, order] for name, own in zip(names, rows, strict=True)
    )
    is_tied = sizes.tie_embeddings == "target"
    scale = 1.0 if is_tied else sizes.d_model**-0.5
    yield "source.weight", scale * source
    yield "target.weight", scale * target
    if not is_tied:  # the embedding is the output matrix / √d_model
        yield "output.weight", target
    bias = take_rows(take(BIAS).flatten(), rows[1]).clone()
    bias[BEGIN] = NEVER
    yield "output_bias.weight", bias


def take_rows(table: Tensor, rows: Sequence[int]) -> Tensor:
    """Return the rows of a matrix with these indices; raise FolderError if it has too few rows."""
    if max(rows) >= len(table):
        fact = f"the vocabulary has symbol {max(rows):,}, and the weights have {len(table):,} rows"
        raise FolderError(fact, "download the checkpoint again")
    return table[torch.tensor(rows)]


def convert_layer(take: Take, start: str, name: str, order: Tensor) -> dict[str, Tensor]:
    """Return {our name: tensor} of the checkpoint's layer `start`, as our layer `name`, reordered.

    `take` returns a checkpoint tensor by name. `order` has the index of each of our d_model
    features in the checkpoint.
    """
    weights, is_encoder = {}, name.startswith("encoder")
    for kind in TENSOR_KINDS:
        for ours, theirs in READERS.items():
            if not (is_encoder and "cross" in ours):
                joined = torch.cat([take(f"{start}.{one}.{kind}") for one in theirs])
                weights[f"{name}.{ours}.{kind}"] = joined[:, order] if kind == "weight" else joined
        for ours, one in WRITERS.items():
            if not (is_encoder and "cross" in ours):
                weights[f"{name}.{ours}.{kind}"] = take(f"{start}.{one}.{kind}")[order]
    return weights
