"""Convert tensors to safetensors bytes and back; the format cannot contain code."""

from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from transduce.durable import read_json
from transduce.errors import FolderError, NotFiniteError

HEADER_LIMIT = 1 << 20  # safetensors allows 100 MB, which takes seconds to parse
TENSOR_LIMIT = 10_000
DTYPES = ("F64", "F32", "F16", "BF16", "I64")
DAMAGED = "the folder is damaged or foreign: take it from its source again"


def to_bytes(weights: Mapping[str, Tensor]) -> bytes:
    """Return the bytes of a safetensors file with these tensors."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    return safetensors.torch.save(plain)


def from_bytes(data: bytes, file: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; FolderError for damage, NaN or infinity."""
    require_header(data, file)
    try:
        weights = safetensors.torch.load(data)
    except SafetensorError as fault:
        raise FolderError(f"is no safetensors file: {fault}", DAMAGED, file=file) from fault
    name = first_not_finite(weights)
    if name is not None:
        raise FolderError(f"tensor {name!r} holds numbers that are not finite", DAMAGED, file=file)
    return weights


def require_header(data: bytes, file: Path) -> None:
    """Raise FolderError if a safetensors header is truncated, too large or has unknown types."""
    length = int.from_bytes(data[:8], "little")
    if not 8 <= 8 + length <= len(data):
        raise FolderError("is no safetensors file: its header is cut", DAMAGED, file=file)
    if length > HEADER_LIMIT:
        fact = f"has a header of {length:,} bytes, and {HEADER_LIMIT:,} are the limit"
        raise FolderError(fact, DAMAGED, file=file)
    header = read_json(data[8 : 8 + length], file)
    if len(header) > TENSOR_LIMIT:
        fact = f"has {len(header):,} tensors, and {TENSOR_LIMIT:,} are the limit"
        raise FolderError(fact, DAMAGED, file=file)
    for name, entry in header.items():
        if not isinstance(entry, dict) or entry.get("dtype") not in DTYPES:
            raise FolderError(f"tensor {name[:80]!r} is of no kind we know", DAMAGED, file=file)


def first_not_finite(weights: Mapping[str, Tensor]) -> str | None:
    """Return the name of the first tensor that contains NaN or infinity, or None."""
    return next((n for n, tensor in weights.items() if not torch.isfinite(tensor).all()), None)


def require_finite(weights: Mapping[str, Tensor], location: str) -> None:
    """Raise NotFiniteError if a tensor contains NaN or infinity; such weights are not saved."""
    name = first_not_finite(weights)
    if name is not None:
        raise NotFiniteError(
            f"{location}: {name} holds numbers that are not finite, so nothing is saved",
            "resume from the last checkpoint with a lower learning rate or a longer warm-up",
        )


def require_matching_tensors(
    weights: dict[str, Tensor],
    expected: Mapping[str, tuple[int, ...]],
    *,
    file: Path | None = None,
) -> dict[str, Tensor]:
    """Return the weights unchanged; raise an error if a name or shape is not as expected."""
    for name in sorted(expected.keys() | weights.keys()):
        if name not in weights:
            raise FolderError(f"tensor {name!r} is missing", DAMAGED, file=file)
        if name not in expected:
            raise FolderError(f"tensor {name!r} belongs to no such model", DAMAGED, file=file)
        found = tuple(weights[name].shape)
        if found != tuple(expected[name]):
            fact = f"tensor {name!r} has shape {found}, and the model has {tuple(expected[name])}"
            raise FolderError(fact, DAMAGED, file=file)
    return weights
