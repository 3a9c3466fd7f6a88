"""LayerNorm(x + Dropout(y)) on a GPU by Triton: one kernel forward, one back    (sections 3.1, 5.4)

torch runs three memory-bound kernels each way. The backward pass draws the
same random numbers again instead of reading a mask.
"""

from typing import Any, final

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.paper.model import Residual

# T tokens of a batch, end to end · a row holds the d_model numbers of a token

PROGRAMS = 2_112  # programs of the backward pass; each sums its rows' gradients of gain and bias
MOST_NUMBERS = 4_096  # of a token
SEEDS = 2**31
ROUNDS = tl.constexpr(7)  # of Philox; 10 are usual, but 7 are enough for the tests of randomness


@triton.jit
def draw_mask(seed_at, group, row, WIDTH: tl.constexpr, p):  # type: ignore[no-untyped-def]
    """Return a [4 WIDTH] dropout mask drawn from a seed, 0 with probability p, else 1 / (1 - p)."""
    first, second, third, fourth = tl.rand4x(
        tl.load(seed_at), group * WIDTH + tl.arange(0, WIDTH), ROUNDS
    )
    two, others = (
        tl.where(row == 0, first[None, :], second[None, :]),
        tl.where(row == 2, third[None, :], fourth[None, :]),
    )
    return tl.where(tl.where(row < 2, two, others) >= p, 1.0 / (1.0 - p), 0.0)


