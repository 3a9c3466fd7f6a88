"""Export to CTranslate2: weights, vocabularies, and tokenizers that split text into its tokens.

Writing the files needs no CTranslate2. In model.bin, numbers are little-endian; a string is a
16-bit length, its bytes, and a zero byte, which the length counts.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np
from jaxtyping import Float, Int8

from transduce.durable.folder import FolderWriter
from transduce.durable.json import to_json
from transduce.exports.target import EngineOutput, Target, importing
from transduce.exports.tokenizer import build_tokenizer_json, name_tokenizers
from transduce.exports.weights import (
    Affine,
    Attention,
    Layer,
    Projection,
    Stack,
    Weights,
    collect_weights,
)
from transduce.inference.load import TaskModel
from transduce.vocabulary import BEGIN, END
from transduce.vocabulary.symbols import SPECIALS

VERSION, NAME, REVISION = 6, "TransformerSpec", 7  # of the format, and of the kind of model
TYPES = MappingProxyType({"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4})
POSITIONS, MOST_POSITIONS = "position_encodings/encodings", 1024  # CTranslate2 cuts inputs there
Variables = dict[str, np.ndarray]
Named = Iterator[tuple[str, np.ndarray]]
SWITCHED_OFF = (
    *("encoder/embeddings_merge", "encoder/multi_query_attention", "decoder/alibi"),
    *("decoder/alibi_use_positive_positions", "decoder/scale_alibi"),
    "decoder/start_from_zero_embedding",
)
ACTIVATIONS = MappingProxyType({"relu": 0, "swish": 2})
CONFIG = {
    "add_source_bos": False,
    "add_source_eos": True,  # sources end with END, which the tokenizer does not write
    "bos_token": SPECIALS[BEGIN],
    "decoder_start_token": SPECIALS[BEGIN],
    "eos_token": SPECIALS[END],
    "multi_query_attention": False,
    "unk_token": "<unk>",  # required, but never used: a byte-level vocabulary knows every text
}


def write_ctranslate2(model: TaskModel, writer: FolderWriter, precision: str) -> None:
    """Write all files of a model for CTranslate2 with `writer`, in float32 or int8."""
    write_ctranslate2_weights(model, writer, precision)
    write_symbols(writer, model.task.source.symbols, model.task.target.symbols)
    for name, vocabulary in name_tokenizers(model).items():
        writer.write(name, build_tokenizer_json(vocabulary))


def write_ctranslate2_weights(model: TaskModel, writer: FolderWriter, precision: str) -> None:
    """Write a model's weights and settings for CTranslate2 as model.bin and config.json."""
    weights = collect_weights(model.transformer)
    variables = name_variables(weights, precision=precision)
    with writer.open("model.bin") as stream:
        for part in serialise_variables(variables):
            stream.write(part)
    writer.write("config.json", to_json(CONFIG | {"layer_norm_epsilon": weights.norm_epsilon}))


def write_symbols(writer: FolderWriter, source: Sequence[str], target: Sequence[str]) -> None:
    """Write both vocabularies' symbols in the order of their ids; one file if both are equal."""
    if list(source) == list(target):
        writer.write("shared_vocabulary.json", to_json(list(source)))
        return
    writer.write("source_vocabulary.json", to_json(list(source)))
    writer.write("target_vocabulary.json", to_json(list(target)))


def name_variables(weights: Weights, *, precision: str) -> Variables:
    """Return a model's arrays by CTranslate2's names; precision "int8" quantises its matrices."""
    found = dict(name_stack("encoder", weights.encoder, weights))
    found |= dict(name_stack("decoder", weights.decoder, weights))
    # CTranslate2 numbers the source's tables, because a source with word features has several.
    found["encoder/embeddings_0/weight"] = found.pop("encoder/embeddings/weight")
    found |= dict(name_projection("decoder/projection", weights.projection))
    if weights.encoder.positions is weights.decoder.positions:  # sinusoids
        table = weights.encoder.positions[:MOST_POSITIONS]
        table = table.astype(np.float16) if precision == "int8" else table
        found |= {f"{stack}/{POSITIONS}": table for stack in ("encoder", "decoder")}
    if precision == "int8":
        quantise_matrices(found)
    found |= {name: scalar(0) for name in SWITCHED_OFF}
    found["decoder/alignment_layer"] = scalar(-1, np.int16)
    found["decoder/alignment_heads"] = scalar(1, np.int16)
    return found


