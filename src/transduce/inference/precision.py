"""Chooses the precision of inference: the one asked for, or one that this machine supports."""

from typing import NamedTuple

import torch

from transduce.equip import unsupported_int8_reason
from transduce.machine.device import Processor, has_fast_bfloat16, read_processor
from transduce.paper.model import Transformer
from transduce.settings.search import AUTO, InferencePrecision


class MeasuredKind(NamedTuple):
    """A kind of processor, and the precision in which batches were fastest on it and kept BLEU."""

    name: str
    fastest: InferencePrecision
    vendor: str
    has: frozenset[str] = frozenset()  # instruction sets
    lacks: frozenset[str] = frozenset()

    def includes(self, processor: Processor) -> bool:
        """Return whether a processor is of this kind."""
        features = processor.features
        is_of_vendor = processor.vendor == self.vendor
        return is_of_vendor and self.has <= features and not self.lacks & features


INT8, BFLOAT16 = InferencePrecision.INT8, InferencePrecision.BFLOAT16
AMX, VNNI, AVX512 = frozenset({"amx_bf16"}), frozenset({"avx512_vnni"}), frozenset({"avx512f"})
MEASURED_KINDS = (  # decisions 0039 and 0041, docs/records/speed.md
    MeasuredKind("an Intel processor with AMX", BFLOAT16, "GenuineIntel", has=AMX),
    MeasuredKind(
        "an Intel processor with VNNI and without AMX", INT8, "GenuineIntel", has=VNNI, lacks=AMX
    ),
    MeasuredKind("an AMD processor with AVX-512 and VNNI", INT8, "AuthenticAMD", has=VNNI),
    MeasuredKind("an AMD processor without AVX-512", INT8, "AuthenticAMD", lacks=AVX512),
)


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
    for kind in MEASURED_KINDS:
        if kind.includes(processor) and is_available(kind.fastest, device):
            return kind.fastest, f"whose BLEU was that of float32 on {kind.name}"
    reason = "since nothing faster was measured for quality on this kind of processor"
    return InferencePrecision.FLOAT32, reason


def is_available(precision: InferencePrecision, device: torch.device) -> bool:
    """Return whether a device is a CPU with kernels for int8, or with fast ones for bfloat16."""
    if precision == InferencePrecision.INT8:
        return not find_int8_obstacle(device)
    return device.type == "cpu" and has_fast_bfloat16(device)


def find_int8_obstacle(device: torch.device) -> str:
    """Return why models on a device cannot compute in int8; empty if they can."""
    if device.type != "cpu":
        return f"8-bit products are for CPUs, and this is {device.type}"
    return unsupported_int8_reason()


def describe_precision(model: Transformer) -> str:
    """Return the precision in which a model computes products: "float32", "bfloat16", "int8"."""
    dtype = str(model.output.weight.dtype).removeprefix("torch.")
    return getattr(model.output_projection, "precision", dtype)
