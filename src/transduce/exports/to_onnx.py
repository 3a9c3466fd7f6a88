"""Export to ONNX: the encoder, and a step of the decoder with its cache, for onnxruntime."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transduce.durable.folder import FolderWriter
from transduce.exports.onnx_model import PlainDecoderStep, PlainEncoder
from transduce.exports.target import EngineOutput, Target
from transduce.exports.to_ctranslate2 import name_tokenizers
from transduce.exports.tokenizer import build_tokenizer_json
from transduce.exports.weights import POSITIONS, Weights, collect_weights
from transduce.inference.load import TaskModel
from transduce.paper.search import beam_search
from transduce.vocabulary import END

ENCODER, STEP = "encoder.onnx", "decoder_step.onnx"
Sizes = dict[str, dict[int, str]]  # array name -> its variable dimensions and their names
SENTENCES = {0: "batch", 1: "source"}
MEMORY = {1: "batch", 3: "source"}


def write_onnx(model: TaskModel, writer: FolderWriter, _precision: str) -> None:
    """Write the ONNX graphs of encoder and decoder step, and the tokenizers; needs `onnx`."""
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
    return trace(PlainEncoder(weights), (ids, mask), inputs, outputs)


def trace_step(weights: Weights) -> bytes:
    """Return one decoder step as an ONNX file, for any number of sentences and cached positions."""
    layers, heads, width = len(weights.decoder.layers), weights.heads, weights.head_width
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
    return trace(PlainDecoderStep(weights), (ids, position, mask, memory, past), inputs, outputs)


def trace(module: nn.Module, examples: tuple[Any, ...], inputs: Sizes, outputs: Sizes) -> bytes:
    """Return a module as an ONNX file; inputs and outputs name arrays and variable dimensions.

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


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on what the two graphs leave to users, such as the search."""
    found = [
        "the search is yours to write: the graphs compute the encoder and one step of the decoder "
        "(docs/guide/exporting.md has a loop)",
        f"positions end at {POSITIONS}",
        "long lines are not split into sentences there",
    ]
    if model.recipe.architecture.positions == "learned":
        found[1] = f"positions end at {model.recipe.architecture.max_positions}"
    return found


@final
@dataclass(frozen=True)
class OnnxState:
    """The decoder's state: the keys and values of every hypothesis and of its source."""

    memory: dict[str, Any]  # the encoder's outputs and the mask, by the names of the step's inputs
    past: tuple[Any, Any]  # the keys and values of self-attention
    length: int  # number of symbols in `past`


@final
class OnnxEngine:
    """A decoder for this package's beam search that runs both ONNX graphs in onnxruntime."""

    limits_length, ends_in_best_half = True, False

    def __init__(self, folder: Path, model: TaskModel) -> None:
        import onnxruntime  # type: ignore[import-not-found]

        self.name, self.model = f"onnxruntime {onnxruntime.__version__}", model
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
        """Raise NotImplementedError, because all sources of a comparison start together."""
        raise NotImplementedError

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:
        """Return each line's best output by this package's beam search over the ONNX graphs.

        All lines must have equally many tokens.
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
        return [EngineOutput(task.decode(best.ids, ""), best.log_prob) for best, *_ in found]


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
    find_unsupported=lambda _: "",
    list_differences=list_differences,
    open_engine=OnnxEngine,
    install="pip install onnxruntime",
    library="onnx",
    describe_use=describe_use,
)
