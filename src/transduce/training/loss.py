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

# T target tokens of a batch · T_F with fillers behind them · V symbols

SLICE = 4_000_000  # logits at once, 16 MB in float32
GPU_SLICE = 256_000_000  # 1 GB: a GPU wants few large kernels
EVEN = 64  # rows of a slice are a multiple of this
Soften = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor, Tensor]]


def spread_share(smoothing: float, form: str, symbols: int) -> float:
    """The probability that is spread over all V symbols, the right one included.

    Szegedy et al. spread ε so. The authors' code gives ε to the V - 1 others, which is the same
    with ε V / (V - 1).
    """
    return smoothing * symbols / (symbols - 1) if form == "t2t" else smoothing


def softened(
    logits: Float[Tensor, "rows V"], targets: Int[Tensor, " T"], spread: float
) -> tuple[Float[Tensor, "rows V"], Float[Tensor, ""], Float[Tensor, ""]]:
    """The gradient of a slice's logits, its summed loss and its summed nats."""
    log_p = at_least_float32(logits).log_softmax(dim=1)  # [rows V]
    real, wanted = log_p[: len(targets)], targets[:, None]
    right = -real.gather(1, wanted)  # [T 1]
    other = -real.mean(dim=1, keepdim=True)
    nats = right.sum(dtype=torch.float64)
    loss = ((1 - spread) * right + spread * other).sum(dtype=torch.float64)
    d_logits = log_p.exp_().sub_(spread / logits.shape[1])  # p less the smoothed labels
    d_logits[: len(wanted)].scatter_add_(1, wanted, torch.full_like(right, spread - 1))
    d_logits[len(wanted) :] = 0
    return d_logits.to(logits.dtype), loss, nats


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
        loss, nats = (states.new_zeros((), dtype=torch.float64) for _ in range(2))
        d_states, d_weight = torch.empty_like(states), torch.zeros_like(weight)
        rows = rows_of(weight)
        for first in range(0, len(states), rows):
            some = slice(first, first + rows)
            d_logits, some_loss, some_nats = soften(states[some] @ weight.T, targets[some], spread)
            loss, nats = loss + some_loss, nats + some_nats
            torch.mm(d_logits, weight, out=d_states[some])
            d_weight.addmm_(d_logits.T, states[some])
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
    logits = GPU_SLICE if weight.device.type == "cuda" else SLICE
    return max(EVEN, logits // len(weight) // EVEN * EVEN)


def at_least_float32(logits: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Sums over all symbols want more digits than bfloat16 has."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


@torch.no_grad()
def summed_nats(
    states: Float[Tensor, "T d_model"],
    weight: Float[Tensor, "V d_model"],
    targets: Int[Tensor, " T"],
) -> float:
    """Summed -log p(target), for perplexities; no gradients."""
    nats = 0.0
    rows = max(1, SLICE // len(weight))
    for some_states, some_targets in zip(states.split(rows), targets.split(rows), strict=True):
        logits = at_least_float32(some_states @ weight.T)
        nats += float(torch.nn.functional.cross_entropy(logits, some_targets, reduction="sum"))
    return nats
