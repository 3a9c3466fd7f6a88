"""Count a layer's operations, the longest chain of dependent ones, and the peak memory of a call.

Every operation of torch is intercepted as it is dispatched. A multiply-add counts as two
operations. Matrix products and the products with a separable convolution's kernels are counted. As
in the paper's table, softmax, gates, masks and plain sums are not.

In a chain of dependent operations, each operation needs the result of the one before. As in the
paper, an operation of torch (a product, a sum over a dimension) counts as one, however large its
tensors are, so that a chain of O(1) does not grow with the sentence. Views are not counted.

The peak memory is the most bytes of tensors alive at once. It includes tensors kept for the
backward pass, but not the temporary memory of an operation while the operation runs.
"""

import math
import weakref
from collections.abc import Callable
from typing import Any, final

import torch
from torch import Tensor, UntypedStorage
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from transduce.reproduce.layer_costs.layer import EXACT, MeasuredLayer


@torch.no_grad()
def count_operations(layer: MeasuredLayer) -> tuple[int, int]:
    """Return one forward pass's operations: (all others, those of attention's projections)."""
    x = layer.random_sentence(EXACT)
    rules = {torch.ops.aten.addcmul: count_addcmul_operations}
    with FlopCounterMode(display=False, custom_mapping=rules) as counter:
        layer(x)
    total = counter.get_total_flops()
    projections = sum(
        sum(found.values())
        for name, found in counter.get_flop_counts().items()
        if name in ("SelfAttention.query_key_value", "SelfAttention.output")
    )
    return total - projections, projections


def count_addcmul_operations(*_shapes: Any, out_shape: tuple[int, ...], **_: Any) -> int:  # noqa: ANN401
    """Return addcmul's operations: a multiplication and an addition for each output element."""
    return 2 * math.prod(out_shape)


@torch.no_grad()
def measure_longest_chain(run: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """Return the number of operations in the longest chain of dependent operations of run(x)."""
    with ChainRecorder() as chains:
        last = run(x)
    return chains.depth[last.untyped_storage().data_ptr()]


def measure_peak_bytes(run: Callable[[], object]) -> int:
    """Call a function twice; return the most bytes of new tensors alive in the second call.

    The first call allocates tensors that persist, such as gradients.
    """
    run()
    with PeakMemoryRecorder() as memory:
        run()
    return memory.peak


@final
class ChainRecorder(TorchDispatchMode):
    """A torch mode that records for each tensor the longest chain of operations leading to it."""

    def __init__(self) -> None:
        super().__init__()
        self.depth: dict[int, int] = {}

    def __torch_dispatch__(
        self,
        operation: Any,  # noqa: ANN401 - as torch calls it
        _types: Any,  # noqa: ANN401
        arguments: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        before = (self.depth.get(address, 0) for address in list_storages(arguments, named))
        step = max(before, default=0) + (0 if operation.is_view else 1)
        made = operation(*arguments, **(named or {}))
        self.depth |= dict.fromkeys(list_storages(made), step)
        return made


@final
class PeakMemoryRecorder(TorchDispatchMode):
    """A torch mode that records the bytes of all new tensors that are alive, and their maximum."""

    def __init__(self) -> None:
        super().__init__()
        self.live_bytes: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(
        self,
        operation: Any,  # noqa: ANN401 - as torch calls it
        _types: Any,  # noqa: ANN401
        arguments: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        known = {*list_storages(arguments, named), *self.live_bytes}
        made = operation(*arguments, **(named or {}))
        for address, storage in list_storages(made).items():
            if address not in known:
                self.live_bytes[address] = storage.nbytes()
                weakref.finalize(storage, self.live_bytes.pop, address, None)
        self.peak = max(self.peak, sum(self.live_bytes.values()))
        return made


def list_storages(*values: Any) -> dict[int, UntypedStorage]:  # noqa: ANN401 - what operations take
    """Return by address the storages of all tensors in nested values; a view has its tensor's."""
    tensors = (one for one in tree_leaves(values) if isinstance(one, Tensor))
    return {one.untyped_storage().data_ptr(): one.untyped_storage() for one in tensors}
