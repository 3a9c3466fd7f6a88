"""Export to ONNX: the encoder, and a step of the decoder with its cache, for onnxruntime.

The graphs are traced from the same layers rebuilt in plain PyTorch, on padded batches.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from transduce.durable.folder import FolderWriter
from transduce.exports.target import EngineOutput, Target, raise_import_errors
from transduce.exports.tokenizer import build_tokenizer_json, name_tokenizers
from transduce.exports.weights import POSITIONS, Array, Arrays, Weights, collect_weights
from transduce.inference.load import TaskModel
from transduce.paper.search import beam_search
from transduce.settings import Architecture
from transduce.vocabulary import END

# B sentences · S source positions · L layers · H heads · K features of a head · V symbols
# T positions (in a decoder step: the earlier ones) · U = T + 1 · Q positions that attend
# d features · R hypotheses

ENCODER, STEP = "encoder.onnx", "decoder_step.onnx"
Sizes = dict[str, dict[int, str]]  # array name -> its variable dimensions and their names
SENTENCES = {0: "batch", 1: "source"}
MEMORY = {1: "batch", 3: "source"}


def write_onnx(model: TaskModel, writer: FolderWriter, _precision: str) -> None:
    """Write ONNX graphs of encoder and decoder step, and tokenizers; ImportError without `onnx`."""
    with raise_import_errors("onnx"):
        import onnx  # type: ignore[import-not-found]  # noqa: F401 - torch.onnx needs it

    weights = collect_weights(model.transformer)
    writer.write(ENCODER, trace_encoder(weights))
    writer.write(STEP, trace_step(weights))
    for name, vocabulary in name_tokenizers(model).items():
        writer.write(name, build_tokenizer_json(vocabulary))


def trace_encoder(weights: Weights) -> bytes:
    """Return a model's encoder as an ONNX file, for any number and length of sentences."""
    ids, mask = torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.bool)
    inputs = {"input_ids": SENTENCES, "attention_mask": SENTENCES}
    outputs = {"memory_keys": MEMORY, "memory_values": MEMORY}
    return trace_to_onnx(PlainEncoder(weights), (ids, mask), inputs, outputs)


def trace_step(weights: Weights) -> bytes:
    """Return one decoder step as an ONNX file, for any number of sentences and cached positions."""
    sizes = weights.sizes
    layers, heads, width = sizes.decoder_depth, sizes.heads, weights.head_width
    memory = tuple(torch.zeros(layers, 2, heads, 3, width) for _ in range(2))
    past = tuple(torch.zeros(layers, 2, heads, 4, width) for _ in range(2))
    mask = torch.ones(2, 3, dtype=torch.bool)
    ids, position = torch.ones(2, dtype=torch.long), torch.full((1,), 4)
    inputs = {
        "ids": {0: "batch"},
        "position": {},
        "attention_mask": SENTENCES,
        "memory_keys": MEMORY,
        "memory_values": MEMORY,
        "past_keys": {1: "batch", 3: "past"},
        "past_values": {1: "batch", 3: "past"},
    }
    longer = {1: "batch", 3: "past_and_this"}
    outputs = {"log_probs": {0: "batch"}, "keys": longer, "values": longer}
    return trace_to_onnx(
        PlainDecoderStep(weights), (ids, position, mask, memory, past), inputs, outputs
    )


def trace_to_onnx(
    module: nn.Module, examples: tuple[Any, ...], inputs: Sizes, outputs: Sizes
) -> bytes:
    """Return a module as the bytes of an ONNX file, traced on the inputs `examples`.

    `inputs` and `outputs` map array names to their variable dimensions and the names of these.
    The tracing exporter (dynamo=False) needs no other package than `onnx`.
    """
    file = BytesIO()
    with warnings.catch_warnings():
        # torch warns that sizes become constants; those named in `dynamic_axes` do not
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            examples,
            file,  # type: ignore[arg-type]  # torch takes open files, too
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={**inputs, **outputs},
            dynamo=False,
        )
    return file.getvalue()


class LayerCache(NamedTuple):
    """The keys and values of one attention sub-layer, for T source or target positions."""

    keys: Float[Tensor, "B H T K"]
    values: Float[Tensor, "B H T K"]


