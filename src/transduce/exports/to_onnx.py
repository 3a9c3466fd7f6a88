"""Export to ONNX: the encoder, and a step of the decoder with its cache, for onnxruntime.

The graphs are traced from the layers of the paper's chapters, on padded batches. Equation 1 is
traced without its dropout, which would be an operator that some programs refuse.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transduce.durable.folder import FolderWriter
from transduce.exports.target import EngineOutput, Target, raise_import_errors
from transduce.exports.tokenizer import build_tokenizer_json, name_tokenizers
from transduce.exports.weights import POSITIONS
from transduce.inference.load import TaskModel
from transduce.paper.model import (
    LearnedPositions,
    SinusoidalPositions,
    Transformer,
    compute_sinusoids,
)
from transduce.paper.operations import attention_weights, log_softmax, run_layers, split_heads
from transduce.paper.search import beam_search
from transduce.vocabulary import END

# B sentences · S source positions · L layers · H heads · K features of a head's keys · V symbols
# d_v features of a head's values · P tokens of all B sentences, padded · d features
# T positions (in a decoder step: the earlier ones) · U = T + 1 · R hypotheses

ENCODER, STEP = "encoder.onnx", "decoder_step.onnx"
Sizes = dict[str, dict[int, str]]  # array name -> its variable dimensions and their names
SENTENCES = {0: "batch", 1: "source"}
MEMORY = {1: "batch", 3: "source"}


def write_onnx(model: TaskModel, writer: FolderWriter, _precision: str) -> None:
    """Write ONNX graphs of encoder and decoder step, and tokenizers; ImportError without `onnx`."""
    with raise_import_errors("onnx"):
        # torch.onnx needs it; a mere folder named onnx can be imported, too, but has no ModelProto
        from onnx import ModelProto  # type: ignore[import-not-found]  # noqa: F401

    plain = copy_plain(model.transformer)
    writer.write(ENCODER, trace_encoder(plain))
    writer.write(STEP, trace_step(plain))
    for name, vocabulary in name_tokenizers(model).items():
        writer.write(name, build_tokenizer_json(vocabulary))


def copy_plain(model: Transformer) -> Transformer:
    """Return a copy of a model in float32 on the CPU, without the fast forms of its layers."""
    copied = Transformer(model.sizes, len(model.source.weight), len(model.target.weight))
    weights = model.named_weights()
    for name, weight in copied.named_weights().items():
        weight.copy_(weights[name])
    return copied.float().cpu().requires_grad_(requires_grad=False)


def trace_encoder(model: Transformer) -> bytes:
    """Return a model's encoder as an ONNX file, for any number and length of sentences."""
    ids, mask = torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.bool)
    inputs = {"input_ids": SENTENCES, "attention_mask": SENTENCES}
    outputs = {"memory_keys": MEMORY, "memory_values": MEMORY}
    return trace_to_onnx(EncoderGraph(model), (ids, mask), inputs, outputs)


def trace_step(model: Transformer) -> bytes:
    """Return one decoder step as an ONNX file, for any number of sentences and cached positions."""
    sizes = model.sizes
    layers, heads, widths = sizes.decoder_depth, sizes.heads, (sizes.d_k, sizes.d_v)
    memory, past = (
        tuple(torch.zeros(layers, 2, heads, n, width, dtype=torch.float32) for width in widths)
        for n in (3, 4)
    )
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
    return trace_to_onnx(StepGraph(model), (ids, position, mask, memory, past), inputs, outputs)


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


