"""A stand-in for a CUDA GPU: tensors that say they are on one, whose numbers a CPU computes.

Every operator on such a tensor is computed by the CPU, or only its shapes if the data is on torch's
device "meta", and is recorded. What a GPU refuses is refused, such as a CPU tensor among its own.
To torch's own code these tensors are on "meta"; whoever asks in Python is told "cuda:0".
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import torch
from tests.stand_in.attention import KERNELS
from tests.stand_in.operators import (
    INDEXING,
    computes_nothing,
    is_composite,
    waits_for_numbers,
)
from tests.stand_in.record import Call, Record, calling_function
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

CUDA = torch.device("cuda:0")
META = torch.device("meta")
ATTEND = torch.nn.functional.scaled_dot_product_attention
COPIES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


@contextmanager
def stand_in_device(data: str = "cpu") -> Iterator[Record]:
    """Context manager in which tensors can be on `CUDA`; `data` is "cpu", or "meta" for shapes."""
    operators = StandInOperators(Record(), data)
    capability = patch.object(torch.cuda, "get_device_capability", lambda _=None: (9, 0))
    with capability, operators, StandInFunctions(operators):
        yield operators.record


class WrongDeviceError(RuntimeError):
    """An operator got a CPU tensor among tensors of the stand-in device."""


class StandInTensor(Tensor):
    """A tensor that says it is on a GPU; `inner` holds its numbers or its shape."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> "StandInTensor":
        made = Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=META,
        )
        made.inner = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} outside of the stand-in device")

    def __tensor_flatten__(self):
        return ["inner"], None  # so that `Module.to` replaces parameters by tensors of this class

    @staticmethod
    def __tensor_unflatten__(inner, _context, _size, _stride):
        return StandInTensor(inner["inner"])

    def __repr__(self) -> str:
        return f"StandInTensor({self.inner!r})"


class StandInOperators(TorchDispatchMode):
    """Computes and records every operator of the stand-in device."""

    def __init__(self, record: Record, data: str) -> None:
        super().__init__()
        self.record, self.data = record, data
        self.kernels = KERNELS[data]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or else torch imports its compiler

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = list_tensors((*args, *kwargs.values()))
        if kwargs.get("device") != META and not any(isinstance(x, StandInTensor) for x in given):
            return func(*args, **kwargs)
        if is_composite(func):
            with self:
                return func.decompose(*args, **kwargs)
        if func in COPIES:
            return self.copy(func, args, kwargs)
        self.require_own(func, given)
        if waits_for_numbers(func, args, kwargs):
            self.note(self.record.waits, func, given)
        return self.compute(func, args, kwargs)

    def compute(self, func, args, kwargs):
        """Run an operator on the data, and record it."""
        own = [x for x in list_tensors((*args, *kwargs.values())) if isinstance(x, StandInTensor)]
        wrappers = {id(x.inner): x for x in own}

        def wrap(inner: Tensor) -> Tensor:
            return wrappers[id(inner)] if id(inner) in wrappers else self.wrap(inner)

        named = {key: value for key, value in kwargs.items() if key != "pin_memory"}
        if "device" in kwargs:
            named["device"] = self.data
        args, values = (map_tensors(self.unwrap, some) for some in (args, tuple(named.values())))
        kernel = self.kernels.get(func._schema.name, func)
        made = map_tensors(wrap, kernel(*args, **dict(zip(named, values, strict=True))))
        if not computes_nothing(func):
            self.note(self.record.calls, func, [*own, *list_tensors([made])])
        return made

    def attend(self, args, kwargs):
        """Attend as one operator, whichever of its kernels torch would choose on a GPU."""
        assert not torch.is_grad_enabled()
        given = list_tensors((*args, *kwargs.values()))
        named = {key: map_tensors(self.unwrap, value) for key, value in kwargs.items()}
        out = self.wrap(ATTEND(*map_tensors(self.unwrap, args), **named))
        self.note(self.record.calls, "scaled_dot_product_attention", [*given, out])
        return out

    def copy(self, func, args, kwargs):
        """Copy within the device, to it, or from it."""
        into, source = (args[0], args[1]) if func is COPIES[1] else (None, args[0])
        if not isinstance(into, StandInTensor) and kwargs.get("device", META) != META:
            self.note(self.record.waits, func, [source])
            return func(source.inner, **kwargs)
        if into is not None and not isinstance(into, StandInTensor):
            self.note(self.record.waits, func, [source])
            return func(into, source.inner, *args[2:])
        if not isinstance(source, StandInTensor) and (into is None or source.ndim):
            at_once = args[2] if into is not None and len(args) > 2 else kwargs.get("non_blocking")
            pinned = at_once and getattr(source, "is_pinned_here", False)
            self.note(self.record.copies if pinned else self.record.waits, func, [source])
        return self.compute(func, args, kwargs)

    def require_own(self, func, given: Sequence[Tensor]) -> None:
        """Refuse a CPU tensor; a GPU takes one only if it is a single number or an index."""
        foreign = [x for x in given if not isinstance(x, StandInTensor) and x.ndim]
        if foreign and func not in INDEXING:
            raise WrongDeviceError(f"{func}: a CPU tensor at {calling_function()}")
        if foreign:
            self.note(self.record.waits, func, foreign)

    def unwrap(self, x: Tensor) -> Tensor:
        """Return the data of a tensor, where the data of the device is."""
        x = x.inner if isinstance(x, StandInTensor) else x
        return x if x.device.type == self.data else x.to(self.data)

    def wrap(self, inner: Tensor) -> StandInTensor:
        """Return new data as a tensor of the device."""
        self.record.hold(inner)
        return StandInTensor(inner)

    def note(self, calls: list[Call], func, tensors: Sequence[Tensor]) -> None:
        """Record an operator."""
        name = func if isinstance(func, str) else func._schema.name.split("::")[1]
        floating = [x for x in tensors if x.dtype.is_floating_point]
        dtypes = frozenset(x.dtype for x in floating)
        largest = max((x.numel() for x in floating), default=0)
        calls.append(Call(name, calling_function(), dtypes, largest))


