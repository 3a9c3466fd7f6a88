"""Chooses the precision of inference: the one asked for, or one that this machine supports."""

from typing import NamedTuple

import torch

from transduce.machine.processor import Processor, read_processor
from transduce.model.decoding.int8_kernels import unsupported_int8_reason
from transduce.settings.precision import AUTO, InferencePrecision


class PrecisionChoice(NamedTuple):
    """The precision to compute in, and a message if it is not simply the one asked for."""

    precision: InferencePrecision
    message: str


def choose_precision(asked: str, device: torch.device) -> PrecisionChoice:
    """Return the precision `asked` for; choose one for "auto"; use float32 for unsupported int8."""
    if asked == AUTO:
        chosen, reason = choose_automatically(device, read_processor())
        return PrecisionChoice(chosen, f"precision auto: {chosen.value}, {reason}")
    precision = InferencePrecision(asked)
    if precision != InferencePrecision.INT8:
        return PrecisionChoice(precision, "")
    reason = find_int8_obstacle(device)
    if reason:
        return PrecisionChoice(InferencePrecision.FLOAT32, f"float32 in place of int8: {reason}")
    return PrecisionChoice(precision, "")


def choose_automatically(
    device: torch.device, processor: Processor
) -> tuple[InferencePrecision, str]:
    """Return the fastest precision whose quality was shown on this kind of processor, and why."""
    kind = name_kind_with_measured_int8(processor)
    if kind and not find_int8_obstacle(device):
        return InferencePrecision.INT8, f"whose BLEU was that of float32 on {kind}"
    reason = "since nothing faster was measured for quality on this kind of processor"
    return InferencePrecision.FLOAT32, reason


def name_kind_with_measured_int8(processor: Processor) -> str:
    """Return a processor's kind if int8 kept BLEU on it, and was fastest in batches; else ""."""
    vendor, features = processor.vendor, processor.features
    if vendor == "AuthenticAMD" and "avx512f" not in features:
        return "an AMD processor without AVX-512"
    if vendor == "AuthenticAMD" and "avx512_vnni" in features:
        return "an AMD processor with AVX-512 and VNNI"
    if vendor == "GenuineIntel" and "avx512_vnni" in features and "amx_tile" not in features:
        return "an Intel processor with VNNI and without AMX"
    return ""


def find_int8_obstacle(device: torch.device) -> str:
    """Return why models on a device cannot compute in int8; empty if they can."""
    if device.type != "cpu":
        return f"8-bit products are for CPUs, and this is {device.type}"
    return unsupported_int8_reason()