@triton.jit
def add_and_norm(  # type: ignore[no-untyped-def]
    x_at, y_at, gain_at, bias_at, seed_at, total_at, out_at, mean_at, scale_at, p, epsilon, rows,
    numbers: tl.constexpr, WIDTH: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """Write x + Dropout(y) of four rows, their layer norm, their mean and 1 / √(variance + ε)."""
    group, column = tl.program_id(0), tl.arange(0, WIDTH)
    row = tl.arange(0, 4)[:, None]
    real = group * 4 + row < rows
    inside = real & (column < numbers)[None, :]
    at = (group * 4 + row) * numbers + column[None, :]
    y = tl.load(y_at + at, mask=inside, other=0.0).to(tl.float32)
    if DROPS:
        y *= draw_mask(seed_at, group, row, WIDTH, p)
    total = tl.load(x_at + at, mask=inside, other=0.0).to(tl.float32) + y
    rounded = total.to(total_at.dtype.element_ty)
    tl.store(total_at + at, rounded, mask=inside)
    total = rounded.to(tl.float32)
    mean = tl.sum(total, axis=1, keep_dims=True) / numbers
    apart = tl.where(inside, total - mean, 0.0)
    variance = tl.sum(apart * apart, axis=1, keep_dims=True) / numbers
    scale = 1.0 / tl.sqrt(variance + epsilon)
    gain = tl.load(gain_at + column, mask=column < numbers, other=0.0).to(tl.float32)
    bias = tl.load(bias_at + column, mask=column < numbers, other=0.0).to(tl.float32)
    out = apart * scale * gain[None, :] + bias[None, :]
    tl.store(out_at + at, out.to(out_at.dtype.element_ty), mask=inside)
    tl.store(mean_at + group * 4 + row, mean, mask=real)
    tl.store(scale_at + group * 4 + row, scale, mask=real)


@triton.jit
def add_and_norm_backward(  # type: ignore[no-untyped-def]
    d_out_at, total_at, gain_at, seed_at, mean_at, scale_at, d_x_at, d_y_at, d_gain_at, d_bias_at,
    p, rows, numbers: tl.constexpr, WIDTH: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """Write the gradients of x and y, and this program's part of the gain and bias gradients."""
    program, column = tl.program_id(0), tl.arange(0, WIDTH)
    row = tl.arange(0, 4)[:, None]
    gain = tl.load(gain_at + column, mask=column < numbers, other=0.0).to(tl.float32)[None, :]
    d_gain, d_bias = tl.zeros((WIDTH,), tl.float32), tl.zeros((WIDTH,), tl.float32)
    for group in range(program, tl.cdiv(rows, 4), tl.num_programs(0)):
        real = group * 4 + row < rows
        inside = real & (column < numbers)[None, :]
        at = (group * 4 + row) * numbers + column[None, :]
        d_out = tl.load(d_out_at + at, mask=inside, other=0.0).to(tl.float32)
        total = tl.load(total_at + at, mask=inside, other=0.0).to(tl.float32)
        mean = tl.load(mean_at + group * 4 + row, mask=real, other=0.0)
        scale = tl.load(scale_at + group * 4 + row, mask=real, other=0.0)
        normed = tl.where(inside, (total - mean) * scale, 0.0)
        d_gain += tl.sum(d_out * normed, axis=0)
        d_bias += tl.sum(d_out, axis=0)
        d_normed = d_out * gain
        common = tl.sum(d_normed, axis=1, keep_dims=True)
        share = tl.sum(d_normed * normed, axis=1, keep_dims=True)
        d_x = scale * (d_normed - (common + normed * share) / numbers)
        tl.store(d_x_at + at, d_x.to(d_x_at.dtype.element_ty), mask=inside)
        if DROPS:
            d_y = d_x * draw_mask(seed_at, group, row, WIDTH, p)
            tl.store(d_y_at + at, d_y.to(d_y_at.dtype.element_ty), mask=inside)
    tl.store(d_gain_at + program * numbers + column, d_gain, mask=column < numbers)
    tl.store(d_bias_at + program * numbers + column, d_bias, mask=column < numbers)


@final
class TritonResidual(Residual):
    """LayerNorm(x + Dropout(Sublayer(x))) in post-norm by Triton kernels    (section 3.1)"""

    def forward(
        self,
        x: Float[Tensor, "T d_model"],
        sublayer: Any,  # noqa: ANN401 - a function of x
    ) -> Float[Tensor, "T d_model"]:
        """Return LayerNorm(x + Dropout(sublayer(x))), or what `Residual` returns in pre-norm."""
        if self.is_pre or not torch.is_grad_enabled():
            return super().forward(x, sublayer)
        p, norm = self.add.p if self.training else 0.0, self.norm
        out: Tensor = AddNormFunction.apply(x, sublayer(x), norm.weight, norm.bias, norm.eps, p)
        return out


class AddNormFunction(torch.autograd.Function):
    """Autograd function of LayerNorm(x + Dropout(y)); it saves the sum and no mask."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        x: Tensor,
        y: Tensor,
        gain: Tensor,
        bias: Tensor,
        epsilon: float,
        p: float,
    ) -> Tensor:
        """Return LayerNorm(x + Dropout(y))."""
        x, y = x.contiguous(), y.contiguous()
        rows, numbers = x.shape
        seed = torch.randint(SEEDS, (1,), device=x.device) if p else None
        total, out = torch.empty_like(x), torch.empty_like(x)
        mean, scale = torch.empty(2, rows, device=x.device)
        ctx.sizes = {"numbers": numbers, "WIDTH": triton.next_power_of_2(numbers), "DROPS": p > 0}
        add_and_norm[(triton.cdiv(rows, 4),)](
            x, y, gain, bias, seed, total, out, mean, scale, p, epsilon, rows, **ctx.sizes,
            num_warps=max(1, ctx.sizes["WIDTH"] // 256),
        )  # fmt: skip
        ctx.save_for_backward(total, gain, mean, scale, seed)
        ctx.p = p
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return the gradients of x, y, gain and bias, and None for `epsilon` and p."""
        total, gain, mean, scale, seed = ctx.saved_tensors
        rows, numbers = total.shape
        programs = min(PROGRAMS, triton.cdiv(rows, 4))
        d_x = torch.empty_like(total)
        d_y = torch.empty_like(total) if ctx.p else d_x
        d_gain, d_bias = parts = torch.empty(2, programs, numbers, device=total.device)
        add_and_norm_backward[(programs,)](
            d_out.contiguous(), total, gain, seed, mean, scale, d_x, d_y, d_gain, d_bias,
            ctx.p, rows, **ctx.sizes, num_warps=max(1, ctx.sizes["WIDTH"] // 512),
        )  # fmt: skip
        return d_x, d_y, *parts.sum(dim=1).to(gain.dtype), None, None


def try_kernels(device: torch.device, numbers: int) -> None:
    """Run the add-and-norm kernels on two rows; raise an error if they fail or are wrong."""
    if numbers > MOST_NUMBERS:
        raise ValueError(f"these kernels take rows of at most {MOST_NUMBERS} numbers")
    x = torch.arange(2.0 * numbers, device=device).view(2, -1).sin().requires_grad_()
    gain = torch.ones(numbers, device=device, requires_grad=True)
    bias = torch.zeros_like(gain)
    out = AddNormFunction.apply(x, x, gain, bias, 1e-6, 0.0)
    expected = torch.nn.functional.layer_norm(2 * x, (numbers,), gain, bias, 1e-6)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-4)
    ours, plain = (torch.autograd.grad(one.square().sum(), (x, gain)) for one in (out, expected))
    torch.testing.assert_close(ours, plain, rtol=1e-3, atol=1e-3)