@final
class EncoderGraph(nn.Module):
    """The encoder; it outputs the keys and values of each decoder layer's cross-attention."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model, self.positions = model, list_positions(model, model.source_positions)

    def forward(
        self, input_ids: Int[Tensor, "B S"], attention_mask: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "L B H S K"], Float[Tensor, "L B H S d_v"]]:
        """Encode B sources; return the keys and values of each decoder layer's cross-attention."""

        def pad(x: Float[Tensor, "P H k"]) -> Float[Tensor, "B H S k"]:
            return x.view(*input_ids.shape, *x.shape[1:]).transpose(1, 2)

        def attend(
            q: Float[Tensor, "P H K"],
            k: Float[Tensor, "P H K"],
            v: Float[Tensor, "P H d_v"],
            _dropout: float,
        ) -> Float[Tensor, "P H d_v"]:
            allowed = attention_mask[:, None, None].expand(-1, 1, input_ids.shape[1], -1)
            attended = attention_weights(pad(q), pad(k), allowed) @ pad(v)
            return attended.transpose(1, 2).flatten(0, 1)

        embedded = self.model.source(input_ids.flatten()).view(*input_ids.shape, -1)
        x = (embedded + self.positions[: input_ids.shape[1]]).flatten(0, 1)
        for layer in self.model.encoder:
            x = layer(x, attend)
        z = self.model.encoder_final_norm(x)
        found = [layer.cross_attention.project_keys_values(z) for layer in self.model.decoder]
        keys, values = zip(*found, strict=True)
        return torch.stack([*map(pad, keys)]), torch.stack([*map(pad, values)])


@final
class StepGraph(nn.Module):
    """One decoder step from the newest symbol, the KV cache and the source's keys and values."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model, self.positions = model, list_positions(model, model.target_positions)

    def forward(
        self,
        ids: Int[Tensor, " B"],
        position: Int[Tensor, " 1"],
        attention_mask: Bool[Tensor, "B S"],
        memory: tuple[Float[Tensor, "L B H S K"], Float[Tensor, "L B H S d_v"]],
        past: tuple[Float[Tensor, "L B H T K"], Float[Tensor, "L B H T d_v"]],
    ) -> tuple[Float[Tensor, "B V"], Float[Tensor, "L B H U K"], Float[Tensor, "L B H U d_v"]]:
        """Return log P of the next symbols, and the self-attention cache extended by this step."""
        caches = [StepCache(*layer, attention_mask) for layer in zip(*past, *memory, strict=True)]
        x = self.model.target(ids) + self.positions.index_select(0, position)
        states = self.model.decoder_final_norm(run_layers(self.model.decoder, x, caches))
        keys, values = ([getattr(one, name) for one in caches] for name in ("keys", "values"))
        log_probs = log_softmax(self.model.logits(states))
        return log_probs, torch.stack(keys), torch.stack(values)


@final
@dataclass
class StepCache:
    """A decoder layer's `LayerCache` with hypotheses of one length and padded sources."""

    keys: Float[Tensor, "B H T K"]
    values: Float[Tensor, "B H T d_v"]
    source_keys: Float[Tensor, "B H S K"]
    source_values: Float[Tensor, "B H S d_v"]
    in_source: Bool[Tensor, "B S"]  # False for padding

    split_heads = staticmethod(split_heads)

    def append(self, k: Float[Tensor, "B H K"], v: Float[Tensor, "B H d_v"]) -> None:
        """Append the newest tokens' keys and values."""
        self.keys = torch.cat([self.keys, k[:, :, None]], dim=2)
        self.values = torch.cat([self.values, v[:, :, None]], dim=2)

    def attend(self, q: Float[Tensor, "B H K"]) -> Float[Tensor, "B Hd_v"]:
        """Attend from each newest token to its hypothesis; concatenate the heads."""
        allowed = torch.ones_like(self.keys[0, :1, :, 0], dtype=torch.bool)  # [1 U]
        return (attention_weights(q[:, :, None], self.keys, allowed) @ self.values).flatten(1)

    def attend_to_source(self, q: Float[Tensor, "B H K"]) -> Float[Tensor, "B Hd_v"]:
        """Attend from each newest token to its source; concatenate the heads."""
        allowed = self.in_source[:, None, None]
        weights = attention_weights(q[:, :, None], self.source_keys, allowed)
        return (weights @ self.source_values).flatten(1)


def list_positions(
    model: Transformer, encoding: SinusoidalPositions | LearnedPositions
) -> Float[Tensor, "T d"]:
    """Return the encodings of all positions that the graphs have, learned or computed."""
    if isinstance(encoding, LearnedPositions):
        return encoding.weight
    return compute_sinusoids(POSITIONS, model.sizes.d_model, model.sizes.positions).float()


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
