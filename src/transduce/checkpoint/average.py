"""The mean of the weights of several checkpoints    (section 6.1)"""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from transduce.errors import InputError


def average_weights(checkpoints: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean weights of checkpoints, θ = (θ_1 + … + θ_n) / n    (section 6.1)

    The paper averages the last 5 for the base model and the last 20 for the big ones.

    Weights are added in float64 in the given order, with one checkpoint in memory at a time. The
    mean of equal float32 checkpoints equals each of them, bit for bit.
    """
    totals: dict[str, Tensor] = {}
    dtypes: dict[str, torch.dtype] = {}
    count = 0
    for count, weights in enumerate(checkpoints, start=1):
        if count == 1:
            dtypes = {name: tensor.dtype for name, tensor in weights.items()}
            totals = {name: tensor.to(torch.float64, copy=True) for name, tensor in weights.items()}
        else:
            require_same_shapes(totals, weights, count)
            for name, total in totals.items():
                total += weights[name]
    if not count:
        raise InputError("there is nothing to average", "train until a snapshot is written")
    return {name: (total / count).to(dtypes[name]) for name, total in totals.items()}


def require_same_shapes(
    first: Mapping[str, Tensor], other: Mapping[str, Tensor], number: int
) -> None:
    """Raise InputError if checkpoint `number` differs from the first in tensor names or shapes."""
    hint = "average snapshots of one run only"
    for name in sorted(first.keys() ^ other.keys()):
        raise InputError(f"tensor {name!r} is not in both checkpoint 1 and {number}", hint)
    for name, tensor in first.items():
        if tensor.shape != other[name].shape:
            shapes = f"{tuple(tensor.shape)} in checkpoint 1 and {tuple(other[name].shape)}"
            raise InputError(f"tensor {name!r} has shape {shapes} in checkpoint {number}", hint)
