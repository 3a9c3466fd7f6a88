"""Convert tensors to safetensors bytes and back; the format cannot contain code."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

import safetensors.torch
import torch
from torch import Tensor

from transduce.durable.folder import HashingReader
from transduce.durable.json import read_json
from transduce.errors import FolderError, NotFiniteError

HEADER_LIMIT = 1 << 20  # safetensors allows 100 MB, which takes seconds to parse
TENSOR_LIMIT = 10_000
MAX_DIMENSIONS, MAX_SIZE = 8, 1 << 40  # the most dimensions, and the largest size, of a tensor
DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
}
Tensors = dict[str, Tensor]  # tensors by name
DAMAGED = "the folder is damaged or foreign: take it from its source again"


def to_bytes(weights: Mapping[str, Tensor]) -> bytes:
    """Return tensors as the bytes of a safetensors file."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    return safetensors.torch.save(plain)


def read_tensors(
    stream: HashingReader, file: Path, value_count: int | None = None, *, has_metadata: bool = False
) -> Tensors:
    """Return the tensors in an open safetensors file; FolderError for damage, NaN or infinity.

    If `value_count` is given, all tensors together must have this number of values. The header is
    checked before any memory is taken, so that no tensors take more memory than the file's size.
    If `has_metadata` is true, the file may have metadata, which are ignored.
    """
    header = read_header(stream, file, has_metadata=has_metadata)
    values = sum(math.prod(entry.shape) for entry in header.values())
    if value_count is not None and values != value_count:
        fact = f"has {values:,} weights, and the model of its recipe has {value_count:,}"
        raise FolderError(fact, DAMAGED, file=file)
    weights = {}
    for name, entry in header.items():
        raw = torch.empty(entry.end - entry.start, dtype=torch.uint8)
        if raw.numel() and not stream.fill(raw.numpy().data):
            raise FolderError("was cut while it was read", DAMAGED, file=file)
        weights[name] = raw.view(DTYPES[entry.dtype]).view(entry.shape)
    wrong = find_first_not_finite(weights)
    if wrong is not None:
        raise FolderError(
            f"tensor {wrong[:80]!r} holds numbers that are not finite", DAMAGED, file=file
        )
    return weights


@final
@dataclass(frozen=True)
class TensorEntry:
    """A tensor's entry in a safetensors header; its offsets count from the header's end."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


def read_header(
    stream: HashingReader, file: Path, *, has_metadata: bool = False
) -> dict[str, TensorEntry]:
    """Return a header's entries in offset order; FolderError unless the tensors fill the file."""
    length = int.from_bytes(stream.read(8), "little")
    if not 8 <= 8 + length <= stream.size:
        raise FolderError("is no safetensors file: its header is cut", DAMAGED, file=file)
    if length > HEADER_LIMIT:
        fact = f"has a header of {length:,} bytes, and {HEADER_LIMIT:,} are the limit"
        raise FolderError(fact, DAMAGED, file=file)
    header = read_json(stream.read(length), file)
    if has_metadata:
        header.pop("__metadata__", None)
    if len(header) > TENSOR_LIMIT:
        fact = f"has {len(header):,} tensors, and {TENSOR_LIMIT:,} are the limit"
        raise FolderError(fact, DAMAGED, file=file)
    found = {name: parse_entry(name, entry, file) for name, entry in header.items()}
    found = dict(sorted(found.items(), key=lambda item: (item[1].start, item[1].end)))
    ends = [0, *(entry.end for entry in found.values())]
    starts = [entry.start for entry in found.values()]
    if [*starts, stream.size - 8 - length] != ends:
        fact = "is no safetensors file: its tensors overlap, or do not fill it"
        raise FolderError(fact, DAMAGED, file=file)
    return found


def parse_entry(name: str, entry: object, file: Path) -> TensorEntry:
    """Return a tensor's entry of a safetensors header; FolderError if size and offsets disagree."""
    match entry:
        case {
            "dtype": str(dtype),
            "shape": [*shape],
            "data_offsets": [int(start), int(end)],
            **more,
        } if dtype in DTYPES and len(shape) <= MAX_DIMENSIONS and not more:
            is_shape = all(type(size) is int and 0 <= size <= MAX_SIZE for size in shape)
            if is_shape and math.prod(shape) * DTYPES[dtype].itemsize == end - start:
                return TensorEntry(dtype, tuple(shape), start, end)
        case {"dtype": str(dtype)} if dtype in DTYPES:
            pass
        case _:
            raise FolderError(f"tensor {name[:80]!r} is of no kind we know", DAMAGED, file=file)
    fact = f"is no safetensors file: the size of tensor {name[:80]!r} is not that of its bytes"
    raise FolderError(fact, DAMAGED, file=file)


def find_first_not_finite(weights: Mapping[str, Tensor]) -> str | None:
    """Return the name of the first tensor that is not finite in float32, or None."""
    return next((n for n, t in weights.items() if not torch.isfinite(t.float()).all()), None)


def require_finite_numbers(numbers: Tensor, place: str) -> None:
    """Raise NotFiniteError, which names `place`, if computed numbers contain NaN or infinity."""
    if not torch.isfinite(numbers).all():
        raise NotFiniteError(
            f"{place}: the weights are finite, but what the model computes with them is not",
            "the weights are damaged: verify the model, or take an older checkpoint",
        )


TRAIN_ANEW = "a new run with a lower training.learning_rate_factor may do better"


def require_finite(weights: Mapping[str, Tensor], location: str, hint: str = TRAIN_ANEW) -> None:
    """Raise NotFiniteError, which names `location`, if a tensor contains NaN or infinity."""
    name = find_first_not_finite(weights)
    if name is not None:
        raise NotFiniteError(
            f"{location}: {name} holds numbers that are not finite, so nothing is saved",
            hint,
        )


def require_matching_tensors(
    weights: dict[str, Tensor],
    expected: Mapping[str, Tensor],
    *,
    file: Path | None = None,
) -> dict[str, Tensor]:
    """Return the weights unchanged; FolderError if their names or shapes differ from `expected`."""
    for name in sorted(expected.keys() | weights.keys()):
        if name not in weights:
            raise FolderError(f"tensor {name[:80]!r} is missing", DAMAGED, file=file)
        if name not in expected:
            raise FolderError(f"tensor {name[:80]!r} belongs to no such model", DAMAGED, file=file)
        found, wanted = tuple(weights[name].shape), tuple(expected[name].shape)
        if found != wanted:
            fact = f"tensor {name[:80]!r} has shape {found}, and the model has {wanted}"
            raise FolderError(fact, DAMAGED, file=file)
    return weights
