"""Cross-entropy against smoothed labels, in slices    (section 5.4)

All logits of a batch at once would be its largest tensor by far (25,000 tokens × 37,000 symbols:
3.7 GB). A slice's logits live only until its gradients are made, in the forward pass.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.machine.device import accumulation_dtype
from transduce.settings.training import EVEN

# T target tokens of a batch · T_F with fillers behind them · V symbols

ROWS = 384  # of a slice on a CPU: products of fewer spend their time on reading the matrix
SLICE = 20_000_000  # logits of a slice at most, 80 MB in float32
PART = 1_000_000  # logits of a slice that are softened at once: they stay near the core
GPU_SLICE = 256_000_000  # 1 GB: a GPU wants few large kernels, and takes a slice as one part
Soften = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]


def spread_share(smoothing: float, form: str, symbols: int) -> float:
    """The probability that is spread over all V symbols, the right one included.

    Szegedy et al. spread ε so. The authors' code gives ε to the V - 1 others, which is the same
    with ε V / (V - 1).
    """
    return smoothing * symbols / (symbols - 1) if form == "t2t" else smoothing


def softened(
    logits: Float[Tensor, "rows V"], targets: Int[Tensor, " T"], spread: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """The summed loss and the summed nats of some rows, whose logits become their gradient."""
    log_p = at_least_float32(logits).log_softmax(dim=1)  # [rows V]
    real, wanted = log_p[: len(targets)], targets[:, None]
    right = -real.gather(1, wanted)  # [T 1]
    other = -real.mean(dim=1, keepdim=True)
    most = accumulation_dtype(logits.device)
    nats = right.sum(dtype=most)
    loss = ((1 - spread) * right + spread * other).sum(dtype=most)
    d_logits = log_p.exp_().sub_(spread / logits.shape[1])  # p less the smoothed labels
    d_logits[: len(wanted)].scatter_add_(1, wanted, torch.full_like(right, spread - 1))
    d_logits[len(wanted) :] = 0
    logits.copy_(d_logits)
    return loss, nats


def smoothed_loss(
    states: Float[Tensor, "T_F d_model"],
    weight: Float[Tensor, "V d_model"],
    targets: Int[Tensor, " T"],
    spread: float,
    soften: Soften = softened,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Summed loss against smoothed labels, and summed nats -log p(target) without smoothing.

    States past the last target are fillers: they cost their products and count for nothing.
    """
    loss, nats = SlicedLoss.apply(states, weight, targets, spread, soften)
    return loss, nats


class SlicedLoss(torch.autograd.Function):
    """Σ over tokens of (1 - ε) · (-log p(target)) + ε · mean over symbols of (-log p)."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        states: Tensor,
        weight: Tensor,
        targets: Tensor,
        spread: float,
        soften: Soften,
    ) -> tuple[Tensor, Tensor]:
        loss, nats = (
            states.new_zeros((), dtype=accumulation_dtype(states.device)) for _ in range(2)
        )
        d_states, d_weight = torch.empty_like(states), torch.zeros_like(weight)
        rows, few = rows_of(weight), part_of(weight)
        for first in range(0, len(states), rows):
            some = slice(first, first + rows)
            logits = states[some] @ weight.T
            for at in range(0, len(logits), few):
                labels = targets[some][at : at + few]
                some_loss, some_nats = soften(logits[at : at + few], labels, spread)
                loss, nats = loss + some_loss, nats + some_nats
            torch.mm(logits, weight, out=d_states[some])  # they are gradients now
            d_weight.addmm_(logits.T, states[some])
        ctx.save_for_backward(d_states, d_weight)
        ctx.mark_non_differentiable(nats)
        return loss, nats

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        d_states, d_weight = ctx.saved_tensors
        d_loss = d_loss.to(d_states.dtype)
        return d_states * d_loss, d_weight * d_loss, None, None, None


def rows_of(weight: Float[Tensor, "V d_model"]) -> int:
    """How many tokens a slice has."""
    on_gpu = weight.device.type == "cuda"
    fit = (GPU_SLICE if on_gpu else SLICE) // len(weight)
    return max(EVEN, (fit if on_gpu else min(ROWS, fit)) // EVEN * EVEN)


def part_of(weight: Float[Tensor, "V d_model"]) -> int:
    """How many of them are softened at once."""
    return rows_of(weight) if weight.device.type == "cuda" else max(1, PART // len(weight))


def at_least_float32(logits: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Sums over all symbols want more digits than bfloat16 has."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


@torch.no_grad()
def log_probs(
    states: Float[Tensor, "T d_model"],
    weight: Float[Tensor, "V d_model"],
    targets: Int[Tensor, " T"],
) -> Float[Tensor, " T"]:
    """log p of every target; no gradients."""
    rows, few = rows_of(weight), part_of(weight)
    found = [
        at_least_float32(logits).log_softmax(dim=1).gather(1, wanted[:, None])[:, 0]
        for some, ids in zip(states.split(rows), targets.split(rows), strict=True)
        for logits, wanted in zip((some @ weight.T).split(few), ids.split(few), strict=True)
    ]
    return torch.cat(found)
