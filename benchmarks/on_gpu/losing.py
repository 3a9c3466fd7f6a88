"""Ways to the loss of an update: logits, softmax, gradients of states and matrix."""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.on_gpu.scale import Cases, Figures, Scale, milliseconds
from transduce.fast.compiling import compiled_cross_entropy
from transduce.fast.loss import CrossEntropyKernel, cross_entropy_inplace, smoothed_loss


def cases(scale: Scale) -> Cases:
    """In slices, plain and compiled; all at once, as torch has it."""
    for symbols in (scale.symbols, -(-scale.symbols // 64) * 64):
        yield (
            f"in slices, V = {symbols:,}",
            partial(measure_sliced, scale, symbols, cross_entropy_inplace),
        )
        name = f"in slices, compiled, V = {symbols:,}"
        yield name, lambda symbols=symbols: measure_sliced(scale, symbols, compiled_cross_entropy())
        yield f"torch's cross-entropy, V = {symbols:,}", partial(measure_whole, scale, symbols)


def build_inputs(scale: Scale, symbols: int) -> tuple[Tensor, Tensor, Tensor]:
    """States, the matrix, and the right symbols."""
    states = scale.random(scale.pad_to_tokens, scale.sizes.d_model).requires_grad_()
    weight = scale.random(symbols, scale.sizes.d_model).requires_grad_()
    return states, weight, torch.randint(symbols, (scale.pad_to_tokens,), device=scale.device)


def measure_sliced(scale: Scale, symbols: int, soften: CrossEntropyKernel) -> Figures:
    """Ours."""
    states, weight, targets = build_inputs(scale, symbols)

    def work() -> object:
        loss, _ = smoothed_loss(states, weight, targets, 0.1, kernel=soften)
        return torch.autograd.grad(loss, (states, weight))

    return milliseconds(scale.timed(work))


def measure_whole(scale: Scale, symbols: int) -> Figures:
    """All logits at once, in float32 for the softmax."""
    states, weight, targets = build_inputs(scale, symbols)

    def work() -> object:
        logits = (states @ weight.T).float()
        loss = functional.cross_entropy(logits, targets, label_smoothing=0.1, reduction="sum")
        return torch.autograd.grad(loss, (states, weight))

    return milliseconds(scale.timed(work))
