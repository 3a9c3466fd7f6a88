"""Run with TRITON_INTERPRET=1: the kernels of a GPU beside their plain twins, on a CPU."""

from dataclasses import replace

import torch
from tests.model.tiny import sentences, sizes
from tests.reference.attention import ReferenceAttention
from torch.nn import functional

from transduce.fast.highest_sums import BLOCK, find_block_maxima
from transduce.fast.kv_cache import start_cache
from transduce.fast.loss import PADDING, cross_entropy_inplace
from transduce.fast.triton_attention import ShortAttention
from transduce.fast.triton_loss import cross_entropy_by_triton
from transduce.fast.triton_residual import AddNormFunction
from transduce.fast.triton_search import (
    TABLE_LENGTH,
    TableLayer,
    find_block_maxima_by_triton,
    list_table,
)
from transduce.packed import Packed
from transduce.paper.model import build_transformer
from transduce.paper.operations import AttentionMask, run_layers

SYMBOLS = 9
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
    exact, exact_logits = logits.clone(), logits.clone()
    expected = cross_entropy_inplace(exact, targets, 0.1)
    torch.testing.assert_close(cross_entropy_by_triton(logits, targets, 0.1), expected)
    torch.testing.assert_close(logits, exact)
    padded = torch.cat((targets, torch.full((2,), PADDING)))
    again = exact_logits.clone()
    torch.testing.assert_close(cross_entropy_by_triton(again, padded, 0.1), expected)
    torch.testing.assert_close(again, exact)


def compare_residual(numbers: int, p: float) -> None:
    """Compare LayerNorm(x + Dropout(y)) and its gradients, with the mask that it drew."""
    x, y = (torch.randn(5, numbers, requires_grad=True) for _ in range(2))
    gain, bias = (torch.randn(numbers, requires_grad=True) for _ in range(2))
    back = torch.randn(5, numbers)
    ours = AddNormFunction.apply(x, y, gain, bias, 1e-6, p)
    mask = (ours.grad_fn.saved_tensors[0] - x) / y  # 0 or 1 / (1 - p)
    assert set(mask.mul(1 - p).round().unique().tolist()) == ({0.0, 1.0} if p else {1.0})
    total = x + mask.mul(1 - p).round().detach() / (1 - p) * y
    exact = functional.layer_norm(total, (numbers,), gain, bias, 1e-6)
    found, expected = (
        (out, *torch.autograd.grad(out, (x, y, gain, bias), back)) for out in (ours, exact)
    )
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@torch.inference_mode()
def compare_decoding_steps(width: int) -> None:
    """Compare the layers of six steps of a search, with a table and plainly, to the last digits."""
    model = build_transformer(sizes(layers=2, d_k=16, d_v=16), SYMBOLS, SYMBOLS, 3).eval()
    memory = model.encode(Packed.from_sentences(sentences([4, 1, 6], symbols=SYMBOLS)))
    table = torch.zeros(TABLE_LENGTH, dtype=torch.int64)

    def run_by_table(decoder, x, step):
        exact = run_layers(decoder, x, step)
        for side in (step.tensors.new_keys, step.tensors.new_values):
            side.fill_(torch.nan)
        table.copy_(torch.tensor(list_table(step.tensors)))
        layers = [TableLayer(table, n, step.tensors.visible.shape[1], 16, 2) for n in range(2)]
        found = run_layers(decoder, x, layers)
        torch.testing.assert_close(found, exact, rtol=1e-5, atol=1e-5)
        return found

    operations = replace(model.operations, start_cache=start_cache, run_layers=run_by_table)
    cache, rows = model.start_cache(memory, operations), torch.arange(3)
    for step in range(6):
        _, cache = model.decode_step(torch.randint(SYMBOLS, (len(rows),)), cache, operations)
        choice = torch.randint(1 if step == 0 else width, (3, width))
        rows = (choice + torch.arange(3)[:, None] * (1 if step == 0 else width)).flatten()
        cache = cache.reorder(rows)


def compare_maxima() -> None:
    """Compare the maxima of blocks, some of them with NaN and one of nothing else."""
    log_probs = torch.randn(4, 5 * BLOCK + 3)
    log_probs[1, ::7], log_probs[2, BLOCK : 2 * BLOCK] = torch.nan, torch.nan
    ours, exact = find_block_maxima_by_triton(log_probs, 2, BLOCK), find_block_maxima(log_probs, 2)
    torch.testing.assert_close(ours, exact, rtol=0, atol=0, equal_nan=True)


if __name__ == "__main__":
    torch.manual_seed(1)
    for mask in MASKS:
        for widths in ((16, 16), (16, 32)):
            compare_attention(mask, LENGTHS, *widths)
    compare_attention(AttentionMask(), OTHERS, 16, 16)
    for symbols in (50, 5_000):
        compare_loss(symbols)
    for width in (1, 4, 20):
        compare_decoding_steps(width)
    compare_maxima()
    for p in (0.0, 0.3):
        compare_residual(48, p)
