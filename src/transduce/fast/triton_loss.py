"""The smoothed cross-entropy and its gradient on a GPU by Triton, which reads the logits twice"""

import math

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int
from torch import Tensor

# V: symbols of the vocabulary · rows: tokens of a slice, padding included · T: the real ones

BLOCK = 2_048  # logits that a program reads at once
WARPS = 16  # warps of a program


@triton.jit
def compute_row_loss(  # type: ignore[no-untyped-def] # noqa: PLR0915 - one kernel
    logits_at, targets_at, loss_at, nats_at, real, mass, row_stride,
    symbols: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write one token's loss and -log p; overwrite its logits with the gradient of the loss."""
    row = tl.program_id(0).to(tl.int64)
    at = logits_at + row * row_stride
    column = tl.arange(0, BLOCK)
    target = tl.load(targets_at + row, mask=row < real, other=-1)
    if target >= 0:
        # each lane keeps its own highest logit and sum, and they are joined at the end
        highest = tl.full((BLOCK,), float("-inf"), tl.float32)
        total, logit_sum = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
        for first in range(0, symbols, BLOCK):
            inside = first + column < symbols
            some = tl.load(at + first + column, mask=inside, other=float("-inf")).to(tl.float32)
            higher = tl.maximum(highest, some)
            seen = tl.where(higher == float("-inf"), 0.0, higher)
            total = total * tl.exp(highest - seen) + tl.exp(some - seen)
            logit_sum += tl.where(inside, some, 0.0)
            highest = higher
        most = tl.max(highest, axis=0)
        log_total = most + tl.log(tl.sum(total * tl.exp(highest - most), axis=0))
        nats = log_total - tl.load(at + target).to(tl.float32)
        tl.debug_barrier()  # the target's logit is read before it is overwritten
        for first in range(0, symbols, BLOCK):
            inside = first + column < symbols
            some = tl.load(at + first + column, mask=inside, other=float("-inf")).to(tl.float32)
            gradient = tl.exp(some - log_total) - mass / symbols
            gradient -= tl.where(first + column == target, 1.0 - mass, 0.0)
            tl.store(at + first + column, gradient.to(logits_at.dtype.element_ty), mask=inside)
        tl.store(nats_at + row, nats)
        tl.store(
            loss_at + row,
            (1.0 - mass) * nats + mass * (log_total - tl.sum(logit_sum, axis=0) / symbols),
        )
    else:
        for first in range(0, symbols, BLOCK):
            inside = first + column < symbols
            zero = tl.zeros((BLOCK,), dtype=logits_at.dtype.element_ty)
            tl.store(at + first + column, zero, mask=inside)
        tl.store(nats_at + row, 0.0, mask=row < real)
        tl.store(loss_at + row, 0.0, mask=row < real)


def try_kernels(device: torch.device) -> None:
    """Run the loss kernel on two equal logits; raise an error if it fails or is wrong."""
    target = torch.zeros(1, dtype=torch.long, device=device)
    loss, _ = cross_entropy_by_triton(torch.zeros(1, 2, device=device), target, 0.0)
    torch.testing.assert_close(loss.item(), math.log(2), rtol=1e-5, atol=0.0)


def cross_entropy_by_triton(
    logits: Float[Tensor, "rows V"], targets: Int[Tensor, " T"], mass: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return sums of smoothed loss and -log p over T targets; overwrite logits with their gradient.

    A target below 0 is padding, like the rows after the T targets.
    """
    loss, nats = (torch.empty(len(targets), device=logits.device) for _ in range(2))
    compute_row_loss[(len(logits),)](
        logits, targets, loss, nats, len(targets), mass, logits.stride(0),
        symbols=logits.shape[1], BLOCK=BLOCK, num_warps=WARPS,
    )  # fmt: skip
    return loss.sum(dtype=torch.float64), nats.sum(dtype=torch.float64)
