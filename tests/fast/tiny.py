"""What a CPU is given for models in float64, and for searches with compiled loops."""

from dataclasses import replace
from functools import partial

import torch
from tests.model import tiny

from transduce.fast.choose import choose_operations, with_compiled_loops
from transduce.paper.operations import PLAIN
from transduce.settings import Architecture

CPU = torch.device("cpu")
FAST = choose_operations(Architecture(), CPU, torch.float64)
LOOPS = with_compiled_loops(FAST)

model_of = partial(tiny.model_of, operations=FAST)


def with_attention(kernel):
    """Plain operations with one of the attention kernels."""
    return replace(PLAIN, build_attention=lambda *given: kernel(*given, CPU))
