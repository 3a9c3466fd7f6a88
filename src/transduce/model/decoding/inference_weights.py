"""Converts trained weights for inference: their precision and memory layout (decision 0037)"""

from collections.abc import Callable
from enum import StrEnum

import torch
from torch import Tensor

from transduce.machine.process_settings import release_freed_memory
from transduce.machine.processor import Processor, read_processor
from transduce.model.decoding.int8 import Int8Linear
from transduce.model.decoding.layer_graph import LayerGraph
from transduce.model.decoding.linear_layouts import (
    MklLinear,
    OneDnnLinear,
    TransposedLinear,
    has_mkl_packing,
)
from transduce.model.linear import replace_linear_operators
from transduce.model.onednn import has_onednn_bfloat16, has_onednn_operators
from transduce.model.transformer import Transformer
from transduce.settings.precision import InferencePrecision

# numbers of a matrix from which its packed form is faster
LARGE_FOR_ONEDNN = 2**20  # 4 MB: larger than the cache of a core
LARGE_FOR_MKL = 2**18  # 256 × 1,024 or 512 × 512


class WeightLayout(StrEnum):
    """How a weight matrix lies in memory, which decides whose kernel multiplies with it."""

    COLUMNS = "columns"  # column by column
    ONEDNN = "oneDNN"  # in blocks for oneDNN
    MKL = "MKL"  # packed for MKL


LINEAR_OPERATORS: dict[WeightLayout, type[TransposedLinear | OneDnnLinear | MklLinear]] = {
    WeightLayout.COLUMNS: TransposedLinear,
    WeightLayout.ONEDNN: OneDnnLinear,
    WeightLayout.MKL: MklLinear,
}


def prepare_for_inference(model: Transformer, precision: InferencePrecision) -> None:
    """Convert a model in place to a precision and to the fastest weight layout for decoding.

    The conversion is final: packed weights cannot be trained, saved, copied or moved to a device.
    """
    if precision == InferencePrecision.INT8:
        replace_linear_operators(model.float().requires_grad_(requires_grad=False), Int8Linear)
        release_freed_memory()  # that of the weights in float32
    else:
        model.to(getattr(torch, precision.value))
        processor = read_processor()
        convert_layouts(model, lambda weight: choose_layout(weight, processor))
    if model.output.weight.device.type == "cpu":
        model.layer_graph = LayerGraph(model)


def convert_layouts(model: Transformer, choose: Callable[[Tensor], WeightLayout]) -> None:
    """Replace every linear map of a model by one whose weight has the layout `choose(weight)`.

    Embeddings keep a matrix of their own where that of the output projection is packed.
    """
    replace_linear_operators(model, lambda one: LINEAR_OPERATORS[choose(one.weight)](one))


def choose_layout(weight: Tensor, processor: Processor) -> WeightLayout:
    """Return the layout of a weight matrix with which a search is fastest.

    The answer depends on the device, on the matrix' precision and size and on the kind of
    processor, never on a measurement: results must not change from one start to the next. In
    bfloat16 oneDNN's blocks are faster wherever it has instructions for them.
    """
    if weight.device.type != "cpu":
        return WeightLayout.COLUMNS
    if weight.dtype == torch.float32:
        return choose_float32_layout(weight, processor)
    is_packed = weight.dtype == torch.bfloat16 and has_onednn_bfloat16()
    return WeightLayout.ONEDNN if is_packed else WeightLayout.COLUMNS


def choose_float32_layout(weight: Tensor, processor: Processor) -> WeightLayout:
    """Return the fastest layout of a float32 matrix on a CPU.

    On Intel MKL is as fast as oneDNN or faster; with AVX-512 it is faster still with large matrices
    packed. On AMD oneDNN is faster with AVX-512, and without it for large matrices that have more
    outputs than inputs.
    """
    has_avx512 = "avx512f" in processor.features
    if processor.vendor == "GenuineIntel" and has_avx512 and weight.numel() >= LARGE_FOR_MKL:
        return WeightLayout.MKL if has_mkl_packing() else WeightLayout.COLUMNS
    outputs, inputs = weight.shape
    is_large = weight.numel() >= LARGE_FOR_ONEDNN and outputs > inputs
    if processor.vendor == "AuthenticAMD" and (has_avx512 or is_large):
        return WeightLayout.ONEDNN if has_onednn_operators() else WeightLayout.COLUMNS
    return WeightLayout.COLUMNS


def describe_precision(model: Transformer) -> str:
    """Return the precision in which a model computes products: "float32", "bfloat16", "int8"."""
    if any(isinstance(module, Int8Linear) for module in model.modules()):
        return InferencePrecision.INT8.value
    return str(model.output.weight.dtype).removeprefix("torch.")


def read_weights(model: Transformer) -> dict[str, Tensor]:
    """Return all weights of a model by name, as before it was prepared for inference."""
    packed = {
        f"{name}.weight": module.unpack()
        for name, module in model.named_modules()
        if isinstance(module, OneDnnLinear | MklLinear) and module is not model.output_projection
    }
    return {**model.named_weights(), **packed}