def scalar(value: int, kind: type[np.signedinteger[Any]] = np.int8) -> np.ndarray:
    """Return an integer as a numpy array without dimensions, of the type `kind`."""
    return np.array(value, dtype=kind)


def quantise_matrices(variables: Variables) -> None:
    """Replace each weight matrix in place with int8 and row scales; shared arrays stay shared."""
    known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for name, value in list(variables.items()):
        if name.endswith("/weight"):
            if id(value) not in known:
                known[id(value)] = quantise_rows(value)
            variables[name], variables[f"{name}_scale"] = known[id(value)]


def quantise_rows(
    matrix: Float[np.ndarray, "m n"],
) -> tuple[Int8[np.ndarray, "m n"], Float[np.ndarray, " m"]]:
    """Return an m × n matrix in 8-bit integers and m row scales: weight ≈ integer / scale."""
    largest = np.abs(matrix).max(axis=1)
    scale = (127 / np.where(largest == 0, 127, np.maximum(largest, 1e-35))).astype(np.float32)
    return np.rint(matrix * scale[:, None]).astype(np.int8), scale


def name_stack(scope: str, stack: Stack, weights: Weights) -> Named:
    """Yield name and array of each weight and setting of a stack; names begin with `scope`."""
    yield f"{scope}/num_heads", scalar(weights.heads, np.int16)
    yield f"{scope}/pre_norm", scalar(int(stack.final_norm is not None))
    yield f"{scope}/scale_embeddings", scalar(1)
    yield f"{scope}/activation", scalar(ACTIVATIONS[weights.activation])
    yield f"{scope}/embeddings/weight", stack.embedding
    yield f"{scope}/{POSITIONS}", stack.positions
    if stack.final_norm is not None:
        yield from name_norm(f"{scope}/layer_norm", stack.final_norm)
    for number, layer in enumerate(stack.layers):
        yield from name_layer(f"{scope}/layer_{number}", layer, weights.head_width)


def name_layer(scope: str, layer: Layer, head_width: int) -> Named:
    """Yield name and array of each variable of a layer; all names begin with `scope`."""
    own, cross = layer.self_attention, layer.cross_attention
    joined = join_projections(own.query, own.key, own.value)
    yield from name_attention(f"{scope}/self_attention", [joined], own, head_width)
    if cross is not None:
        projections = [cross.query, join_projections(cross.key, cross.value)]
        yield from name_attention(f"{scope}/attention", projections, cross, head_width)
    for number, linear in enumerate((layer.inner, layer.outer)):
        yield f"{scope}/ffn/linear_{number}/weight", linear.weight
        yield f"{scope}/ffn/linear_{number}/bias", linear.bias
    yield from name_norm(f"{scope}/ffn/layer_norm", layer.feed_forward_norm)


def join_projections(*parts: Projection) -> Projection:
    """Return one projection with the outputs of all parts."""
    biases = [one.bias for one in parts if one.bias is not None]
    joined = np.concatenate([one.weight for one in parts])
    return Projection(joined, np.concatenate(biases) if biases else None)


def name_projection(scope: str, projection: Projection) -> Named:
    """Yield name and array of a projection's matrix, and of its bias if it has one."""
    yield f"{scope}/weight", projection.weight
    if projection.bias is not None:
        yield f"{scope}/bias", projection.bias


def name_attention(
    scope: str, projections: list[Projection], attention: Attention, head_width: int
) -> Named:
    """Yield name and array of the `projections`, the output projection and the norm."""
    for number, one in enumerate([*projections, attention.output]):
        yield from name_projection(f"{scope}/linear_{number}", one)
    yield f"{scope}/head_dim", scalar(head_width, np.int32)
    yield from name_norm(f"{scope}/layer_norm", attention.norm)


def name_norm(scope: str, norm: Affine) -> Named:
    """Yield name and array of a norm's gain and bias; both names begin with `scope`."""
    yield f"{scope}/gamma", norm.weight
    yield f"{scope}/beta", norm.bias


