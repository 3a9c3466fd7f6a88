"""Tensors to bytes and back, by safetensors: numbers only, nothing that could run."""

from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from transduce.durable import read_json
from transduce.errors import FolderError, NotFiniteError

HEADER_LIMIT = 1 << 20  # the library takes 100 MB and needs seconds for them
TENSOR_LIMIT = 10_000
KINDS = ("F64", "F32", "F16", "BF16", "I64")
AGAIN = "the folder is damaged or foreign: take it from its source again"


def to_bytes(weights: Mapping[str, Tensor]) -> bytes:
    """The bytes of a safetensors file."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    return safetensors.torch.save(plain)


def from_bytes(data: bytes, file: Path) -> dict[str, Tensor]:
    """The tensors in bytes whose sha256 was verified; every number is finite."""
    require_header(data, file)
    try:
        weights = safetensors.torch.load(data)
    except SafetensorError as fault:
        raise FolderError(f"is no safetensors file: {fault}", AGAIN, file=file) from fault
    name = first_not_finite(weights)
    if name is not None:
        raise FolderError(f"tensor {name!r} holds numbers that are not finite", AGAIN, file=file)
    return weights


def require_header(data: bytes, file: Path) -> None:
    """Our own limits, before the library parses anything."""
    length = int.from_bytes(data[:8], "little")
    if not 8 <= 8 + length <= len(data):
        raise FolderError("is no safetensors file: its header is cut", AGAIN, file=file)
    if length > HEADER_LIMIT:
        fact = f"has a header of {length:,} bytes, and {HEADER_LIMIT:,} are the limit"
        raise FolderError(fact, AGAIN, file=file)
    header = read_json(data[8 : 8 + length], file)
    if len(header) > TENSOR_LIMIT:
        fact = f"has {len(header):,} tensors, and {TENSOR_LIMIT:,} are the limit"
        raise FolderError(fact, AGAIN, file=file)
    for name, entry in header.items():
        if not isinstance(entry, dict) or entry.get("dtype") not in KINDS:
            raise FolderError(f"tensor {name[:80]!r} is of no kind we know", AGAIN, file=file)


def first_not_finite(weights: Mapping[str, Tensor]) -> str | None:
    """The name of a tensor that holds NaN or an infinity."""
    return next((n for n, tensor in weights.items() if not torch.isfinite(tensor).all()), None)


def require_finite(weights: Mapping[str, Tensor], place: str) -> None:
    """A model that left the finite world is never saved."""
    name = first_not_finite(weights)
    if name is not None:
        raise NotFiniteError(
            f"{place}: {name} holds numbers that are not finite, so nothing is saved",
            "go on from the last save with a lower learning rate or a longer warm-up",
        )


def matching(
    weights: dict[str, Tensor],
    expected: Mapping[str, tuple[int, ...]],
    *,
    file: Path | None = None,
) -> dict[str, Tensor]:
    """The weights themselves, if names and shapes are those of the model they are meant for."""
    for name in sorted(expected.keys() | weights.keys()):
        if name not in weights:
            raise FolderError(f"tensor {name!r} is missing", AGAIN, file=file)
        if name not in expected:
            raise FolderError(f"tensor {name!r} belongs to no such model", AGAIN, file=file)
        found = tuple(weights[name].shape)
        if found != tuple(expected[name]):
            fact = f"tensor {name!r} has shape {found}, and the model has {tuple(expected[name])}"
            raise FolderError(fact, AGAIN, file=file)
    return weights