def to_parameter(array: Array) -> nn.Parameter:
    """Return a numpy array as a torch parameter that is not trained."""
    return nn.Parameter(torch.from_numpy(array.copy()), requires_grad=False)


@final
class PlainAffine(nn.Module):
    """The matrix and bias (or None) of a linear map, or the gain and bias of a layer norm."""

    def __init__(self, arrays: Arrays, name: str, epsilon: float = 0.0) -> None:
        super().__init__()
        self.weight, self.epsilon = to_parameter(arrays[f"{name}.weight"]), epsilon
        bias = arrays.get(f"{name}.bias")
        self.bias = None if bias is None else to_parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the linear map x Wᵀ + b."""
        return functional.linear(x, self.weight, self.bias)

    def norm(self, x: Tensor) -> Tensor:
        """Compute the layer normalisation of x with this gain and bias."""
        return functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)


@final
class PlainAttention(nn.Module):
    """Multi-head attention on padded batches, by `project` and then `attend`    (section 3.2.2)

    `kind` is "self" or "cross".
    """

    def __init__(self, layer: Arrays, kind: str, sizes: Architecture) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.query, self.key, self.value, self.output = (
            PlainAffine(layer, f"{kind}_attention.{one}")
            for one in ("query", "key", "value", "output")
        )
        self.norm = PlainAffine(layer, f"add_{kind}.norm", sizes.norm_epsilon)

    def split(self, x: Float[Tensor, "B T d"], projection: PlainAffine) -> Float[Tensor, "B H T K"]:
        """Project x, and split the result into H heads."""
        return projection(x).unflatten(2, (self.heads, -1)).transpose(1, 2)

    def project(self, x: Float[Tensor, "B T d"]) -> LayerCache:
        """Return the keys and values of all positions of x."""
        return LayerCache(self.split(x, self.key), self.split(x, self.value))

    def attend(
        self, x: Float[Tensor, "B Q d"], cache: LayerCache, allowed: Bool[Tensor, "B 1 1 T"] | None
    ) -> Float[Tensor, "B Q d"]:
        """Attend from each position of x to the keys that `allowed` marks; None allows all keys."""
        query = self.split(x, self.query)
        scores = query @ cache.keys.transpose(2, 3) / math.sqrt(query.shape[-1])
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        found = scores.softmax(dim=-1) @ cache.values
        return self.output(found.transpose(1, 2).flatten(2))


@final
class PlainLayer(nn.Module):
    """The sub-layers of an encoder or decoder layer; callers add the residuals of attention."""

    def __init__(self, layer: Arrays, sizes: Architecture) -> None:
        super().__init__()
        self.pre_norm = sizes.norm == "pre"
        self.activation = {"relu": functional.relu, "swish": functional.silu}[sizes.activation]
        self.own = PlainAttention(layer, "self", sizes)
        has_cross = "add_cross.norm.weight" in layer
        self.cross = PlainAttention(layer, "cross", sizes) if has_cross else None
        self.inner = PlainAffine(layer, "feed_forward.inner")
        self.outer = PlainAffine(layer, "feed_forward.outer")
        self.norm = PlainAffine(layer, "add_feed_forward.norm", sizes.norm_epsilon)

    def norm_before(self, x: Tensor, norm: PlainAffine) -> Tensor:
        """Return a sub-layer's input: x after the norm in a pre-norm model, else x itself."""
        return norm.norm(x) if self.pre_norm else x

    def norm_after(self, x: Tensor, norm: PlainAffine) -> Tensor:
        """Return a sub-layer's result: the sum x after the norm in a post-norm model, else x."""
        return x if self.pre_norm else norm.norm(x)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Return the states x after the feed-forward sub-layer with its residual and norm."""
        hidden = self.activation(self.inner(self.norm_before(x, self.norm)))
        return self.norm_after(x + self.outer(hidden), self.norm)


class PlainStack(nn.Module):
    """The base class of encoder and decoder: embedding, positions, layers, final norm."""

    def __init__(self, weights: Weights, stack: str, embedding: str) -> None:
        super().__init__()
        arrays, sizes, norm = weights.arrays, weights.sizes, f"{stack}_final_norm"
        self.embedding = to_parameter(arrays[f"{embedding}.weight"])
        self.positions = to_parameter(arrays[f"{embedding}_positions.weight"])
        self.layers: Any = nn.ModuleList(
            PlainLayer(layer, sizes) for side, _, layer in weights.list_layers() if side == stack
        )
        is_pre = sizes.norm == "pre"
        self.final_norm = PlainAffine(arrays, norm, sizes.norm_epsilon) if is_pre else None

    def embed(self, ids: Int[Tensor, "B T"], positions: Tensor) -> Float[Tensor, "B T d"]:
        """Return √d_model · E(w) + PE(pos) for token ids w; `positions` has the rows PE(pos)."""
        x = functional.embedding(ids, self.embedding) * math.sqrt(self.embedding.shape[1])
        return x + positions

    def finish(self, x: Tensor) -> Tensor:
        """Return states after the final norm, or unchanged if the model has none (post-norm)."""
        return x if self.final_norm is None else self.final_norm.norm(x)


@final
class PlainEncoder(PlainStack):
    """The encoder; it outputs the keys and values of each decoder layer's cross-attention."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights, "encoder", "source")
        self.crosses: Any = nn.ModuleList(
            PlainAttention(layer, "cross", weights.sizes)
            for side, _, layer in weights.list_layers()
            if side == "decoder"
        )

    def forward(
        self, input_ids: Int[Tensor, "B S"], attention_mask: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "L B H S K"], Float[Tensor, "L B H S K"]]:
        """Encode B sources; return the keys and values of each decoder layer's cross-attention."""
        allowed = attention_mask[:, None, None, :]
        x = self.embed(input_ids, self.positions[: input_ids.shape[1]])
        for layer in self.layers:
            own, y = layer.own, layer.norm_before(x, layer.own.norm)
            x = layer.norm_after(x + own.attend(y, own.project(y), allowed), own.norm)
            x = layer.feed_forward(x)
        found = [cross.project(self.finish(x)) for cross in self.crosses]
        return torch.stack([one.keys for one in found]), torch.stack([one.values for one in found])


