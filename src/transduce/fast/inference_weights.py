"""Conversion of trained weights for inference: precision and memory layout (decision 0037)"""

from collections.abc import Callable
from enum import StrEnum

import torch
from torch import Tensor, nn

from transduce.fast.linear_layouts import (
    MklLinear,
    OneDnnLinear,
    TransposedLinear,
    has_mkl_packing,
)
from transduce.fast.onednn import has_onednn_bfloat16, has_onednn_operators
from transduce.machine.process_settings import release_freed_memory
from transduce.machine.processor import Processor, read_processor
from transduce.paper.model import Linear, Transformer
from transduce.settings.precision import InferencePrecision

# a matrix with at least this many weights is faster in packed form
LARGE_FOR_ONEDNN = 2**20  # 4 MB: larger than the cache of a core
LARGE_FOR_MKL = 2**18  # 256 × 1,024 or 512 × 512


class WeightLayout(StrEnum):
    """The memory layout of a weight matrix, which decides the library that multiplies with it."""

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
        from transduce.fast.int8 import build_int8

        replace_linear_operators(model.float().requires_grad_(requires_grad=False), build_int8)
        release_freed_memory()  # of the float32 weights
    else:
        model.to(getattr(torch, precision.value))
        processor = read_processor()
        convert_layouts(model, lambda weight: choose_layout(weight, processor))


def convert_layouts(model: Transformer, choose: Callable[[Tensor], WeightLayout]) -> None:
    """Replace every linear map of a model by one whose weight has the layout `choose(weight)`.

    Embeddings that are tied to a packed output matrix keep the original one.
    """
    replace_linear_operators(model, lambda one, _: LINEAR_OPERATORS[choose(one.weight)](one))


def replace_linear_operators(
    model: nn.Module, build: Callable[[Linear, nn.Module], nn.Module]
) -> None:
    """Replace every `Linear` in a model by `build(linear, its parent)`, in place.

    Each old weight is freed before the next one is built.
    """
    parents = [module for module in model.modules() if not isinstance(module, Linear)]
    for parent in parents:
        for name, child in list(parent.named_children()):
            if isinstance(child, Linear):
                setattr(parent, name, build(child, parent))


def choose_layout(weight: Tensor, processor: Processor) -> WeightLayout:
    """Return the layout of a weight matrix with which a search is fastest.

    It depends on the device, on the matrix' precision and size and on the kind of processor, but on
    no measurement, so that results do not change from one start to the next. In bfloat16 oneDNN's
    blocks are faster wherever it has instructions for them.
    """
    if weight.device.type != "cpu":
        return WeightLayout.COLUMNS
    if weight.dtype == torch.float32:
        return choose_float32_layout(weight, processor)
    is_packed = weight.dtype == torch.bfloat16 and has_onednn_bfloat16()
    return WeightLayout.ONEDNN if is_packed else WeightLayout.COLUMNS


def choose_float32_layout(weight: Tensor, processor: Processor) -> WeightLayout:
    """Return the fastest layout of a float32 matrix on a CPU.

    On Intel, MKL is as fast as oneDNN or faster, and with AVX-512 it is faster still if large
    matrices are packed. On AMD, oneDNN is faster with AVX-512; without it, only for large matrices
    that have more outputs than inputs.
    """
    has_avx512 = "avx512f" in processor.features
    if processor.vendor == "GenuineIntel" and has_avx512 and weight.numel() >= LARGE_FOR_MKL:
        return WeightLayout.MKL if has_mkl_packing() else WeightLayout.COLUMNS
    outputs, inputs = weight.shape
    is_large = weight.numel() >= LARGE_FOR_ONEDNN and outputs > inputs
    if processor.vendor == "AuthenticAMD" and (has_avx512 or is_large):
        return WeightLayout.ONEDNN if has_onednn_operators() else WeightLayout.COLUMNS
    return WeightLayout.COLUMNS
