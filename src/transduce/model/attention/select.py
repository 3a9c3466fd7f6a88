"""Which way to attend fits a model on a device, and why."""

import inspect
from typing import NamedTuple

import torch

from transduce.model.attention.bucketed import Grouped
from transduce.model.attention.reference import Kernel
from transduce.model.attention.varlen import VariableLength, varlen
from transduce.settings import Architecture

HALVES = (torch.bfloat16, torch.float16)
WIDEST = 256  # of a head, that torch's variable-length kernel takes
CAPABLE = (8, 0)  # the oldest GPUs that it runs on


class Fit(NamedTuple):
    """A way to attend, and the reason in words."""

    kernel: Kernel
    because: str


def fitting(sizes: Architecture, device: torch.device, kind: torch.dtype) -> Fit:
    """torch's variable-length kernel where it can do what is asked, rectangles elsewhere."""
    reason = hindrance(sizes, device, kind)
    if reason:
        return Fit(Grouped, f"rectangles: {reason}")
    return Fit(VariableLength, "torch's variable-length kernel: CUDA, half precision, no dropout")


def hindrance(sizes: Architecture, device: torch.device, kind: torch.dtype) -> str:
    """Why torch's variable-length kernel cannot be used; nothing if it can."""
    if device.type != "cuda":
        return f"the variable-length kernel needs CUDA, and this is {device.type}"
    if kind not in HALVES:
        return f"the variable-length kernel needs half precision, and this is {kind}"
    if max(sizes.d_k, sizes.d_v) > WIDEST:
        return f"a head has {max(sizes.d_k, sizes.d_v)} numbers, the kernel takes {WIDEST}"
    if sizes.attention_dropout:
        return "the variable-length kernel has no dropout on the weights"
    return machine_hindrance(device)


def machine_hindrance(device: torch.device) -> str:
    """What this GPU or this torch lacks."""
    if torch.cuda.get_device_capability(device) < CAPABLE:
        return "this GPU is older than the variable-length kernel"
    try:
        known = inspect.signature(varlen()).parameters
    except ImportError:
        return "this torch has no variable-length kernel"
    lacking = [name for name in ("scale", "window_size") if name not in known]
    return f"this torch's variable-length kernel has no {lacking[0]}" if lacking else ""