def serialise_variables(variables: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Yield the bytes of model.bin in pieces; an array under several names is stored once."""
    first: dict[int, str] = {}
    aliases = list[tuple[str, str]]()
    for name in sorted(variables):
        original = first.setdefault(id(variables[name]), name)
        if original != name:
            aliases.append((name, original))
    yield struct.pack("<I", VERSION) + pack_string(NAME) + struct.pack("<I", REVISION)
    yield struct.pack("<I", len(first))
    for name in sorted(first.values()):
        value = variables[name]
        sizes = struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
        kind = struct.pack("<BI", TYPES[value.dtype.name], value.nbytes)
        yield pack_string(name) + sizes + kind
        yield np.ascontiguousarray(value).tobytes()
    yield struct.pack("<I", len(aliases))
    for name, original in aliases:
        yield pack_string(name) + pack_string(original)


def pack_string(text: str) -> bytes:
    """Return a string's bytes in model.bin: its length, its UTF-8 bytes and a zero byte."""
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data


def describe_use(model: TaskModel) -> str:
    """Return how to translate with an exported folder, as Markdown."""
    files, search = list(name_tokenizers(model)), model.recipe.search
    penalty = {"gnmt": search.alpha, "average": 1.0}.get(search.penalty, 0.0)
    sides = ("source", "target") if len(files) == 2 else ("source = target",)
    opened = "\n".join(
        f'{side} = Tokenizer.from_file("FOLDER/{file}")'
        for side, file in zip(sides, files, strict=True)
    )
    return f"""```python
import ctranslate2
from tokenizers import Tokenizer

model = ctranslate2.Translator("FOLDER")  # this folder
{opened}
source.encode_special_tokens = True  # "</s>" in a text stays text
pieces = source.encode("…", add_special_tokens=False).tokens
found = model.translate_batch([pieces], beam_size={search.beam}, length_penalty={penalty})
print(target.decode([target.token_to_id(piece) for piece in found[0].hypotheses[0]]))
```"""


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on what CTranslate2 does differently from a model's own search."""
    search, sizes = model.recipe.search, model.recipe.architecture
    found = [
        "its max_decoding_length is 256 for every source; here an output may have the source's "
        f"length + {search.extra_length} symbols",
        "its min_decoding_length is 1: no output is empty there",
        "long lines are not split into sentences there",
    ]
    if search.penalty != "none":
        found.insert(
            0,
            f"its length penalty is log P / |Y|^alpha, not search.penalty={search.penalty}: the "
            "searches are equal with beam_size=1 or length_penalty=0",
        )
    most = sizes.max_positions if sizes.positions == "learned" else MOST_POSITIONS
    return [*found, f"inputs and outputs have at most {most:,} symbols"]


@final
class CTranslate2Engine:
    """CTranslate2 with an exported folder loaded, on one thread."""

    limits_length = ends_in_best_half = True
    is_greedy = False

    def __init__(self, folder: Path, model: TaskModel, compute_type: str = "default") -> None:
        from tokenizers import Tokenizer

        with importing("ctranslate2"):
            import ctranslate2  # type: ignore[import-not-found]

        self.name = f"ctranslate2 {ctranslate2.__version__}"
        self.translator: Any = ctranslate2.Translator(
            str(folder), compute_type=compute_type, intra_threads=1
        )
        names = list(name_tokenizers(model))
        self.source, self.target = (
            Tokenizer.from_file(str(folder / name)) for name in (names[0], names[-1])
        )
        self.ids = self.target.get_vocab()
        self.source.encode_special_tokens = True  # a text with "</s>" in it does not end there

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:
        """Return each line's best output by a beam of width `beam`, without length penalty."""
        found = self.translator.translate_batch(
            [self.source.encode(line, add_special_tokens=False).tokens for line in lines],
            beam_size=beam,
            length_penalty=0,
            min_decoding_length=0,
            max_decoding_length=max_length,
            return_scores=True,
        )
        best = [(one.hypotheses[0], one.scores[0]) for one in found]
        return [
            EngineOutput(self.decode(symbols), score, is_cut=len(symbols) >= max_length)
            for symbols, score in best
        ]

    def decode(self, symbols: Sequence[str]) -> str:
        """Return the text for a target sentence's vocabulary symbols."""
        ids = [self.ids[symbol] for symbol in symbols]
        text: str = self.target.decode(ids, skip_special_tokens=True)
        return text


CTRANSLATE2 = Target(
    name="ctranslate2",
    precisions=("float32", "int8"),
    write=write_ctranslate2,
    find_unsupported=lambda _: "",
    list_differences=list_differences,
    open_engine=CTranslate2Engine,
    install="pip install ctranslate2",
    library="ctranslate2",
    describe_use=describe_use,
)
