"""Blocks of the model as compiled code (`training.compile`): fewer kernels that do more each.

What is compiled is a layer, once for each kind, and a slice of the loss. Attention over rectangles
stays outside, for no two batches have the same ones; torch's variable-length kernel goes in.
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
from transduce.training.loss import Soften, softened

GPU = ("CC", ("gcc", "clang", "cc"))  # where a compiler is named, and what is looked for otherwise
PROCESSOR = ("CXX", ("clang++",) if sys.platform == "darwin" else ("g++",))


def require_compiler(training: Training, device: torch.device) -> None:
    """Refuse what torch would refuse in the midst of the first update, and at length."""
    named, names = GPU if device.type == "cuda" else PROCESSOR
    wanted = [os.environ[named]] if os.environ.get(named) else names
    if training.compile and not any(map(shutil.which, wanted)):
        raise InputError(
            f"training.compile needs the compiler {wanted[0]}, which is not here",
            f"install it (Debian, Ubuntu: apt install g++), name another in {named}, or train "
            "with training.compile=false",
        )


def compile_layers(model: Transformer, *, mode: str = "default", dynamic: bool = True) -> None:
    """Every layer as compiled code; `dynamic`: for batches of any size."""
    model.kernel = Beside(model)
    for layer in [*model.encoder, *model.decoder]:
        layer.compile(mode=mode, dynamic=dynamic)


@final
class Beside:
    """The way to attend that fits; rectangles beside the compiled code and not in it."""

    def __init__(self, model: Transformer) -> None:
        self.sizes, self.weight, self.own = model.sizes, model.output.weight, model.kernel

    def __call__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> BatchAttention:
        """Prepared for the lengths of a batch."""
        kernel = self.own or select_kernel(self.sizes, device, self.weight.dtype).kernel
        attend = kernel(queries, keys, mask, device)
        return attend if kernel is VarlenAttention else torch.compiler.disable(attend)


@cache
def compiled_softened() -> Soften:
    """A slice of the loss, its dozen steps over all logits in a few."""
    compiled: Soften = torch.compile(softened, dynamic=True)
    return compiled
