"""What the card can do: products of the model's shapes, and bytes moved."""

from functools import partial
from statistics import median

import torch
from torch import Tensor

from benchmarks.on_gpu.scale import Cases, Figures, Scale, milliseconds
from transduce.paper.model import Residual

NUMBER = 2  # bytes of one in bfloat16


def cases(scale: Scale) -> Cases:
    """A large product, the model's, a copy, and a way around a sub-layer."""
    n, tokens, width = scale.large, scale.pad_to_tokens, scale.sizes.d_model
    yield f"product {n} x {n} x {n}", partial(measure_product, scale, (n, n, n))
    shapes = [3 * width, width, scale.sizes.d_ff, -(-scale.symbols // 64) * 64]
    for out in shapes:
        yield (
            f"forward {tokens} x {width} x {out}",
            partial(measure_product, scale, (tokens, width, out)),
        )
        yield (
            f"to inputs {tokens} x {out} x {width}",
            partial(measure_product, scale, (tokens, out, width)),
        )
        yield (
            f"to weights {out} x {tokens} x {width}",
            partial(measure_product, scale, (out, tokens, width)),
        )
    yield "copy", partial(measure_copy, scale)
    yield (
        "dropout, sum and norm, forward and back",
        partial(measure_sub_layer, scale, compiled=False),
    )
    yield "the same, compiled", partial(measure_sub_layer, scale, compiled=True)


def measure_product(scale: Scale, shape: tuple[int, int, int]) -> Figures:
    """Operations a second of one product."""
    rows, inner, columns = shape
    a, b = scale.random(rows, inner), scale.random(inner, columns)
    seconds = scale.timed(lambda: a @ b)
    return {**milliseconds(seconds), "TFLOP/s": 2 * rows * inner * columns / median(seconds) / 1e12}


def measure_copy(scale: Scale) -> Figures:
    """Bytes read and written a second."""
    a = scale.random(16 * scale.large, scale.large)
    b = torch.empty_like(a)
    seconds = scale.timed(lambda: b.copy_(a))
    return {**milliseconds(seconds), "TB/s": 2 * NUMBER * a.numel() / median(seconds) / 1e12}


def measure_sub_layer(scale: Scale, *, compiled: bool) -> Figures:
    """LayerNorm(x + Dropout(y)); the bytes are those that one kernel each way would move."""
    module = Residual(scale.sizes).to(scale.device, torch.bfloat16).train()
    if compiled:
        module.compile(dynamic=False)
    x, y, back = (scale.random(scale.pad_to_tokens, scale.sizes.d_model) for _ in range(3))
    x.requires_grad_()
    y.requires_grad_()

    def sub_layer(_: Tensor) -> Tensor:
        return y

    seconds = scale.timed(lambda: torch.autograd.grad(module(x, sub_layer), (x, y), back))
    needed = 8 * NUMBER * x.numel()  # x, y, out and mask; gradient, sum again, and two out
    return {**milliseconds(seconds), "TB/s": needed / median(seconds) / 1e12}
