"""Run with TRITON_INTERPRET=1: the kernels of a GPU beside their plain twins, on a CPU."""

import torch
from tests.reference.attention import ReferenceAttention

from transduce.fast.loss import cross_entropy_inplace
from transduce.fast.triton_attention import ShortAttention
from transduce.fast.triton_loss import cross_entropy_by_triton
from transduce.paper.operations import AttentionMask

CPU = torch.device("cpu")
LENGTHS, OTHERS = [3, 1, 28, 20, 2], [5, 2, 30, 7, 1]
MASKS = [AttentionMask(causal=c, neighbourhood=r) for c in (False, True) for r in (0, 5)]


def compare_attention(mask: AttentionMask, keys: list[int], d_k: int, d_v: int) -> None:
    """Compare values and gradients."""
    q = torch.randn(sum(LENGTHS), 2, d_k, requires_grad=True)
    both = torch.randn(sum(keys), 2, d_k + d_v, requires_grad=True)
    k, v = both.split([d_k, d_v], dim=2)
    back = torch.randn(sum(LENGTHS), 2, d_v)
    exact, ours = (
        (out, *torch.autograd.grad(out, (q, both), back, retain_graph=True))
        for out in (
            kernel(LENGTHS, keys, mask, CPU)(q, k, v)
            for kernel in (ReferenceAttention, ShortAttention)
        )
    )
    torch.testing.assert_close(ours, exact, rtol=1e-5, atol=1e-5)


def compare_loss(symbols: int) -> None:
    """Compare the loss, -log p, and the gradient that is written over the logits."""
    logits, targets = 3 * torch.randn(7, symbols), torch.randint(symbols, (5,))
    exact = logits.clone()
    expected = cross_entropy_inplace(exact, targets, 0.1)
    torch.testing.assert_close(cross_entropy_by_triton(logits, targets, 0.1), expected)
    torch.testing.assert_close(logits, exact)


if __name__ == "__main__":
    torch.manual_seed(1)
    for mask in MASKS:
        for widths in ((16, 16), (16, 32)):
            compare_attention(mask, LENGTHS, *widths)
    compare_attention(AttentionMask(), OTHERS, 16, 16)
    for symbols in (50, 5_000):
        compare_loss(symbols)