@final
class PlainDecoderStep(PlainStack):
    """One decoder step from the newest symbol, the KV cache and the source's keys and values."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights, "decoder", "target")
        self.projection = PlainAffine(weights.arrays, "output")

    def forward(
        self,
        ids: Int[Tensor, " B"],
        position: Int[Tensor, " 1"],
        attention_mask: Bool[Tensor, "B S"],
        memory: tuple[Float[Tensor, "L B H S K"], Float[Tensor, "L B H S K"]],
        past: tuple[Float[Tensor, "L B H T K"], Float[Tensor, "L B H T K"]],
    ) -> tuple[Float[Tensor, "B V"], Float[Tensor, "L B H U K"], Float[Tensor, "L B H U K"]]:
        """Return log P of the next symbols, and the self-attention cache extended by this step."""
        allowed, caches = attention_mask[:, None, None, :], list[LayerCache]()
        x = self.embed(ids[:, None], self.positions.index_select(0, position)[None])
        for number, layer in enumerate(self.layers):
            y = layer.norm_before(x, layer.own.norm)
            new = layer.own.project(y)
            keys = torch.cat([past[0][number], new.keys], dim=2)
            caches.append(LayerCache(keys, torch.cat([past[1][number], new.values], dim=2)))
            x = layer.norm_after(x + layer.own.attend(y, caches[-1], None), layer.own.norm)
            z, cross = layer.norm_before(x, layer.cross.norm), layer.cross
            memory_cache = LayerCache(memory[0][number], memory[1][number])
            x = layer.norm_after(x + cross.attend(z, memory_cache, allowed), cross.norm)
            x = layer.feed_forward(x)
        logits = self.projection(self.finish(x)[:, 0])
        stacked = [torch.stack(list(one)) for one in zip(*caches, strict=True)]
        return logits.log_softmax(dim=-1), stacked[0], stacked[1]


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on what the two graphs leave to users, such as the search."""
    sizes = model.recipe.architecture
    most = sizes.max_positions if sizes.positions == "learned" else POSITIONS
    return [
        "the search is yours to write: the graphs compute the encoder and one step of the decoder "
        "(docs/guide/exporting.md has a loop)",
        f"positions end at {most}",
        "long lines are not split into sentences there",
    ]


