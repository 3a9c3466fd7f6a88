"""Export to Bergamot, for web pages and translateLocally: Marian's weights and SentencePiece.

Numbers are little-endian. Marian stores a matrix as [inputs outputs]. Its decoder starts from a
vector of zeros, so the embedding of BEGIN is folded into other weights.
"""

import json
import math
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

from transduce.durable.folder import FolderWriter
from transduce.durable.json import to_json
from transduce.errors import SaveError, shorten
from transduce.exports.sentencepiece import Piece, build_fallback_model, list_fallback_pieces
from transduce.exports.target import EngineOutput, Target
from transduce.exports.tokenizer import find_model_type
from transduce.exports.weights import Array, Arrays, Weights, bias_or_zeros, collect_weights
from transduce.inference.load import TaskModel
from transduce.settings.fields import require
from transduce.vocabulary import BEGIN
from transduce.vocabulary.sentencepiece import UNUSED

Named = Iterator[tuple[str, Array]]
ATTENTION = ("query", "key", "value", "output")
MATRICES = {  # our matrices of a layer -> Marian's, with W or b in place of {}
    **{f"self_attention.{one}": f"self_{{}}{one[0]}" for one in ATTENTION},
    **{f"cross_attention.{one}": f"context_{{}}{one[0]}" for one in ATTENTION},
    "feed_forward.inner": "ffn_{}1",
    "feed_forward.outer": "ffn_{}2",
}
NORMS = {  # our norms of a layer -> Marian's
    "add_self.norm": "self_Wo_ln",
    "add_cross.norm": "context_Wo_ln",
    "add_feed_forward.norm": "ffn_ffn_ln",
}
ALIGNMENT = 256  # in model.bin the numbers of a tensor begin at a multiple of 256 bytes
FLOAT32, INT8, INTGEMM8 = 0x0404, 0x0101, 0x4101  # types of tensors
NEVER = -1e4  # the bias of a symbol that no output may have
EPSILON = 1e-6  # what its layer normalisation adds to the variance
QUANTISED = 64  # in 8 bits d_model and d_ff must be multiples of it
CONFIG = "config.intgemm8bitalpha.yml"  # the file name that translateLocally reads
GEMM = {"float32": "float32", "int8": "int8shiftAll"}  # by precision
PACKAGE = "@browsermt/bergamot-translator"
DRIVER = Path(__file__).with_name("bergamot.mjs")  # translates lines by the package, in Node.js
PAGE = Path(__file__).with_name("bergamot.html")  # translates what is typed, by the package
# the description that model.bin holds; its reader also wants settings of other kinds of models
MODEL_FORM = Path(__file__).with_name("bergamot_model.yml")
CONFIG_FORM = Path(__file__).with_name("bergamot_config.yml")  # what translateLocally reads


