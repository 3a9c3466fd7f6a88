"""The loss against smoothed labels, and log P of symbols, in slices and in place    (section 5.4)

The logits of a whole batch would be its largest tensor by far (25,000 tokens × 37,000 symbols:
3.7 GB). The forward pass computes the logits of one slice of tokens at a time and, right after,
their gradients, so that it can free the logits before the next slice.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from transduce.fast.compiled_loops import has_rows_for_loops
from transduce.machine.device import accumulation_dtype, read_processor
from transduce.settings.training import TOKEN_MULTIPLE

# T: target tokens of a batch · T_P: T plus padding · V: symbols of the vocabulary
# rows: tokens of a slice, padding included · states: the decoder's output for each token

# the most tokens of a slice on a CPU; with fewer, reading the output matrix limits the speed
SLICE_TOKENS = 384
AMX_SLICE_TOKENS = 1_536  # in bfloat16 with AMX, which multiplies faster but reads no faster
SLICE_BYTES = 80_000_000  # the most bytes of a slice's logits on a CPU
SOFTMAX_LOGITS = 1_000_000  # the most logits of one softmax on a CPU, to fit the CPU's cache
PADDING = -1  # the target of a padding token, for the kernel of a GPU
GPU_SLICE_LOGITS = 256_000_000  # the most logits of a slice on a GPU: 1 GB in float32
CrossEntropyKernel = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]


def cross_entropy_inplace(
    logits: Float[Tensor, "rows V"], targets: Int[Tensor, " T"], mass: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return sums of smoothed loss and -log p over T targets; overwrite logits with their gradient.

    V is the number of symbols. The rows after the first T are padding, whose gradient is 0. `mass`
    is the probability that label smoothing spreads over all symbols.
    """
    log_p = at_least_float32(logits).log_softmax(dim=1)  # [rows V]
    real, wanted = log_p[: len(targets)], targets[:, None]
    right = -real.gather(1, wanted)  # [T 1]
    other = -real.mean(dim=1, keepdim=True)
    sum_dtype = accumulation_dtype(logits.device)
    nats = right.sum(dtype=sum_dtype)
    loss = ((1 - mass) * right + mass * other).sum(dtype=sum_dtype)
    d_logits = log_p.exp_().sub_(mass / logits.shape[1])  # p minus the smoothed labels
    d_logits[: len(wanted)].scatter_add_(1, wanted, torch.full_like(right, mass - 1))
    d_logits[len(wanted) :] = 0
    logits.copy_(d_logits)
    return loss, nats


