"""Whether a GPU computes the same: torch's kernel and equation 1, ways to train and another."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from benchmarks.on_gpu.ladder import UpdateVariant
from benchmarks.on_gpu.scale import Cases, Figures, Scale
from benchmarks.training_ours import attend_plainly
from transduce.fast.blocks import BucketedAttention
from transduce.fast.choose import can_run_triton
from transduce.fast.compiling import compile_layers
from transduce.fast.varlen import VarlenAttention
from transduce.paper.operations import AttentionMask, BatchAttention

BuildOn = Callable[..., BatchAttention]  # of lengths, a mask and a device
MASKS = {
    "everybody": AttentionMask(),
    "past only": AttentionMask(causal=True),
    "neighbourhood 5": AttentionMask(neighbourhood=5),
    "neighbourhood 5, past only": AttentionMask(causal=True, neighbourhood=5),
}
LENGTHS = [3, 1, 120, 28, 64, 65, 2]
WIDTHS = ((64, 64), (16, 64), (32, 64), (256, 256))  # rows (B) and (A) of Table 3 among them


def cases(scale: Scale) -> Cases:
    """Attention under every mask, then losses."""
    for name, mask in MASKS.items():
        for d_k, d_v in WIDTHS:
            for way, kernel in list_kernels(scale, d_k, d_v):
                yield (
                    f"attention {way}, {name}, d_k {d_k}, d_v {d_v}",
                    partial(compare_attention, scale, kernel, mask, d_k, d_v),
                )
    yield "losses, rectangles", partial(compare_losses, scale, BucketedAttention)
    yield "losses, graphs", partial(compare_losses, scale)
    yield "losses, compiled", partial(compare_losses, scale, compile=True)


def list_kernels(scale: Scale, d_k: int, d_v: int) -> list[tuple[str, BuildOn]]:
    """Return torch's kernel, and that of Triton where it runs in these sizes."""
    found: list[tuple[str, BuildOn]] = [("by torch", VarlenAttention)]
    if can_run_triton(scale.device, "triton_attention", d_k, d_v):
        from transduce.fast.triton_attention import ShortAttention

        found.append(("by Triton", ShortAttention))
    return found


def compare_attention(
    scale: Scale, kernel: BuildOn, mask: AttentionMask, d_k: int, d_v: int
) -> Figures:
    """‖ours - plain‖ / ‖plain‖, the plain one in float32; of the output, and of gradients."""
    tokens, heads = sum(LENGTHS), 4
    sides = [torch.randn(tokens, heads, width, device=scale.device) for width in (d_k, d_k, d_v)]
    back = torch.randn(tokens, heads, d_v, device=scale.device)
    sides = [side.bfloat16().float() for side in sides]
    found = []
    for build, kind in ((kernel, torch.bfloat16), (attend_plainly, torch.float32)):
        attend: BatchAttention = build(LENGTHS, LENGTHS, mask, scale.device)
        given = [side.to(kind).requires_grad_() for side in sides]
        output = attend(given[0], given[1], given[2])
        found.append([output, *torch.autograd.grad(output, given, back.to(kind))])
    names = ("output", "d q", "d k", "d v")
    return {name: relative_error(a, b) for name, a, b in zip(names, *found, strict=True)}


def compare_losses(scale: Scale, kernel: object = None, **settings: object) -> Figures:
    """Relative difference of losses from those without graphs, all without dropout."""
    found = []
    for how in ({"graphs": False}, {"kernel": kernel} | settings):
        rung = UpdateVariant(scale, **how)
        rung.disable_dropout()
        if rung.training.compile:
            compile_layers(rung.model)
        losses = [loss for _ in range(3) for loss in rung.turn()]  # the third by graphs
        found.append(torch.tensor(losses))
    return {"losses": relative_error(found[1], found[0])}


def relative_error(ours: Tensor, other: Tensor) -> float:
    """The relative distance; NaN stays NaN."""
    ours, other = ours.detach().float(), other.detach().float()
    return float((ours - other).norm() / other.norm())
