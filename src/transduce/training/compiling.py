"""Compile the layers and the loss with torch.compile, if `training.compile` is set.

The encoder layers, the decoder layers and the cross-entropy function are compiled. Attention is
compiled with torch's variable-length kernel, but not with the bucketed kernel, whose tensor shapes
differ in every batch.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from functools import cache
from typing import final

import torch

from transduce.errors import InputError
from transduce.model.attention.kernel import BatchAttention
from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.select import select_kernel
from transduce.model.attention.varlen import VarlenAttention
from transduce.model.transformer import Transformer
from transduce.settings import Training
from transduce.training.loss import CrossEntropyKernel, cross_entropy_inplace

# the environment variable that names a compiler, and the commands to try if it is unset
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


def compile_layers(model: Transformer, *, mode: str = "default", dynamic: bool = True) -> None:
    """Compile every layer of a model in place; if `dynamic`, once for batches of all sizes.

    `mode` and `dynamic` are those of torch.compile.
    """
    model.kernel = KernelForCompiledLayers(model)
    for layer in [*model.encoder, *model.decoder]:
        layer.compile(mode=mode, dynamic=dynamic)


@final
class KernelForCompiledLayers:
    """The model's attention kernel, excluded from compilation unless it is variable-length."""

    def __init__(self, model: Transformer) -> None:
        self.sizes, self.weight, self.kernel = model.sizes, model.output.weight, model.kernel

    def __call__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> BatchAttention:
        """Return the kernel prepared for the sentence lengths of a batch."""
        kernel = self.kernel or select_kernel(self.sizes, device, self.weight.dtype).kernel
        attend = kernel(queries, keys, mask, device)
        return attend if kernel is VarlenAttention else torch.compiler.disable(attend)


@cache
def compiled_cross_entropy() -> CrossEntropyKernel:
    """Return `cross_entropy_inplace` compiled into a few kernels instead of a dozen."""
    compiled: CrossEntropyKernel = torch.compile(cross_entropy_inplace, dynamic=True)
    return compiled