class StandInFunctions(TorchFunctionMode):
    """Answers for the device where torch's own code would go by what it takes it for."""

    def __init__(self, operators: StandInOperators) -> None:
        super().__init__()
        self.operators = operators

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in SPECIAL and isinstance(args[0], StandInTensor):
            return SPECIAL[func](self, *args, **kwargs)
        if func is Tensor.pin_memory:
            copy = args[0].clone()
            copy.is_pinned_here = True
            return copy
        if func == Tensor.data.__set__ and isinstance(args[1], StandInTensor):
            args[0].inner = args[1].inner
        if func is torch.device:
            return func(*args, **kwargs)
        args = tuple(META if is_cuda(x) else x for x in args)
        if is_cuda(kwargs.get("device")):
            if func is torch.tensor:
                return func(*args, **{**kwargs, "device": None}).to(META)
            kwargs = {**kwargs, "device": META}
        return func(*args, **kwargs)

    def index(self, x: Tensor, index: object) -> Tensor:
        """Index a tensor; a list of numbers is copied to the device, and the host waits."""
        if isinstance(index, list):
            index = torch.tensor(index).to(META)
        return Tensor.__getitem__(x, index)

    def backward(self, loss: Tensor, **_kwargs: object) -> None:
        """Go backward without leaving the stand-in device."""
        with self:
            torch.autograd.backward(loss)


def is_cuda(x: object) -> bool:
    """Return whether an argument names a CUDA device."""
    return isinstance(x, str | torch.device) and str(x).startswith("cuda")


def list_tensors(values: Sequence[object]) -> list[Tensor]:
    """Return the tensors among values and in lists of them."""
    found = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += list_tensors(value)
    return found


def map_tensors(change: Callable[[Tensor], Tensor], values):
    """Return values, or lists of them, with every tensor changed."""
    if isinstance(values, Tensor):
        return change(values)
    if isinstance(values, list | tuple):
        return type(values)(map_tensors(change, value) for value in values)
    return values


SPECIAL = {
    Tensor.device.__get__: lambda _mode, _x: CUDA,
    Tensor.is_cuda.__get__: lambda _mode, _x: True,
    Tensor.is_meta.__get__: lambda _mode, _x: False,
    Tensor.data.__get__: lambda _mode, x: x.detach(),
    Tensor.tolist: lambda _mode, x: x.cpu().tolist(),
    Tensor.__getitem__: StandInFunctions.index,
    Tensor.backward: StandInFunctions.backward,
    torch.nn.functional.dropout: lambda _mode, x, p, **_: torch.native_dropout(x, p, train=True)[0],
    ATTEND: lambda mode, *args, **kwargs: mode.operators.attend(args, kwargs),
}