@final
@dataclass(frozen=True)
class OnnxState:
    """The decoder's state: encoded sources and mask, keys and values of the past, its length."""

    memory: dict[str, Any]  # the encoder's outputs and the mask, by the names of the step's inputs
    past: tuple[Any, Any]  # the keys and values of self-attention
    length: int  # number of symbols in `past`


@final
class OnnxEngine:
    """Runs both ONNX graphs in onnxruntime, as a model for this package's beam search."""

    limits_length, is_greedy, ends_in_best_beam = True, False, False

    def __init__(self, folder: Path, model: TaskModel) -> None:
        from tokenizers import Tokenizer

        with raise_import_errors("onnxruntime"):
            import onnxruntime  # type: ignore[import-not-found]

        self.name, self.model = f"onnxruntime {onnxruntime.__version__}", model
        self.target = Tokenizer.from_file(str(folder / list(name_tokenizers(model))[-1]))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.encoder, self.decoder_step = (
            onnxruntime.InferenceSession(folder / name, options, ["CPUExecutionProvider"])
            for name in (ENCODER, STEP)
        )

    @property
    def device(self) -> torch.device:
        """The device of token ids and log-probabilities: the CPU."""
        return torch.device("cpu")

    def start(self, sources: Sequence[Sequence[int]]) -> OnnxState:
        """Encode sources of token ids, padded to one length; return the state of step 0."""
        longest = max(map(len, sources))
        ids = np.array([[*one, *[END] * (longest - len(one))] for one in sources])
        mask = np.arange(longest)[None] < np.array([len(one) for one in sources])[:, None]
        keys, values = self.encoder.run(None, {"input_ids": ids, "attention_mask": mask})
        memory = {"memory_keys": keys, "memory_values": values, "attention_mask": mask}
        return OnnxState(memory, (keys[:, :, :, :0], values[:, :, :, :0]), 0)

    def step(
        self, state: OnnxState, ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], OnnxState]:
        """Append an id to each of R hypotheses; return log P of next symbols and the new state."""
        inputs = {
            "ids": ids.numpy(),
            "position": np.array([state.length]),
            "past_keys": state.past[0],
            "past_values": state.past[1],
        }
        log_probs, keys, values = self.decoder_step.run(None, {**inputs, **state.memory})
        return torch.from_numpy(log_probs), OnnxState(
            state.memory, (keys, values), state.length + 1
        )

    def reorder(self, state: OnnxState, rows: Int[Tensor, " R2"]) -> OnnxState:
        """Return the state of the hypotheses at the indices `rows`, in that order."""
        order = rows.numpy()
        memory = {
            name: value[order] if name == "attention_mask" else value[:, order]
            for name, value in state.memory.items()
        }
        keys, values = state.past
        return OnnxState(memory, (keys[:, order], values[:, order]), state.length)

    def concatenate(self, first: OnnxState, second: OnnxState) -> OnnxState:
        """Raise NotImplementedError, because `translate` starts all its sources together."""
        raise NotImplementedError

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:
        """Return each line's best output by beam search in ONNX, for lines of equal token count.

        The search has no length penalty. An output has at most `max_length` symbols before END.
        """
        task = self.model.task
        sources = task.encode_sources([task.normalise(line) for line in lines])
        extra = max_length - len(sources[0]) + 1
        search = replace(
            self.model.recipe.search,
            beam=beam,
            penalty="none",
            extra_length=extra,
            batch_size=len(sources),
        )
        found = beam_search(self, sources, search)
        return [EngineOutput(self.target.decode(best.ids), best.log_prob) for best, *_ in found]


def describe_use(_model: TaskModel) -> str:
    """Return what the exported graphs compute, as Markdown."""
    return f"""onnxruntime loads both graphs, and the search is yours. `{ENCODER}` takes `input_ids`
and `attention_mask`, and gives `memory_keys` and `memory_values`. `{STEP}` takes these, the last
symbols (`ids`, 1 at first), their `position`, `past_keys` and `past_values` (empty at first), and
gives log P of every next symbol, and the longer past. Symbol 0 ends a source and an output. The
tokenizer is for the package `tokenizers`."""


ONNX = Target(
    name="onnx",
    precisions=("float32",),
    write=write_onnx,
    explain_unsupported=lambda _: "",
    list_differences=list_differences,
    open_engine=OnnxEngine,
    install="pip install onnxruntime",
    library="onnx",
    describe_use=describe_use,
)
