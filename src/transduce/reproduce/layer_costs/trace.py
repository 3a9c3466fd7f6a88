"""Measure one layer: operations, their longest chain, peak memory, and the maximum path length.

Every operation of torch is intercepted as it is dispatched. A multiply-add counts as two
operations. Matrix products and the products with a separable convolution's kernels are counted. As
in the paper's table, softmax, gates, masks and plain sums are not.

In a chain of dependent operations, each operation needs the result of the one before. As in the
paper, an operation of torch (a product, a sum over a dimension) counts as one, however large its
tensors are, so that a chain of O(1) does not grow with the sentence. Views are not counted.

The peak memory is the most bytes of tensors alive at once. It includes tensors kept for the
backward pass, but not the temporary memory of an operation while the operation runs.

If a layer computes all positions at once, the maximum path length is the smallest
number of layers after which every output depends on every input (in a decoder: on every input up to
its position). Gradients show it. In a recurrent layer, it is the number of states through which the
gradient of the last output flows back to the first input, the states of the first and the last
position included.
"""

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, UntypedStorage
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from transduce.mixing import RecurrentLayer
from transduce.paper.model import initialise
from transduce.reproduce.layer_costs.layers import EXACT, LayerKind, MeasuredLayer, build_layer
from transduce.settings import Architecture


@torch.no_grad()
def count_operations(layer: MeasuredLayer) -> tuple[int, int]:
    """Return the operations of a forward pass as (without projections, projections alone).

    The projections are W^Q, W^K, W^V and W^O of self-attention.
    """
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
    with OperationRecorder() as chains:
        last = run(x)
    return chains.depth[last.untyped_storage().data_ptr()]


def measure_peak_bytes(run: Callable[[], object]) -> int:
    """Call a function twice; return the most bytes of new tensors alive in the second call.

    The first call allocates tensors that persist, such as gradients.
    """
    run()
    with OperationRecorder() as memory:
        run()
    return memory.peak


@final
class OperationRecorder(TorchDispatchMode):
    """A torch mode that records operation-chain lengths (`depth`) and peak bytes (`peak`).

    `depth` has the length of the chain that leads to a tensor, by the tensor's address; `peak` is
    the most bytes of new tensors alive at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.depth: dict[int, int] = {}
        self.live_bytes: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(
        self,
        operation: Any,  # noqa: ANN401 - as torch calls it
        _types: Any,  # noqa: ANN401
        arguments: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        given = list_storages(arguments, named)
        before = max((self.depth.get(address, 0) for address in given), default=0)
        known = {*given, *self.live_bytes}
        del given  # else its storages would live during the operation
        made = operation(*arguments, **(named or {}))
        for address, storage in list_storages(made).items():
            self.depth[address] = before + (0 if operation.is_view else 1)
            if address not in known:
                self.live_bytes[address] = storage.nbytes()
                weakref.finalize(storage, self.live_bytes.pop, address, None)
        self.peak = max(self.peak, sum(self.live_bytes.values()))
        return made


def list_storages(*values: Any) -> dict[int, UntypedStorage]:  # noqa: ANN401 - what operations take
    """Return the storages of all tensors in nested values, by address; views share a storage."""
    tensors = (one for one in tree_leaves(values) if isinstance(one, Tensor))
    return {one.untyped_storage().data_ptr(): one.untyped_storage() for one in tensors}


WIDE = 16  # the width d of the layers; path lengths do not depend on it


def measure_path_length(kind: LayerKind, n: int, sizes: Architecture, *, causal: bool) -> int:
    """Return the maximum path length between n positions in layers, or in states for an LSTM.

    If `causal`, the layers are a decoder's.
    """
    if kind.mixing == "recurrent":
        return count_states_passed(n, sizes)

    def reaches(layers: int) -> bool:
        stack = [
            build_layer(kind, n, sizes, index, dtype=EXACT, causal=causal)
            for index in range(layers)
        ]
        return has_full_dependence(stack, causal=causal)

    return find_smallest_sufficient(reaches, most=n)


def find_smallest_sufficient(enough: Callable[[int], bool], most: int) -> int:
    """Return the least n from 1 to `most` for which enough(n) is True; AssertionError if none.

    `enough` must be True for all larger n, too.
    """
    low, high = 0, 1
    while not enough(high):
        if high >= most:  # an assertion that python -O keeps, so that this loop ends
            raise AssertionError("every layer reaches the next position at least")
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def has_full_dependence(stack: Sequence[MeasuredLayer], *, causal: bool) -> bool:
    """Return whether every output depends on every input (if `causal`, on inputs up to it)."""
    x = stack[0].random_sentence(EXACT)
    y: Float[Tensor, "n d"] = x
    for layer in stack:
        y = layer(y)
    last = len(y) - 1
    positions = [last, *range(last)]  # the last has the longest path
    for i in positions:
        (gradient,) = torch.autograd.grad(y[i].sum(), x, retain_graph=True)
        if not gradient[: i + 1 if causal else None].ne(0).any(dim=1).all():
            return False
    return True


def count_states_passed(n: int, sizes: Architecture) -> int:
    """Return how many states an LSTM's gradient passes from output n to input 1, ends included."""
    layer = RecurrentLayer(sizes.d_model, causal=True).to(EXACT)
    initialise(layer, torch.Generator().manual_seed(0))
    x = torch.randn(n, 1, sizes.d_model, dtype=EXACT).requires_grad_()
    state, states = None, []
    for vector in x[:-1]:
        _, state = layer.lstm(vector, state)
        states += state
    last, _ = layer.lstm(x[-1], state)
    x_gradient, *gradients = torch.autograd.grad(last.sum(), [x, *states])
    assert x_gradient[0].any(), "the last output depends on the first input"
    passed = [h.any() or c.any() for h, c in zip(gradients[::2], gradients[1::2], strict=True)]
    return sum(map(bool, passed)) + 1
