"""Export to CTranslate2: weights, vocabularies, and tokenizers that split text into model tokens.

Writing the files needs no CTranslate2. In model.bin, numbers are little-endian; a string is a
16-bit length, its bytes, and a zero byte, which the length counts.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from jaxtyping import Float, Int8

from transduce.durable.folder import FolderWriter
from transduce.durable.json import to_json
from transduce.exports.target import EngineOutput, Target, describe_penalty, raise_import_errors
from transduce.exports.tokenizer import build_tokenizer_json, name_tokenizers
from transduce.exports.weights import Arrays, Weights, collect_weights
from transduce.inference.load import TaskModel
from transduce.vocabulary import BEGIN, END
from transduce.vocabulary.symbols import SPECIALS

VERSION, NAME, REVISION = 6, "TransformerSpec", 7  # format version; kind of model, its revision
TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4}
MOST_POSITIONS = 1024  # CTranslate2 truncates longer inputs
Variables = dict[str, np.ndarray]
TABLES = {  # CTranslate2's names of arrays outside of the layers -> ours
    "encoder/embeddings_0/weight": "source.weight",  # others are of word features
    "encoder/position_encodings/encodings": "source_positions.weight",
    "encoder/layer_norm/gamma": "encoder_final_norm.weight",
    "encoder/layer_norm/beta": "encoder_final_norm.bias",
    "decoder/embeddings/weight": "target.weight",
    "decoder/position_encodings/encodings": "target_positions.weight",
    "decoder/layer_norm/gamma": "decoder_final_norm.weight",
    "decoder/layer_norm/beta": "decoder_final_norm.bias",
    "decoder/projection/weight": "output.weight",
    "decoder/projection/bias": "output.bias",
}
MATRICES = {  # CTranslate2's names of a layer's matrices -> ours, joined by rows
    "self_attention/linear_0": [f"self_attention.{one}" for one in ("query", "key", "value")],
    "self_attention/linear_1": ["self_attention.output"],
    "attention/linear_0": ["cross_attention.query"],
    "attention/linear_1": ["cross_attention.key", "cross_attention.value"],
    "attention/linear_2": ["cross_attention.output"],
    "ffn/linear_0": ["feed_forward.inner"],
    "ffn/linear_1": ["feed_forward.outer"],
}
NORMS = {  # CTranslate2's names of a layer's norms -> ours
    "self_attention/layer_norm": "add_self.norm",
    "attention/layer_norm": "add_cross.norm",
    "ffn/layer_norm": "add_feed_forward.norm",
}
SWITCHED_OFF = (
    *("encoder/embeddings_merge", "encoder/multi_query_attention", "decoder/alibi"),
    *("decoder/alibi_use_positive_positions", "decoder/scale_alibi"),
    "decoder/start_from_zero_embedding",
)
ACTIVATIONS = {"relu": 0, "swish": 2}
CONFIG = {
    "add_source_bos": False,
    "add_source_eos": True,  # sources end with END, which the tokenizer does not write
    "bos_token": SPECIALS[BEGIN],
    "decoder_start_token": SPECIALS[BEGIN],
    "eos_token": SPECIALS[END],
    "multi_query_attention": False,
    "unk_token": "<unk>",  # required; never used by a byte-level vocabulary, which knows every text
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
    writer.write(
        "config.json", to_json(CONFIG | {"layer_norm_epsilon": weights.sizes.norm_epsilon})
    )


def write_symbols(writer: FolderWriter, source: Sequence[str], target: Sequence[str]) -> None:
    """Write both vocabularies' symbols in the order of their ids; one file if both are equal."""
    if list(source) == list(target):
        writer.write("shared_vocabulary.json", to_json(list(source)))
        return
    writer.write("source_vocabulary.json", to_json(list(source)))
    writer.write("target_vocabulary.json", to_json(list(target)))


def name_variables(weights: Weights, *, precision: str) -> Variables:
    """Return weights and settings by CTranslate2's names; "int8" quantises weight matrices."""
    arrays, sizes = weights.arrays, weights.sizes
    found = {theirs: arrays[ours] for theirs, ours in TABLES.items() if ours in arrays}
    for side, number, layer in weights.list_layers():
        found |= name_layer(f"{side}/layer_{number}", layer, weights.head_width)
    if sizes.positions != "learned":
        table = arrays["source_positions.weight"][:MOST_POSITIONS]
        table = table.astype(np.float16) if precision == "int8" else table
        found |= {name: table for name in found if name.endswith("/encodings")}
    if precision == "int8":
        quantise_matrices(found)
    for side in ("encoder", "decoder"):
        found |= {
            f"{side}/num_heads": scalar(sizes.heads, np.int16),
            f"{side}/pre_norm": scalar(int(sizes.norm == "pre")),
            f"{side}/scale_embeddings": scalar(1),
            f"{side}/activation": scalar(ACTIVATIONS[sizes.activation]),
        }
    found |= {name: scalar(0) for name in SWITCHED_OFF}
    found["decoder/alignment_layer"] = scalar(-1, np.int16)
    found["decoder/alignment_heads"] = scalar(1, np.int16)
    return found


def name_layer(scope: str, layer: Arrays, head_width: int) -> Variables:
    """Return the arrays of a layer by CTranslate2's names, which begin with `scope`."""
    found = Variables()
    for theirs, parts in MATRICES.items():
        for kind in ("weight", "bias"):
            if f"{parts[0]}.{kind}" in layer:
                joined = np.concatenate([layer[f"{part}.{kind}"] for part in parts])
                found[f"{scope}/{theirs}/{kind}"] = joined
    for theirs, ours in NORMS.items():
        if f"{ours}.weight" in layer:
            found[f"{scope}/{theirs}/gamma"] = layer[f"{ours}.weight"]
            found[f"{scope}/{theirs}/beta"] = layer[f"{ours}.bias"]
            if "attention" in theirs:
                place = theirs.partition("/")[0]
                found[f"{scope}/{place}/head_dim"] = scalar(head_width, np.int32)
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


def serialise_variables(variables: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Yield the bytes of model.bin in parts; an array under several names is stored once."""
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
    """Return a string's bytes in model.bin: UTF-8 and a zero byte, after the length of both."""
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
    most = sizes.max_positions if sizes.positions == "learned" else MOST_POSITIONS
    return [
        *describe_penalty(search, "beam_size=1"),
        "its max_decoding_length is 256 for every source; here an output may have the source's "
        f"length + {search.extra_length} symbols",
        "its min_decoding_length is 1: no output is empty there",
        "a hypothesis ends there only if its end symbol is among the W best continuations (W is "
        "the beam's width); here among the 2 W best",
        "long lines are not split into sentences there",
        f"inputs and outputs have at most {most:,} symbols",
    ]


@final
class CTranslate2Engine:
    """CTranslate2 with an exported folder loaded, on one thread."""

    limits_length = ends_in_best_beam = True
    is_greedy = False

    def __init__(self, folder: Path, model: TaskModel) -> None:
        from tokenizers import Tokenizer

        with raise_import_errors("ctranslate2"):
            import ctranslate2  # type: ignore[import-not-found]

        self.name = f"ctranslate2 {ctranslate2.__version__}"
        self.translator: Any = ctranslate2.Translator(str(folder), intra_threads=1)
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
    explain_unsupported=lambda _: "",
    list_differences=list_differences,
    open_engine=CTranslate2Engine,
    install="pip install ctranslate2",
    library="ctranslate2",
    describe_use=describe_use,
)
