"""What a run of a layer asks of the machine, seen operation by operation as torch hands them out.

The longest chain: the operations that must wait for one another, from the input to the output. An
operation of torch (a product, a sum over a dimension) is one step however wide it is, as in the
paper; views compute nothing and are none. So O(1) is a number that does not grow with n.

The peak of memory: bytes of all tensors that live at once, those kept for the way back among them;
not what an operation needs for itself while it works.
"""

import weakref
from collections.abc import Callable, Iterator
from typing import Any, final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


@torch.no_grad()
def longest_chain(run: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """From an input to what a run makes of it."""
    with Chains() as chains:
        last = run(x)
    return chains.depth[place(last)]


def peak_bytes(run: Callable[[], object]) -> int:
    """Of tensors that a run makes."""
    run()  # what stays, such as room for gradients, is there from now on
    with Memory() as memory:
        run()
    return memory.peak


@final
class Chains(TorchDispatchMode):
    """How long the longest chain is that led to each tensor."""

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
        named = named or {}
        before = (self.depth.get(place(one), 0) for one in tensors((arguments, named)))
        step = max(before, default=0) + (0 if operation.is_view else 1)
        made = operation(*arguments, **named)
        self.depth |= {place(one): step for one in tensors(made)}
        return made


@final
class Memory(TorchDispatchMode):
    """Bytes that live at once, and the most that ever did."""

    def __init__(self) -> None:
        super().__init__()
        self.living: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(
        self,
        operation: Any,  # noqa: ANN401 - as torch calls it
        _types: Any,  # noqa: ANN401
        arguments: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        known = {place(one) for one in tensors((arguments, named))}
        made = operation(*arguments, **(named or {}))
        for one in tensors(made):
            if place(one) not in known | self.living.keys():
                self.living[place(one)] = one.untyped_storage().nbytes()
                weakref.finalize(one.untyped_storage(), self.living.pop, place(one), None)
        self.peak = max(self.peak, sum(self.living.values()))
        return made


def place(tensor: Tensor) -> int:
    """Where its numbers lie; views lie in the same place."""
    return tensor.untyped_storage().data_ptr()


def tensors(values: Any) -> Iterator[Tensor]:  # noqa: ANN401 - whatever operations take and give
    """All tensors in what an operation takes or gives."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, dict):
        yield from tensors(list(values.values()))
    elif isinstance(values, list | tuple):
        for value in values:
            yield from tensors(value)
