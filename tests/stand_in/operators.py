"""Which of torch's operators compute nothing, make a host wait for a GPU, or multiply matrices."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch

aten = torch.ops.aten

# operators whose result, or the shape of it, the host must read from the device
WAITING = frozenset(
    {
        aten._local_scalar_dense.default,
        aten.nonzero.default,
        aten.masked_select.default,
        aten.unique_consecutive.default,
        aten._unique2.default,
        aten.unique_dim.default,
        aten.unique_dim_consecutive.default,
        aten.bincount.default,
        aten.equal.default,
    }
)
# operators that take CPU tensors as indices: these are copied to the device, and the host waits
INDEXING = frozenset({aten.index.Tensor, aten.index_put.default, aten.index_put_.default})
ALLOCATIONS = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
PRODUCTS = frozenset({"mm", "addmm", "addmm_", "bmm", "baddbmm", "baddbmm_", "addmv", "mv", "dot"})
ATTENTION = frozenset({"_varlen_attn", "_varlen_attn_backward", "scaled_dot_product_attention"})


@cache
def is_composite(func: torch._ops.OpOverload) -> bool:
    """Return whether an operator is made of others, on every device."""
    return func.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)


@cache
def computes_nothing(func: torch._ops.OpOverload) -> bool:
    """Return whether an operator only makes a view or allocates memory."""
    if func._schema.name.split("::")[1] in ALLOCATIONS:
        return True
    aliases = [value.alias_info for value in func._schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases)


def waits_for_numbers(
    func: torch._ops.OpOverload, args: Sequence[Any], kwargs: Mapping[str, object]
) -> bool:
    """Return whether the host waits for numbers on the device before it has the result."""
    if func is aten.repeat_interleave.Tensor:
        return kwargs.get("output_size") is None
    if func in INDEXING:
        return any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in args[1])
    return func in WAITING