def write_bergamot(model: TaskModel, writer: FolderWriter, precision: str) -> None:
    """Write files for Bergamot; in int8, raise InputError unless 64 divides d_model and d_ff."""
    sizes, data = model.recipe.architecture, model.recipe.data
    for name in ("d_model", "d_ff"):
        fact = f"in int8 architecture.{name} must be a multiple of {QUANTISED}"
        value = getattr(sizes, name)
        require(
            precision != "int8" or value % QUANTISED == 0,
            f"{fact}, not {value}",
            "--precision float32",
        )
    source, target = model.task.source, model.task.target
    pieces = {side: list_fallback_pieces(one) for side, one in (("src", source), ("trg", target))}
    is_shared = source.hash == target.hash
    names = {"vocab": "trg"} if is_shared else {"srcvocab": "src", "trgvocab": "trg"}
    pair = "".join(data.languages)
    vocabularies = {part: f"{part}.{pair}.spm" for part in names}
    for part, side in names.items():
        writer.write(vocabularies[part], build_fallback_model(pieces[side]))
    weights = collect_weights(model.transformer, sizes.d_model // sizes.heads)
    name = f"model.{pair}.{'intgemm8' if precision == 'int8' else 'float32'}.bin"
    tensors = dict(name_tensors(weights, pieces["src"], pieces["trg"]))
    config = describe_model(model, [len(pieces[side]) for side in ("src", "trg")])
    with writer.open(name) as stream:
        stream.writelines(serialise_tensors(tensors, config, precision))
    files = {"model": name, "lex": f"lex.{pair}.bin", **vocabularies}
    writer.write(files["lex"], b"")  # no list of likely symbols; without the file the package fails
    sides = [*vocabularies.values()]
    settings = CONFIG_FORM.read_text("utf-8").format(
        model=name, source=sides[0], target=sides[-1], precision=GEMM[precision]
    )
    writer.write(CONFIG, settings.encode())
    writer.write("model_info.json", to_json(build_model_info(model)))
    registry: dict[str, Any] = {
        part: {
            "name": name,
            "size": writer.files[name]["size"],
            "expectedSha256Hash": writer.files[name]["sha256"],
        }
        for part, name in files.items()
    }
    registry["config"] = {"gemm-precision": GEMM[precision]}
    writer.write("registry.json", to_json({pair: registry}))
    writer.write("index.html", PAGE.read_bytes())


def name_tensors(weights: Weights, source: list[Piece], target: list[Piece]) -> Named:
    """Yield each weight as (Marian's name, array); pieces beyond our vocabulary get zeros."""
    arrays = weights.arrays
    names = ("source", "target", "output")
    source_table, target_table, output = (arrays[f"{one}.weight"] for one in names)
    start, reads_same = target_table[BEGIN], source_table is target_table
    shift = start * np.float32(math.sqrt(len(start)))
    yield "Wemb" if reads_same else "decoder_Wemb", pad_rows(target_table - start, len(target))
    if not reads_same:
        yield "encoder_Wemb", pad_rows(source_table, len(source))
    for side, number, layer in weights.list_layers():
        is_shifted = number == 0 and (reads_same or side == "decoder")
        shifted = fold_shift_into_biases(layer, shift) if is_shifted else layer
        yield from name_layer(f"{side}_l{number + 1}", shifted)
    bias = np.zeros(len(target), np.float32)
    bias[: len(target_table)] = arrays.get("output.bias", 0)
    bias[len(target_table) :] = NEVER
    bias[[number for number, (_, kind) in enumerate(target) if kind == UNUSED]] = NEVER
    yield "decoder_ff_logit_out_b", bias[None]
    if output is not target_table:
        yield "decoder_ff_logit_out_Wt", pad_rows(output, len(target))


def pad_rows(matrix: Array, rows: int) -> Array:
    """Return a matrix with rows of zeros added, so that it has `rows` rows."""
    return np.pad(matrix, ((0, rows - len(matrix)), (0, 0)))


def fold_shift_into_biases(layer: Arrays, shift: Array) -> Arrays:
    """Return `layer` with new biases: its output for x is that of `layer` for x + `shift`."""
    shifted = dict(layer)
    for one in ATTENTION:
        name = f"self_attention.{one}"
        # x is also the residual, which is added to the output
        more = shift if one == "output" else layer[f"{name}.weight"] @ shift
        shifted[f"{name}.bias"] = bias_or_zeros(layer, name) + more
    return shifted


def name_layer(scope: str, layer: Arrays) -> Named:
    """Yield a layer's weights as (Marian's name, which begins with `scope`, array)."""
    for ours, theirs in MATRICES.items():
        if f"{ours}.weight" in layer:  # an encoder layer has no cross-attention
            yield f"{scope}_{theirs.format('W')}", layer[f"{ours}.weight"].T
            yield f"{scope}_{theirs.format('b')}", bias_or_zeros(layer, ours)[None]
    for ours, theirs in NORMS.items():
        if f"{ours}.weight" in layer:
            yield f"{scope}_{theirs}_scale", layer[f"{ours}.weight"][None]
            yield f"{scope}_{theirs}_bias", layer[f"{ours}.bias"][None]


def describe_model(model: TaskModel, symbols: Sequence[int]) -> str:
    """Return the YAML settings in model.bin; `symbols` are (source, target) vocabulary sizes."""
    sizes = model.recipe.architecture
    ties = {one: json.dumps(sizes.tie_embeddings == one) for one in ("all", "target")}
    return MODEL_FORM.read_text("utf-8").format(symbols=list(symbols), sizes=sizes, ties=ties)


def serialise_tensors(tensors: Mapping[str, Array], config: str, precision: str) -> Iterator[bytes]:
    """Yield the bytes of model.bin in parts: a header, each tensor's values, `config` last."""
    text = np.frombuffer(config.encode() + b"\0", np.int8)
    packed = [(name, *pack_tensor(name, tensors[name], precision)) for name in sorted(tensors)]
    packed.append(("special:model.yml", INT8, text.shape, text.tobytes()))
    names = [name.encode() + b"\0" for name, *_ in packed]
    shapes = [struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in packed]
    padded = [data + bytes(-len(data) % ALIGNMENT) for *_, data in packed]
    head = struct.pack("<QQ", 1, len(packed))
    for (_, kind, shape, _), name, data in zip(packed, names, padded, strict=True):
        head += struct.pack("<QQQQ", len(name), kind, len(shape), len(data))
    head += b"".join([*names, *shapes])
    gap = ALIGNMENT - (len(head) + 8) % ALIGNMENT
    yield head + struct.pack("<Q", gap) + bytes(gap)
    yield from padded


def pack_tensor(name: str, tensor: Array, precision: str) -> tuple[int, tuple[int, ...], bytes]:
    """Return a tensor's type code, shape and bytes; for int8, weight matrices are quantised.

    A quantised matrix is transposed, except for an embedding, and its scale follows its values.
    """
    is_embedding = name.endswith(("Wemb", "_Wt"))
    if precision == "float32" or not (is_embedding or name[:-1].endswith("_W")):
        return FLOAT32, tensor.shape, np.ascontiguousarray(tensor, "<f4").tobytes()
    scale = np.float32(127 / max(np.abs(tensor).max(), 1e-9))
    numbers = np.rint(scale * (tensor if is_embedding else tensor.T)).astype(np.int8)
    return INTGEMM8, tensor.shape, numbers.tobytes() + scale.astype("<f4").tobytes()


def build_model_info(model: TaskModel) -> dict[str, Any]:
    """Return the entries of model_info.json, which translateLocally shows."""
    source, target = model.recipe.data.languages
    name = f"{source}-{target}"
    about = {"modelName": name, "shortName": name, "type": "tiny", "src": source, "trg": target}
    return about | {"version": 1, "API": 1.0}


def describe_use(model: TaskModel) -> str:
    """Return Markdown on how to use an exported folder in a browser and in translateLocally."""
    name = "-".join(model.recipe.data.languages)
    return f"""```console
$ npm install --prefix FOLDER {PACKAGE}
$ python -m http.server --directory FOLDER
```

Then <http://localhost:8000> translates in the browser; `index.html` shows how another page does. In
translateLocally: *Edit, Translator Settings, Import model*, and `tar czf {name}.tar.gz FOLDER`."""


def explain_unsupported(model: TaskModel) -> str:
    """Return why Bergamot cannot compute a model, or an empty string."""
    sizes, data = model.recipe.architecture, model.recipe.data
    kinds = {find_model_type(one) for one in (model.task.source, model.task.target)}
    width, rest = divmod(sizes.d_model, sizes.heads)
    facts = {
        f"Bergamot computes tensor2tensor's positions, and this model has {sizes.positions} ones "
        "(train it with --set architecture.positions=tensor2tensor)": (
            sizes.positions != "tensor2tensor"
        ),
        "Bergamot normalises after each sub-layer, and architecture.norm is pre": (
            sizes.norm == "pre"
        ),
        "SentencePiece merges byte pairs, and this model's vocabulary has other pieces": (
            kinds != {"BPE"}
        ),
        f"Bergamot's heads have d_model / heads = {sizes.d_model / sizes.heads:g} features, and "
        f"this model's have d_k = {sizes.d_k}, d_v = {sizes.d_v}": (
            bool(rest) or max(sizes.d_k, sizes.d_v) > width
        ),
        "Bergamot finds a model by two languages of two letters, and this model's are "
        f"{data.languages or 'not named'} (--languages en-de)": (
            not re.fullmatch("[a-z]{2}-[a-z]{2}", "-".join(data.languages))
        ),
    }
    return next((fact for fact, holds in facts.items() if holds), "")


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on what Bergamot does differently from a model's own search."""
    search, epsilon = model.recipe.search, model.recipe.architecture.norm_epsilon
    found = [
        f"it searches with a beam of 1, whatever the model: search.beam={search.beam} is not "
        "carried over",
        "it splits text into sentences by rules of its own, and a line of over 128 pieces anywhere",
        "in a web page an output has at most twice the pieces of its source, in translateLocally "
        "8 times",
        "SentencePiece merges over a whole line, not inside the words of our regular expression; "
        "the pieces are the same but for rare runs of apostrophes and letters, and for ▁, a space",
    ]
    if epsilon != EPSILON:
        found.append(f"norms add {EPSILON:g} to the variance and ours {epsilon:g}")
    pieces = list_fallback_pieces(model.task.target)
    if cut := sum(kind == UNUSED for _, kind in pieces[: len(model.task.target)]):
        found.append(
            f"{cut:,} of {len(model.task.target):,} pieces cut a character in two: it does not "
            "read or write them"
        )
    return found


@final
class BergamotEngine:
    """Bergamot's WebAssembly with an exported folder; each `translate` starts a new Node.js."""

    limits_length = False  # it allows some multiple of the source's length
    is_greedy = True
    ends_in_best_beam = True

    def __init__(self, folder: Path, _model: TaskModel) -> None:
        self.registry = folder / "registry.json"
        try:
            self.name = f"{PACKAGE} {run_driver()}"
        except OSError as error:
            raise ImportError(f"{PACKAGE} does not run here ({error})", name=PACKAGE) from None

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:  # noqa: ARG002 - it has a limit of its own
        """Return an output per line, log P NaN; SaveError on failure; ignore `max_length`."""
        text = "\n".join(line.replace("\n", " ") for line in lines)
        try:
            found = run_driver(str(self.registry), str(beam), text=text)
        except OSError as error:
            raise SaveError(f"{self.name} does not load the export ({error})") from None
        return [EngineOutput(text, math.nan) for text in json.loads(found)]


def run_driver(*arguments: str, text: str = "") -> str:
    """Run bergamot.mjs in Node.js with input `text`; return its output; OSError on failure."""
    node = shutil.which("node")
    if node is None:
        raise OSError("Node.js is not installed")
    command = [node, str(DRIVER), *arguments]
    found = subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
    if found.returncode:
        *_, why = found.stderr.strip().splitlines() or [f"exit code {found.returncode}"]
        raise OSError(shorten(why, 200))
    return found.stdout


BERGAMOT = Target(
    name="bergamot",
    precisions=("float32", "int8"),
    write=write_bergamot,
    explain_unsupported=explain_unsupported,
    list_differences=list_differences,
    open_engine=BergamotEngine,
    install=f"npm install {PACKAGE}",
    library="bergamot",
    describe_use=describe_use,
)
