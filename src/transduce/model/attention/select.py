"""Chooses the attention kernel for a model on a device, and gives the reason."""

import inspect
from typing import NamedTuple

import torch

from transduce.model.attention.bucketed import BucketedAttention
from transduce.model.attention.kernel import AttentionKernel
from transduce.model.attention.varlen import VarlenAttention, import_varlen_kernel
from transduce.settings import Architecture

HALF_PRECISIONS = (torch.bfloat16, torch.float16)
MAX_HEAD_WIDTH = 256  # the most numbers a head may have in torch's variable-length kernel
MIN_COMPUTE_CAPABILITY = (8, 0)  # the oldest GPUs that run the variable-length kernel (Ampere)


class KernelChoice(NamedTuple):
    """An attention kernel and the reason why it was chosen, in words."""

    kernel: AttentionKernel
    reason: str


def select_kernel(
    sizes: Architecture, device: torch.device, precision: torch.dtype
) -> KernelChoice:
    """Return the variable-length kernel if it fits model and device, else the bucketed kernel."""
    reason = unsupported_reason(sizes, device, precision)
    if reason:
        return KernelChoice(BucketedAttention, f"padded blocks: {reason}")
    return KernelChoice(
        VarlenAttention, "torch's variable-length kernel: CUDA, half precision, no dropout"
    )


def unsupported_reason(sizes: Architecture, device: torch.device, precision: torch.dtype) -> str:
    """Return why torch's variable-length kernel cannot compute a model; empty if it can."""
    if device.type != "cuda":
        return f"the variable-length kernel needs CUDA, and this is {device.type}"
    if precision not in HALF_PRECISIONS:
        return f"the variable-length kernel needs half precision, and this is {precision}"
    if max(sizes.d_k, sizes.d_v) > MAX_HEAD_WIDTH:
        return f"a head has {max(sizes.d_k, sizes.d_v)} numbers, the kernel takes {MAX_HEAD_WIDTH}"
    if sizes.attention_dropout:
        return "the variable-length kernel has no dropout on the weights"
    return unsupported_gpu_reason(device)


def unsupported_gpu_reason(device: torch.device) -> str:
    """Return why this GPU or torch cannot run the variable-length kernel; empty if it can."""
    if torch.cuda.get_device_capability(device) < MIN_COMPUTE_CAPABILITY:
        return "this GPU is older than the variable-length kernel"
    try:
        known = inspect.signature(import_varlen_kernel()).parameters
    except ImportError:
        return "this torch has no variable-length kernel"
    missing = [name for name in ("scale", "window_size") if name not in known]
    return f"this torch's variable-length kernel has no {missing[0]}" if missing else ""
