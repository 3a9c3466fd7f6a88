"""Compile the layers and the loss with torch.compile, if `training.compile` is set.

The encoder layers, the decoder layers and the cross-entropy function are compiled. Attention is
compiled only with torch's variable-length kernel. Other attention is not compiled: padded blocks
have other shapes in every batch, and Triton's kernels are compiled already.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import torch

from transduce.errors import InputError
from transduce.fast.loss import CrossEntropyKernel, cross_entropy_inplace
from transduce.fast.varlen import VarlenAttention
from transduce.paper.model import Transformer
from transduce.paper.operations import AttentionMask, BatchAttention, BuildAttention
from transduce.settings import Training

# an environment variable that names a compiler, and the commands to try if it is unset
GPU_COMPILER = ("CC", ("gcc", "clang", "cc"))
CPU_COMPILER = ("CXX", ("clang++",) if sys.platform == "darwin" else ("g++",))


def require_compiler(training: Training, device: torch.device) -> None:
    """Raise InputError if `training.compile` is set and no compiler is installed."""
    variable, commands = GPU_COMPILER if device.type == "cuda" else CPU_COMPILER
    wanted = [os.environ[variable]] if os.environ.get(variable) else commands
    if training.compile and not any(map(shutil.which, wanted)):
        raise InputError(
            f"training.compile needs the compiler {wanted[0]}, which is not here",
            f"install it (Debian, Ubuntu: apt install g++), name another in {variable}, or train "
            "with training.compile=false",
        )


def compile_layers(model: Transformer) -> None:
    """Compile every layer of a model in place, once for batches of all sizes."""
    attention = partial(build_for_compiled_layers, build=model.operations.build_attention)
    model.operations = replace(model.operations, build_attention=attention)
    for layer in [*model.encoder, *model.decoder]:
        layer.compile(dynamic=True)


def build_for_compiled_layers(
    query_lengths: Sequence[int],
    key_lengths: Sequence[int],
    mask: AttentionMask,
    *,
    build: BuildAttention,
) -> BatchAttention:
    """Build a batch's attention; exclude it from torch.compile unless it is a `VarlenAttention`."""
    attend = build(query_lengths, key_lengths, mask)
    return attend if isinstance(attend, VarlenAttention) else torch.compiler.disable(attend)


@cache
def compiled_cross_entropy() -> CrossEntropyKernel:
    """Return `cross_entropy_inplace` compiled into a few kernels instead of a dozen."""
    compiled: CrossEntropyKernel = torch.compile(cross_entropy_inplace, dynamic=True)
    return compiled