def smoothed_loss(
    states: Float[Tensor, "T_P d_model"],
    weight: Float[Tensor, "V d_model"],
    targets: Int[Tensor, " T"],
    mass: float,
    bias: Float[Tensor, " V"] | None = None,
    kernel: CrossEntropyKernel = cross_entropy_inplace,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return two sums over T targets: the label-smoothed cross-entropy, and -log p(target) in nats.

    `states` are T_P decoder states: T of the targets, then padding, which the sums leave out.
    `weight` is the output matrix of V symbols, `bias` their bias if the model has one, and `mass`
    the probability of label smoothing. `kernel` computes the sums and the gradient of some logits.
    """
    loss, nats = SlicedLoss.apply(states, weight, targets, mass, kernel, bias)
    return loss, nats


class SlicedLoss(torch.autograd.Function):
    """Autograd function of the label-smoothed cross-entropy, computed in slices of the tokens.

    Σ_tokens (1 - ε) · (-log p(target)) + ε · mean over symbols of (-log p), with `mass` for ε
    """

    @staticmethod
    def forward(  # noqa: PLR0913 - one gradient or None for each
        ctx: Any,  # noqa: ANN401 - torch's own context
        states: Tensor,
        weight: Tensor,
        targets: Tensor,
        mass: float,
        kernel: CrossEntropyKernel,
        bias: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Return the sums of the loss and of -log p; compute and save gradients, slice by slice."""
        loss, nats = (
            states.new_zeros((), dtype=accumulation_dtype(states.device)) for _ in range(2)
        )
        d_states, d_weight = torch.empty_like(states), torch.zeros_like(weight)
        wide = torch.promote_types(weight.dtype, torch.float32)
        d_bias = None if bias is None else torch.zeros_like(bias, dtype=wide)
        rows, few_rows = tokens_per_slice(weight), tokens_per_softmax(weight)
        for first in range(0, len(states), rows):
            some = slice(first, first + rows)
            logits = functional.linear(states[some], weight, bias)
            for at in range(0, len(logits), few_rows):
                labels = targets[some][at : at + few_rows]
                some_loss, some_nats = kernel(logits[at : at + few_rows], labels, mass)
                loss, nats = loss + some_loss, nats + some_nats
            # the kernel has overwritten the logits with their gradients
            torch.mm(logits, weight, out=d_states[some])
            d_weight.addmm_(logits.T, states[some])
            if d_bias is not None:
                d_bias.add_(logits.sum(dim=0, dtype=d_bias.dtype))
        ctx.save_for_backward(d_states, d_weight, d_bias)
        ctx.mark_non_differentiable(nats)
        return loss, nats

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return the gradients of states, weight and bias that `forward` saved, times `d_loss`."""
        d_states, d_weight, d_bias = ctx.saved_tensors
        d_loss = d_loss.to(d_states.dtype)
        d_bias = None if d_bias is None else (d_bias * d_loss).to(d_states.dtype)
        return d_states * d_loss, d_weight * d_loss, None, None, None, d_bias


def tokens_per_slice(weight: Float[Tensor, "V d_model"]) -> int:
    """Return the number of tokens whose logits over V symbols are computed at once."""
    on_gpu = weight.device.type == "cuda"
    logits = GPU_SLICE_LOGITS if on_gpu else SLICE_BYTES // weight.element_size()
    fit = logits // len(weight)
    has_amx = weight.dtype == torch.bfloat16 and "amx_bf16" in read_processor().features
    most = AMX_SLICE_TOKENS if has_amx else SLICE_TOKENS
    tokens = fit if on_gpu else min(most, fit)
    return max(TOKEN_MULTIPLE, tokens // TOKEN_MULTIPLE * TOKEN_MULTIPLE)


def tokens_per_softmax(weight: Float[Tensor, "V d_model"]) -> int:
    """Return the number of tokens whose softmax over V symbols is computed at once."""
    on_gpu = weight.device.type == "cuda"
    return tokens_per_slice(weight) if on_gpu else max(1, SOFTMAX_LOGITS // len(weight))


def at_least_float32(logits: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return logits in at least float32, which sums over V symbols need."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


@torch.no_grad()
def target_log_probs(
    states: Float[Tensor, "T d_model"],
    weight: Float[Tensor, "V d_model"],
    targets: Int[Tensor, " T"],
    bias: Float[Tensor, " V"] | None = None,
) -> Float[Tensor, " T"]:
    """Return log p(target) of each of T tokens, computed in slices and without gradients."""
    rows, few_rows = tokens_per_slice(weight), tokens_per_softmax(weight)
    found = [
        at_least_float32(logits).log_softmax(dim=1).gather(1, wanted[:, None])[:, 0]
        for some, ids in zip(states.split(rows), targets.split(rows), strict=True)
        for logits, wanted in zip(
            functional.linear(some, weight, bias).split(few_rows), ids.split(few_rows), strict=True
        )
    ]
    return torch.cat(found)


def log_softmax_in_place(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:
    """Return the log-softmax over V in at least float32; overwrites float32 and float64 logits."""
    logits = at_least_float32(logits)
    return torch.log_softmax(logits, dim=-1, out=logits)


def log_softmax_by_loops_if_faster(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:
    """Return the log-softmax over V, by compiled loops if faster; may overwrite the logits."""
    logits = at_least_float32(logits)
    if not has_rows_for_loops(logits, logits.shape[0]):
        return torch.log_softmax(logits, dim=-1, out=logits)
    from transduce.fast.search_loops import log_softmax_by_loops

    return log_softmax_by_loops(logits)
